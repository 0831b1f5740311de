/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of `kprotperf why`, which explains the difference between two recordings. */
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
	const struct why_context *of; /* the context or command to explain; NULL: there is none */
	/* OF itself or, for the whole command, the context that contains the largest part of the command's first cause. */
	const struct why_context *main;
	struct analyze_diff diff; /* differences between the recordings with probes */
	bool checked; /* true: the command was given two recordings with probes, too */
	struct why_check check;
	struct varies_shifts shifts; /* changes of captured values in recordings with probes */
	struct analyze_misses misses;
	struct analyze_warnings warnings;
};

extern const struct view_table why_contexts, why_causes, why_lines;
extern const struct view_list view_why_list;

/* Return VALUE as text, without a unit of time, in a static buffer of output_number(). */
const char *view_why_number(enum output_type type, double value);
/* Return CHANGE, in percent, as text without a sign: "7.0 %". Valid as long as view_why_number(). */
const char *view_why_percent(double change);
/* Append both sides' calls, "74,512 times per run instead of 360". */
void view_why_append_calls(char **text, const double calls[2]);
/* Append a difference such as "+1,234 instructions per run" to *TEXT. PER is "run" or "call". */
void view_why_append_delta(char **text, const struct why *w, double delta, const char *per);
/* Append DELTA, a part of the change of C: per call of C if why_is_called_otherwise(C), otherwise per run. */
void view_why_append_change(char **text, const struct why *w, const struct why_context *c,
			    double delta);
/* Return a clause that describes CAUSE, a cause of C's change; for free(). */
char *view_why_cause(const struct why *w, const struct why_context *c,
		     const struct why_cause *cause);
/* Append the known reasons for the change in PART of CAUSE, such as a protection, a static key, a changed condition or a patch. */
void view_why_append_reasons(char **text, const struct why *w, const struct why_cause *cause,
			     const struct why_part *part);
/*
 * Return the explanation of C's change: its size, its causes, and changes in contexts that do not belong to C. C is a context or
 * the whole command. Each line of the text is a paragraph. For free(); NULL: there is no change to report.
 */
char *view_why(const struct why *w, const struct why_context *c);
/* Return whether functions were timed in either recording. */
bool view_why_has_functions(const struct why *w);
/* Return whether it is unknown which functions cause C's change: none were timed, and no cause was found by samples. */
bool view_why_is_unopened(const struct why *w, const struct why_context *c);
/* Return the text of view_why_cause() if CAUSE is a timed function or context. */
char *view_why_timed(const struct why *w, const struct why_context *c,
		     const struct why_cause *cause);
/* Return the text of view_why_cause() if CAUSE was found by samples. PART is the first part of CAUSE. */
char *view_why_sampled(const struct why *w, const struct why_context *c,
		       const struct why_cause *cause, const struct why_part *part);
/* Append the location of CAUSE, such as " (inlined into path_openat, via do_filp_open)". AT is CAUSE's node in the call tree. */
void view_why_append_where(char **text, const struct why *w, const struct why_context *c,
			   const struct why_cause *cause, uint32_t at);
/* Return a sentence on whether recordings with probes agree with exact recordings on the change of CONTEXT; for free(). */
char *view_why_check(const struct why *w, const struct why_check *check, const char *context);
