/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loops and blocks that were counted on two kernels, as parts of their function's change: each counted
 * instruction is in one row. A loop's are those of its own iterations, without those of loops in it; what is in
 * no loop is put together by line, and in other versions of the source by inlined body.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "profile/profile.h"

struct analyze_diff_block {
	const char *function, *context;
	char *chain; /* the bodies it is in, innermost first, with PROFILE_CHAIN between; NULL: none */
	char *location; /* "mm/slub.c:1907"; NULL: not known, or several */
	const char *match_location; /* the same, if both sides have the same source */
	bool is_loop;
	uint32_t nth; /* of several with all that in common */
	/* Per run: of a loop's head, or of all blocks; and the instructions. [0] is the baseline's. */
	double executions[2], insns[2];
};

struct analyze_diff_blocks {
	vec_of(struct analyze_diff_block, rows); /* by function, then context */
};

/* RUNS are the probed ones of either side. Functions of one side alone are left out. */
void analyze_diff_blocks_init(struct analyze_diff_blocks *blocks, const struct profile *baseline,
			      const struct profile *hardened, const uint32_t runs[2],
			      bool same_source);
void analyze_diff_blocks_deinit(struct analyze_diff_blocks *blocks);
