/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that carry the cost of a call, according to samples. */
#pragma once

#include <stdbool.h>

#include "profile/profile.h"

/*
 * The deepest function that most samples below CALLEE, called by FUNCTION, have on their stack. NULL: that is
 * CALLEE itself, or samples are too few. Names go without the compiler's suffixes.
 */
const char *analyze_callees(const struct profile *p, const char *function, const char *callee);

/* Return whether nearly all of P's samples with NAME on their stack are below CALLEE, called by FUNCTION. */
bool analyze_is_only_callee(const struct profile *p, const char *name, const char *function,
			    const char *callee);
