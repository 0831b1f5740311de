/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Warnings about a profile's figures, as figures and names. view/words.h has the words. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/figures/table.h"
#include "base/alloc.h"
#include "profile/profile.h"

/* The subject of a warning, with the meaning of NAMES, VALUES and CODE: [0] is the baseline's of two. */
enum analyze_warning_kind {
	/* About two profiles. */
	ANALYZE_WARNING_WORK, /* argument CODE differs: NAMES */
	ANALYZE_WARNING_MACHINE, /* the environment's NAMES[2] differs: NAMES, NULL: not known */
	ANALYZE_WARNING_MECHANISMS, /* of VALUES[0] functions, as NAMES[2]: NAMES are mechanisms */
	ANALYZE_WARNING_FREQ, /* sampling rates differ: VALUES */
	ANALYZE_WARNING_CONFIG, /* the configuration of SIDE's kernel is not known */
	ANALYZE_WARNING_COST_ONE_SIDE, /* of mechanism NAMES[0]: subtracted from SIDE's times only */
	ANALYZE_WARNING_CONTROL, /* is of another kernel: OWN_TEXT */
	ANALYZE_WARNING_SLOWDOWN, /* by probes, in percent: VALUES */
	ANALYZE_WARNING_LOAD, /* enum analyze_load CODE: VALUES */
	/* About one. */
	ANALYZE_WARNING_EMPTY, /* no runs */
	ANALYZE_WARNING_LOSS, /* enum profile_loss CODE, VALUES[0] times */
	ANALYZE_WARNING_MISSED, /* VALUES[0] returns of the function NAMES[0]; CODE is its mechanism */
	ANALYZE_WARNING_UNACCOUNTED, /* VALUES[0] of VALUES[1] calls; below 0: so many too many */
	ANALYZE_WARNING_FAILED_RUNS, /* VALUES[0] of VALUES[1], RUN, which is VALUES[2], first */
	ANALYZE_WARNING_TASKS_LEFT, /* VALUES[0] tasks went on when the command had ended */
	/* enum analyze_time CODE of NAMES[0], in NAMES[1] or NULL, most of VALUES[0] rows */
	ANALYZE_WARNING_NEGATIVE,
	/* of mechanism NAMES[0], which timed VALUES[0] functions (0: contexts), as NAMES[1] */
	ANALYZE_WARNING_COST_UNKNOWN,
	ANALYZE_WARNING_DRIFT, /* what probes cost changed while recording: NAMES[0] */
	ANALYZE_WARNING_CLOCK, /* NAMES[0] advanced by VALUES[0] ns at a time */
	ANALYZE_WARNING_SYSCALLS, /* alone were measured: NAMES[0] */
	ANALYZE_WARNING_INLINED, /* functions that are also inlined elsewhere: NAMES[0] */
	ANALYZE_WARNING_NO_FAULTS, /* page faults were not counted */
	ANALYZE_WARNING_TRACERS, /* others traced the kernel: NAMES[0] */
	ANALYZE_WARNING_PROGRAMS, /* others loaded BPF programs in a run: NAMES[0] */
	ANALYZE_WARNING_UNFINISHED, /* the recorder was killed */
	ANALYZE_WARNING_PREEMPT_RT, /* probes cost less under a lock than what is subtracted */
};

/* The action for a reader. */
enum analyze_severity {
	ANALYZE_SEVERITY_INVALID, /* not compare: other things differ than the kernels */
	ANALYZE_SEVERITY_ACT, /* distrust figures, or record otherwise */
	ANALYZE_SEVERITY_INFO, /* nothing: it moves no figure by more than a thousandth */
};

enum analyze_side {
	ANALYZE_SIDE_NONE = -1, /* there is one profile, or both are meant */
	ANALYZE_SIDE_BASELINE,
	ANALYZE_SIDE_HARDENED,
};

/* NAMES are the profiles', which must outlive it; as they are in the file, so not for a terminal. */
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
	vec_of(struct analyze_warning, rows); /* what invalidates a comparison first */
	uint32_t n_invalid; /* the first so many */
};

/* Takes WARNING's OWN_TEXT. */
void analyze_warnings_add(struct analyze_warnings *w, struct analyze_warning warning);
void analyze_warnings_deinit(struct analyze_warnings *w);

/*
 * Adds what a reader of P, which is of SIDE, must know first: losses, calls not accounted for, runs that failed, a clock that
 * is too coarse, and unless RAW, where nothing is subtracted, times below zero and probe costs that are not known or not those
 * of all calls. TABLE is P's, as RAW as that; NULL: no time can be below zero.
 */
void analyze_warnings_of_profile(struct analyze_warnings *w, const struct profile *p,
				 const struct analyze_table *table, enum analyze_side side,
				 bool raw);
