/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Warnings about a profile's figures, as codes, names and values. view/words.h has their texts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/figures/table.h"
#include "base/alloc.h"
#include "profile/profile.h"

/* Kinds of warnings, and the meaning of their members. If a member has a value for each kernel, [0] is the baseline's. */
enum analyze_warning_kind {
	/* Warnings about two profiles: */
	ANALYZE_WARNING_WORK, /* argument number CODE of the command differs: NAMES */
	ANALYZE_WARNING_MACHINE, /* setting NAMES[2] differs: NAMES[0], NAMES[1] (NULL: unknown) */
	ANALYZE_WARNING_MECHANISMS, /* probe types differ: VALUES[0] functions, such as NAMES[2] */
	ANALYZE_WARNING_FREQ, /* sampling rates differ: VALUES */
	ANALYZE_WARNING_CONFIG, /* the kernel configuration of SIDE is unknown */
	ANALYZE_WARNING_COST_ONE_SIDE, /* cost of probe type NAMES[0] is subtracted only on SIDE */
	ANALYZE_WARNING_CONTROL, /* OWN_TEXT shows that the --control kernel is another one */
	ANALYZE_WARNING_SLOWDOWN, /* slowdowns by probes differ: VALUES in percent */
	ANALYZE_WARNING_LOAD, /* values of load CODE (enum analyze_load) differ: VALUES */
	/* Warnings about one profile: */
	ANALYZE_WARNING_EMPTY, /* the profile has no runs */
	ANALYZE_WARNING_LOSS, /* loss CODE (enum profile_loss) occurred VALUES[0] times */
	ANALYZE_WARNING_MISSED, /* probes of type CODE missed VALUES[0] returns of NAMES[0] */
	ANALYZE_WARNING_UNACCOUNTED, /* VALUES[0] of VALUES[1] calls are missing (< 0: too many) */
	ANALYZE_WARNING_FAILED_RUNS, /* VALUES[0] of VALUES[1] runs failed; RUN is the first */
	ANALYZE_WARNING_TASKS_LEFT, /* VALUES[0] tasks ran on after the command's end */
	/* VALUES[0] rows have negative times. The lowest is of NAMES[0] in context NAMES[1]. CODE: its enum analyze_time. */
	ANALYZE_WARNING_NEGATIVE,
	/* Probes of type NAMES[0] have an unknown cost, but timed VALUES[0] functions, such as NAMES[1], or (0) only contexts. */
	ANALYZE_WARNING_COST_UNKNOWN,
	ANALYZE_WARNING_DRIFT, /* costs of probes changed during the recording, as NAMES[0] tells */
	ANALYZE_WARNING_CLOCK, /* clock source NAMES[0] has steps of VALUES[0] ns */
	ANALYZE_WARNING_SYSCALLS, /* only the system calls NAMES[0] were measured */
	ANALYZE_WARNING_INLINED, /* functions NAMES[0] also have inlined, untimed copies */
	ANALYZE_WARNING_NO_FAULTS, /* page faults were not counted */
	ANALYZE_WARNING_TRACERS, /* other tools traced the kernel during the recording: NAMES[0] */
	ANALYZE_WARNING_PROGRAMS, /* other tools loaded the BPF programs NAMES[0] during a run */
	ANALYZE_WARNING_UNFINISHED, /* the recorder was killed */
	ANALYZE_WARNING_PREEMPT_RT, /* too much probe cost is subtracted for calls under a lock */
};

/* The action that a warning demands from the user. */
enum analyze_severity {
	ANALYZE_SEVERITY_INVALID, /* do not compare the profiles: not only the kernels differ */
	ANALYZE_SEVERITY_ACT, /* distrust figures, or change the recording */
	ANALYZE_SEVERITY_INFO, /* no action: figures change by less than 0.1 % */
};

enum analyze_side {
	ANALYZE_SIDE_NONE = -1, /* about both profiles, or about the only one */
	ANALYZE_SIDE_BASELINE,
	ANALYZE_SIDE_HARDENED,
};

/* The profiles own NAMES and must outlive the warning. NAMES are not escaped for a terminal. */
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
	vec_of(struct analyze_warning, rows); /* INVALID warnings first */
	uint32_t n_invalid;
};

/* Add WARNING. W takes ownership of OWN_TEXT. */
void analyze_warnings_add(struct analyze_warnings *w, struct analyze_warning warning);
void analyze_warnings_deinit(struct analyze_warnings *w);

/*
 * Add the most important warnings about P, such as losses, unaccounted calls, failed runs, a coarse clock. Unless RAW (no probe
 * cost is subtracted), warn of negative times, and of probe costs that are unknown or not valid for all calls. TABLE is P's
 * table made with the same RAW. If TABLE is NULL, do not warn of negative times. SIDE tells which profile P is.
 */
void analyze_warnings_of_profile(struct analyze_warnings *w, const struct profile *p,
				 const struct analyze_table *table, enum analyze_side side,
				 bool raw);
