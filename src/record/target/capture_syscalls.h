/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of the syscall that a call is made in, by the names that the kernel's events have for them. */
#pragma once

#include "record/target/capture.h"

struct btf;

/*
 * Finds where V is, of which EXPRESSION (for messages) has *TEXT: "NAME" of any syscall, or "SYSCALL.NAME"; *TEXT moves behind it.
 * -errno, reported.
 */
int record_capture_syscall(struct record_value *v, const struct btf *btf, const char *expression,
			   const char **text);
