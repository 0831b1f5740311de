/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording from beginning to end: plan, attach, run, drain, write.
 */
#pragma once

#include "record/options.h"

/* Returns the process's exit status: the workload's own once it ran, else 1, 126 or 127. */
int record_session(const struct record_options *options);
