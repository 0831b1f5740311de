/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of why. */
#pragma once

#include "analyze/figures/events.h"
#include "analyze/figures/warnings.h"
#include "analyze/varies/varies.h"
#include "analyze/why/why.h"
#include "view/page/table.h"

struct view_why {
	struct view_data common;
	const char *files[2];
	struct why why;
	const struct why_context *of; /* context or command that the answer is about, or NULL */
	/* OF; if OF is the command, the context with the largest part of the largest cause. */
	const struct why_context *main;
	struct analyze_diff diff; /* of recordings by probes */
	bool checked; /* recordings by probes were given too */
	struct why_check check;
	struct varies_shifts shifts; /* of those recordings */
	struct analyze_misses misses;
	struct analyze_warnings warnings;
};

extern const struct view_table why_contexts, why_causes, why_lines;
extern const struct view_list view_why_list;

/* Return VALUE as output_number() does. */
const char *view_why_number(enum output_type type, double value);
/* Append "+1,234 instructions per run" to *TEXT; PER is "run". */
void view_why_append_delta(char **text, const struct why *w, double delta, const char *per);
/* Append DELTA, the change by a cause of C: per call of C if C's number of calls explains most of C's change, else per run. */
void view_why_append_change(char **text, const struct why *w, const struct why_context *c,
			    double delta);
/* Return a clause on what CAUSE, of C, does differently; for free(). */
char *view_why_cause(const struct why *w, const struct why_context *c,
		     const struct why_cause *cause);
/* Append the protection, static key, condition and patched lines that explain PART, CAUSE's first part, if they are known. */
void view_why_append_reasons(char **text, const struct why *w, const struct why_cause *cause,
			     const struct why_part *part);
/*
 * Return the answer for C, the command or one of its contexts, or NULL if the recordings have no context: the change as a whole,
 * its causes, and changes that are not included. Each line is a paragraph. For free(); NULL: there is nothing to say.
 */
char *view_why(const struct why *w, const struct why_context *c);
/* Return whether functions were timed, on either side. */
bool view_why_has_functions(const struct why *w);
/* Return whether it is unknown which functions C's change is in: no functions were timed, and samples do not show it. */
bool view_why_is_unopened(const struct why *w, const struct why_context *c);
/* Do as view_why_cause(), for a CAUSE that was timed. */
char *view_why_timed(const struct why *w, const struct why_context *c,
		     const struct why_cause *cause);
/* Do as view_why_cause(), for a CAUSE found by samples; PART is its first. */
char *view_why_sampled(const struct why *w, const struct why_context *c,
		       const struct why_cause *cause, const struct why_part *part);
/* Append " (inlined into path_openat, via do_filp_open)": the place of CAUSE, at node AT. */
void view_why_append_where(char **text, const struct why *w, const struct why_context *c,
			   const struct why_cause *cause, uint32_t at);
/* Return a sentence on what probes say of the same change; for free(). */
char *view_why_check(const struct why *w, const struct why_check *check, const char *context);
