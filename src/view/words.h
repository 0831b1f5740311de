/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The texts for analyze's findings. No other file turns these into English. */
#pragma once

#include <jansson.h>

#include "analyze/code/trace.h"
#include "analyze/figures/warnings.h"
#include "analyze/varies/varies.h"

/* Return the text, without "warning:" before it or a full stop after it, safe on a terminal; for free(). */
char *view_warning(const struct analyze_warning *w);

/* Return the texts of all warnings as a list of strings: a new reference. */
json_t *view_warnings_json(const struct analyze_warnings *warnings);

/*
 * Return a sentence on the change of a call of FUNCTION (NULL: the first one in S) by other values and at equal values, in
 * ticks of CLOCK; for free(). NULL: not both sides have captured calls of it.
 */
char *view_values_change(const struct varies_shifts *s, const char *function,
			 enum profile_clock clock);

/* Return the row of the variable that alone explains most of the change by values; NULL: no variable explains any of it. */
const struct varies_shift *view_values_most(const struct varies_shifts *s, const char *function);

/* Return a line of a call that was kept whole, "    mm/slub.c:1978 shuffle_freelist", indented by its depth; for free(). */
char *view_trace_text(const struct analyze_trace_line *of);
