/* SPDX-License-Identifier: GPL-2.0-or-later */
/* On what condition code calls what makes the difference. */
#pragma once

#include "analyze/why/why.h"

struct kernel_image;

/* Fills the guards of all causes of W that are to be named, which P[1] executes more. IMG is that kernel's. */
void why_guards_find(struct why *w, const struct profile *p, struct kernel_image *img);
