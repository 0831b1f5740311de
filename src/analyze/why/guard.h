/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The conditions on which causes call other code. */
#pragma once

#include "analyze/why/why.h"

struct kernel_image;

/* Set the guards of all causes of W that are to be named. P is the hardened side's recording, IMG its kernel. */
void why_guards_find(struct why *w, const struct profile *p, struct kernel_image *img);
