/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Warnings about a profile's figures, as figures and names. view/words.h has the words. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/figures/table.h"
#include "base/alloc.h"
#include "profile/profile.h"

/* Kinds of warnings, with the meaning of NAMES, VALUES and CODE. Of two entries, [0] is the baseline's. */
enum analyze_warning_kind {
	/* About two profiles. */
	ANALYZE_WARNING_WORK, /* argument CODE differs: NAMES */
	ANALYZE_WARNING_MACHINE, /* environment NAMES[2] differs: NAMES; NULL: unknown */
	ANALYZE_WARNING_MECHANISMS, /* VALUES[0] functions, such as NAMES[2], have different mechanisms: NAMES */
	ANALYZE_WARNING_FREQ, /* sampling rates differ: VALUES */
	ANALYZE_WARNING_CONFIG, /* the configuration of SIDE's kernel is not known */
	ANALYZE_WARNING_COST_ONE_SIDE, /* mechanism NAMES[0]: cost subtracted on SIDE only */
	ANALYZE_WARNING_CONTROL, /* --control is a recording of another kernel: OWN_TEXT */
	ANALYZE_WARNING_SLOWDOWN, /* the slowdown by probes differs: VALUES, in percent */
	ANALYZE_WARNING_LOAD, /* load CODE (enum analyze_load) differs: VALUES */
	/* About one profile. */
	ANALYZE_WARNING_EMPTY, /* no runs */
	ANALYZE_WARNING_LOSS, /* enum profile_loss CODE, VALUES[0] times */
	ANALYZE_WARNING_MISSED, /* VALUES[0] returns of the function NAMES[0]; CODE is its mechanism */
	ANALYZE_WARNING_UNACCOUNTED, /* VALUES[0] of VALUES[1] calls; negative: too many */
	ANALYZE_WARNING_FAILED_RUNS, /* VALUES[0] of VALUES[1] runs failed; the first one is RUN, number VALUES[2] */
	ANALYZE_WARNING_TASKS_LEFT, /* VALUES[0] tasks went on when the command had ended */
	/* VALUES[0] rows have negative times. The least is time CODE (enum analyze_time) of NAMES[0] in context NAMES[1]. */
	ANALYZE_WARNING_NEGATIVE,
	/* The cost of mechanism NAMES[0] is unknown. It timed VALUES[0] functions, such as NAMES[1]; 0: it timed contexts only. */
	ANALYZE_WARNING_COST_UNKNOWN,
	ANALYZE_WARNING_DRIFT, /* the cost of a probe changed while recording; NAMES[0] tells which */
	ANALYZE_WARNING_CLOCK, /* clock source NAMES[0] advanced in steps of VALUES[0] ns */
	ANALYZE_WARNING_SYSCALLS, /* only the syscalls NAMES[0] were measured */
	ANALYZE_WARNING_INLINED, /* recorded functions that are also inlined elsewhere: NAMES[0] */
	ANALYZE_WARNING_NO_FAULTS, /* page faults were not counted */
	ANALYZE_WARNING_TRACERS, /* others traced the kernel: NAMES[0] */
	ANALYZE_WARNING_PROGRAMS, /* others loaded BPF programs in a run: NAMES[0] */
	ANALYZE_WARNING_UNFINISHED, /* the recorder was killed */
	ANALYZE_WARNING_PREEMPT_RT, /* probes cost less under a lock than is subtracted */
};

/* The action that a warning calls for. */
enum analyze_severity {
	ANALYZE_SEVERITY_INVALID, /* do not compare: not only the kernels differ */
	ANALYZE_SEVERITY_ACT, /* distrust figures, or record otherwise */
	ANALYZE_SEVERITY_INFO, /* no action: figures change by less than a thousandth */
};

enum analyze_side {
	ANALYZE_SIDE_NONE = -1, /* there is one profile, or both are meant */
	ANALYZE_SIDE_BASELINE,
	ANALYZE_SIDE_HARDENED,
};

/* NAMES belong to the profiles, which must outlive the warning. They are not escaped for a terminal. */
struct analyze_warning {
	enum analyze_warning_kind kind;
	enum analyze_severity severity;
	enum analyze_side side;
	const char *names[3];
	const struct profile_run *run;
	double values[3];
	int code;
	char *own_text;
};

struct analyze_warnings {
	vec_of(struct analyze_warning, rows); /* warnings that invalidate a comparison first */
	uint32_t n_invalid; /* number of warnings that invalidate a comparison */
};

/* Add WARNING, and take over its OWN_TEXT. */
void analyze_warnings_add(struct analyze_warnings *w, struct analyze_warning warning);
void analyze_warnings_deinit(struct analyze_warnings *w);

/*
 * Add the warnings that a reader of P, on SIDE, must know first: losses, calls not accounted for, failed runs, a too coarse
 * clock. Unless RAW (no cost is subtracted), also warn of negative times, and of probe costs that are unknown or do not hold
 * for all calls. TABLE is P's, with the same RAW; NULL: do not warn of negative times.
 */
void analyze_warnings_of_profile(struct analyze_warnings *w, const struct profile *p,
				 const struct analyze_table *table, enum analyze_side side,
				 bool raw);
