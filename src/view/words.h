/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one place where what analyze finds becomes English. */
#pragma once

#include <jansson.h>

#include "analyze/code/trace.h"
#include "analyze/figures/warnings.h"
#include "analyze/varies/varies.h"

/* Without "warning:" before or a full stop behind, safe on a terminal; for the caller to free. */
char *view_warning(const struct analyze_warning *w);

/* All of them as a list of strings: a new reference. */
json_t *view_warnings_json(const struct analyze_warnings *warnings);

/*
 * The change of a call of FUNCTION, or where that is NULL of the function first in S, by other values and at equal ones, in a sentence,
 * for free(); NULL: there are no captured calls of it on both sides. In ticks of CLOCK.
 */
char *view_values_change(const struct varies_shifts *s, const char *function,
			 enum profile_clock clock);

/* The row of the variable alone that carries most of that by values; NULL: none explains any of it. */
const struct varies_shift *view_values_most(const struct varies_shifts *s, const char *function);

/* A line of a call that was kept whole, "    mm/slub.c:1978 shuffle_freelist", indented by its depth; to be freed. */
char *view_trace_text(const struct analyze_trace_line *of);
