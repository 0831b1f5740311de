/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of `kprotperf report` share: options and figures in, tables or data out. */
#ifndef KPROTPERF_CMD_REPORT_IMPL_H
#define KPROTPERF_CMD_REPORT_IMPL_H

#include "analyze/accounting.h"
#include "analyze/blocks.h"
#include "analyze/cost.h"
#include "analyze/environment.h"
#include "analyze/losses.h"
#include "analyze/paths.h"
#include "analyze/ranges.h"
#include "analyze/stacks.h"
#include "analyze/table.h"
#include "analyze/workload.h"
#include "cmd/columns.h"
#include "cmd/view.h"
#include "output/number.h"

/* What CSV holds. */
enum section {
	SECTION_CALLS, /* the default: syscalls and functions */
	SECTION_SYSCALLS,
	SECTION_FUNCTIONS,
	SECTION_RANGES,
	SECTION_SAMPLES,
	SECTION_LOSSES,
	SECTION_COSTS,
	SECTION_BLOCKS,
	SECTION_PATHS,
	SECTION_LOOPS,
	SECTION_TURNS,
	SECTION_BLOCK_FUNCTIONS,
	SECTION_PATH_TURNS,
};

struct report_options {
	struct view_options view;
	enum section section;
	const char *file, *vmlinux;
};

/* Everything said about one profile. */
struct report {
	const struct profile *p;
	struct analyze_table table;
	struct analyze_ranges ranges;
	struct analyze_workload workload;
	struct analyze_losses losses;
	struct analyze_accounting accounting;
	struct analyze_costs costs;
	struct analyze_leaves leaves;
	struct analyze_blocks blocks;
	struct analyze_paths paths;
	struct analyze_env protections;
	struct analyze_warnings warnings;
};

/* The losses as rows, whose texts for tables stay in TEXTS. */
void report_losses_form(struct columns_loss rows[PROFILE_N_LOSSES],
			char texts[PROFILE_N_LOSSES][OUTPUT_NUMBER_MAX], const struct report *r);

void report_write_table(const struct report *r, const struct report_options *o);
void report_write_json(const struct report *r, const struct report_options *o);
void report_write_csv(const struct report *r, const struct report_options *o);

#endif
