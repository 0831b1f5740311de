/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What why shows of two exact recordings. */
#pragma once

#include "analyze/figures/misses.h"
#include "analyze/figures/warnings.h"
#include "analyze/varies/shift.h"
#include "analyze/why/check.h"
#include "analyze/why/why.h"
#include "view/page/table.h"

struct view_why {
	struct view_data common;
	const char *files[2];
	struct why why;
	const struct why_context *of; /* what the answer is about; NULL: nothing */
	const struct why_context *main; /* OF, or what has most of the largest cause */
	struct analyze_diff diff; /* of recordings by probes */
	bool checked; /* by recordings with probes as well */
	struct why_check check;
	struct varies_shifts shifts; /* of those recordings */
	struct analyze_misses misses;
	struct analyze_warnings warnings;
};

extern const struct view_table why_contexts, why_causes, why_lines;
extern const struct view_list view_why_list;

/* How to say that a change is likely: "Most likely", or "Possibly" where recordings may differ as much. */
const char *view_why_likely(const struct why *w);
/* Why that is so and what to do, in a sentence; "" where it is not. */
const char *view_why_doubt(const struct why *w);
/* As output_number() has it. */
const char *view_why_number(enum output_type type, double value);
/* "+1,234 instructions per run" behind *TEXT, of which PER is the last word. */
void view_why_append_delta(char **text, const struct why *w, double delta, const char *per);
/* The same of DELTA, of a cause of C: per call if C is called more or less often, else per run. */
void view_why_append_change(char **text, const struct why *w, const struct why_context *c,
			    double delta);
/* What CAUSE, of C, does otherwise; for free(). */
char *view_why_cause(const struct why *w, const struct why_context *c,
		     const struct why_cause *cause);
/* What PART, the first of CAUSE, belongs to, as far as that is known: protection, static key, condition, lines of a patch. */
void view_why_append_reasons(char **text, const struct why *w, const struct why_cause *cause,
			     const struct why_part *part);
/* ". 100 % of the change is spread over 4 functions, which call srso_alias_return_thunk on the hardened side only: ...", if it is. */
bool view_why_append_spread(char **text, const struct why *w, const struct why_context *c);
/* ". The change is spread out: 58 functions make up 90 % of it ..." */
void view_why_append_spread_out(char **text, const struct why *w, const struct why_context *c);
/* " The only protection that differs between the sides is ...", if there is one, of which TEXT says nothing. */
void view_why_append_switched(char **text, const struct why *w);
/* The answer for C, which may be NULL: the change, and each cause that is to be named. For free(). */
char *view_why(const struct why *w, const struct why_context *c);
/* The answer for the command as a whole, a line for each paragraph; for free(). NULL: nothing is known of it. */
char *view_why_command(const struct why *w);
/* Are functions timed, on either side? */
bool view_why_has_functions(const struct why *w);
/* Is nothing known of where C's change is? No functions were timed, and samples do not tell. */
bool view_why_is_unopened(const struct why *w, const struct why_context *c);
/* As view_why_cause(), where CAUSE was timed. */
char *view_why_timed(const struct why *w, const struct why_context *c,
		     const struct why_cause *cause);
/* Likewise where samples of its first PART tell it. */
char *view_why_sampled(const struct why *w, const struct why_context *c,
		       const struct why_cause *cause, const struct why_part *part);
/* " (inlined into path_openat, via do_filp_open)": where CAUSE is, at node AT. */
void view_why_append_where(char **text, const struct why *w, const struct why_context *c,
			   const struct why_cause *cause, uint32_t at);
/* What probes say of the same. For free(). */
char *view_why_check(const struct why *w, const struct why_check *check, const char *context);
