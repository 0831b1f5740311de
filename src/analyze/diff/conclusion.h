/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer of a comparison, as figures and names: view/words.h words it. */
#pragma once

#include "analyze/diff/diff.h"

enum analyze_conclusion_kind {
	ANALYZE_CONCLUSION_EMPTY, /* no syscalls were recorded; nothing else is set */
	ANALYZE_CONCLUSION_EQUAL, /* no syscall differs at all */
	ANALYZE_CONCLUSION_UNTOLD, /* the syscall that changed most changed by less than so few runs can tell */
	ANALYZE_CONCLUSION_MEAN, /* of a syscall: a call takes longer, or less long, or as long */
	ANALYZE_CONCLUSION_CALLS, /* a syscall is called more, or less, often */
	ANALYZE_CONCLUSION_ONE_SIDE, /* a syscall is called on one side only */
	ANALYZE_CONCLUSION_SELF, /* of self times: what changed most itself */
	ANALYZE_CONCLUSION_WORKLOAD, /* what the command reports of itself: no syscall says more */
};

/* Which function carries the change of a syscall. */
enum analyze_conclusion_where {
	ANALYZE_WHERE_NOT_RECORDED, /* no functions were */
	ANALYZE_WHERE_NONE, /* none has a tenth of it */
	ANALYZE_WHERE_FUNCTION,
};

/* What syscalls say where the workload does the talking. */
enum analyze_conclusion_syscalls {
	ANALYZE_SYSCALLS_UNCHANGED, /* none changed significantly */
	ANALYZE_SYSCALLS_NEGLIGIBLE, /* none by ANALYZE_NEGLIGIBLE_SHARE of the workload */
	ANALYZE_SYSCALLS_NOT_IT, /* none carries ANALYZE_LEAST_SHARE of the workload's change */
};

/* A share under this does not explain the change that it is of. */
#define ANALYZE_LEAST_SHARE 0.1
/* A change of less than this share of what the command times is no headline, however significant. */
#define ANALYZE_NEGLIGIBLE_SHARE 0.001
/* With a larger share of the change than this, something else must have become less. */
#define ANALYZE_WHOLE_SHARE 1.15

#define ANALYZE_WAY 3 /* names that still make a sentence */

/* Strings are the diff's. What does not apply to the kind is NULL, NAN or 0. */
struct analyze_conclusion {
	enum analyze_conclusion_kind kind;
	enum profile_clock clock;
	enum analyze_time time;
	/* What: a syscall, a workload, or of SELF a syscall or function and its context. */
	const char *what, *context;
	/* How much: of a call or iteration, and of a run; in ticks of the clock. */
	double delta, delta_pct, delta_total;
	double calls[2], totals[2]; /* per run */
	double share; /* SELF: of the context's change */
	double cpu_pct; /* DELTA_TOTAL in percent of the command's CPU time on the baseline; NAN: not known */
	/* Of what the command's CPU time changed by, COMMAND_PCT, the part outside syscalls and page faults; NAN: less than half. */
	double outside_share, command_pct;
	double least_pct; /* UNTOLD: of a change of the total that can be told */
	/* How sure: interval, verdict, p, the repetitions needed. */
	struct analyze_change change;
	double margin_pct; /* that "same" stays within */
	enum analyze_unit unit; /* of repetitions, where REPEATED */
	bool repeated; /* some row has a p-value */
	/* Why the change may be what recordings differ by on a real clock, and no control says less; ENOUGH: it is not. */
	enum analyze_repetitions_note undecided;
	uint32_t repetitions[2], runs[2]; /* of baseline and hardened side */
	/* Where. */
	enum analyze_conclusion_where where;
	const char *function;
	double function_share;
	/* Nobody timed the function: that it is the one is what samples say, its share with an error of so much. */
	bool sampled;
	double function_error;
	const char *to_time; /* it, or the function that it is inlined into */
	/* What leads there, outermost first; NULL where it is not known or no more. */
	const char *by_way[ANALYZE_WAY];
	/*
	 * An inlined body with most of the function's change, or where no function carries it, one that was timed and has a
	 * tenth or more of the syscall's; NULL: none.
	 */
	struct {
		const char *name, *function, *location; /* LOCATION may be NULL */
		double share, delta_total;
		bool estimated; /* from samples */
	} body;
	enum analyze_conclusion_syscalls syscalls; /* WORKLOAD */
};

/* Whether CONTEXT is the execve() that starts the command, by its calls per run. */
bool analyze_is_start(const char *context, double baseline_calls, double hardened_calls);
/* Return the inlined body that carries most of FUNCTION's change in CONTEXT; NULL: none has half of it. */
const struct analyze_diff_range *analyze_conclusion_body(const struct analyze_diff *diff,
							 const char *function, const char *context);
/* DIFF must outlive it. */
void analyze_diff_conclude(struct analyze_conclusion *c, const struct analyze_diff *diff);
