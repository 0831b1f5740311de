/* SPDX-License-Identifier: GPL-2.0-or-later */
/* English texts for the results of src/analyze/, which contains no such texts. */
#pragma once

#include <jansson.h>

#include "analyze/code/trace.h"
#include "analyze/figures/warnings.h"
#include "analyze/varies/varies.h"

/* Return the warning as text, without "warning:" and without a full stop, escaped for terminals; for free(). */
char *view_warning(const struct analyze_warning *w);

/* Return the texts of all warnings as a JSON array of strings: a new reference. */
json_t *view_warnings_json(const struct analyze_warnings *warnings);

/*
 * Return a sentence, for free(), on the change of FUNCTION's time per call, in ticks of CLOCK: the change by different captured
 * values, and the change at equal values. FUNCTION NULL: the first function in S. NULL: a recording lacks captured calls.
 */
char *view_values_change(const struct varies_shifts *s, const char *function,
			 enum profile_clock clock);

/* Return a line of a trace as text, "    mm/slub.c:1978 shuffle_freelist", indented by the depth of nested calls; for free(). */
char *view_trace_text(const struct analyze_trace_line *of);
