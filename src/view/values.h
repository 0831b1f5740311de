/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the values of captured calls say of a change, in a sentence. */
#pragma once

#include "analyze/varies/shift.h"

/*
 * The change of a call of FUNCTION, or where that is NULL of the function first in S, by other values and at equal ones, in a sentence,
 * for free(); NULL: there are no captured calls of it on both sides. In ticks of CLOCK.
 */
char *view_values_change(const struct varies_shifts *s, const char *function,
			 enum profile_clock clock);

/* The row of the variable alone that carries most of that by values; NULL: none explains any of it. */
const struct varies_shift *view_values_most(const struct varies_shifts *s, const char *function);
