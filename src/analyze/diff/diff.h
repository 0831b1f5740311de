/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same work on two kernels, side by side. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/diff/calls.h"
#include "analyze/figures/environment.h"
#include "analyze/figures/workload.h"
#include "analyze/figures/warnings.h"
#include "analyze/inline/ranges.h"
#include "analyze/stats/change.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "profile/profile.h"

struct analyze_diff_workload_row {
	const char *name, *label; /* as in struct analyze_workload_row */
	bool probed; /* of both sides; where only one has the row, of that */
	enum analyze_how how;
	size_t order;
	struct analyze_workload_figures sides[2];
	double delta, delta_pct; /* of the mean */
	struct analyze_change change;
};

/* Reasons why there are no verdicts, or limits of those that there are. */
enum analyze_repetitions_note {
	ANALYZE_REPETITIONS_ENOUGH,
	ANALYZE_REPETITIONS_TOO_FEW, /* runs to say how sure differences are */
	/* A side is one recording on a real clock: what differs between recordings is in no interval. */
	ANALYZE_REPETITIONS_ONE_RECORDING,
	/* Likewise: what changed from one side's recordings to the other's, which were not made in turn, is in none. */
	ANALYZE_REPETITIONS_IN_A_ROW,
	ANALYZE_REPETITIONS_ONE_BOOT, /* per side: what differs between boots is in no interval */
	/* One boot on that side and several on the other: nothing is known of how sure differences are. */
	ANALYZE_REPETITIONS_BOOT_BASELINE,
	ANALYZE_REPETITIONS_BOOT_HARDENED,
};

/* Return whether no difference can be certain, since it is not known how much recordings differ. */
static inline bool analyze_repetitions_undecided(enum analyze_repetitions_note note)
{
	return note == ANALYZE_REPETITIONS_ONE_RECORDING || note == ANALYZE_REPETITIONS_IN_A_ROW;
}

/* The repetitions of a diff's statistics. */
struct analyze_diff_repetitions {
	enum analyze_unit unit;
	uint32_t n[2]; /* repetitions of the baseline and the hardened side */
	uint32_t rows; /* that have a p-value: it is adjusted for their number */
	double margin_pct;
	enum analyze_repetitions_note note;
	/* --control is several recordings, as both sides are: what is more than its noise is no matter of when. */
	bool controlled;
};

struct analyze_diff {
	enum profile_clock clock;
	bool some; /* syscalls alone were measured */
	bool has_control; /* rows have their noise */
	enum analyze_time time; /* that of totals, means and their changes */
	uint32_t runs[2], boots[2]; /* of the baseline and the hardened side */
	struct analyze_diff_repetitions repetitions;
	struct analyze_env env;
	struct analyze_warnings warnings; /* what a reader of the comparison must know */
	vec_of(struct analyze_diff_workload_row, workload);
	struct analyze_kernel_share kernel[2];
	struct analyze_diff_rows syscalls, functions;
	struct analyze_ranges bodies
		[2]; /* of either side, for functions that it has inlined; none if both call the same */
	struct pointers bodies_by_name[2]; /* their rows by name, then context */
	/* The sources of the rows, whose samples point to them. */
	struct analyze_table tables[2];
	struct analyze_workload commands[2];
};

/* Work out the slow figures of ROW's change, and its note. */
void analyze_diff_row_work_out(struct analyze_diff_row *row);

/*
 * Both profiles must outlive DIFF. OPTIONS as for analyze_table_init(). Returns 0, or -EINVAL, having
 * said so, where the two clocks count different things; DIFF is then empty.
 */
int analyze_diff_init(struct analyze_diff *diff, const struct profile *baseline,
		      const struct profile *hardened, const struct analyze_options *options);
void analyze_diff_deinit(struct analyze_diff *diff);

/*
 * Sets how much noise there is in each row of DIFF, from another recording of the baseline's kernel:
 * struct analyze_change. Adds a warning where CONTROL is of another kernel. Returns as
 * analyze_diff_init(), with whose BASELINE and OPTIONS it is called.
 */
int analyze_diff_control(struct analyze_diff *diff, const struct profile *baseline,
			 const struct profile *control, const struct analyze_options *options);
