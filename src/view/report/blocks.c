// SPDX-License-Identifier: GPL-2.0-or-later
/* Executions of basic blocks, by function and block. */
#include <string.h>

#include "base/alloc.h"
#include "view/page/columns.h"
#include "view/report.h"

static const struct output_column function_columns[] = {
	COLUMN("function", TEXT, analyze_block_function, function, .header = "BLOCKS OF"),
	COLUMN("syscall", TEXT, analyze_block_function, context, .header = "CONTEXT"),
	COLUMN("calls", COUNT, analyze_block_function, calls, .header = "CALLS"),
	COLUMN("blocks", COUNT, analyze_block_function, blocks, .header = "BLOCKS", .rank = 2),
	COLUMN("unknown", COUNT, analyze_block_function, unknown, .header = "UNKNOWN", .rank = 1),
	COLUMN("insns_per_call", COUNT, analyze_block_function, insns_per_call,
	       .header = "INSTRUCTIONS/CALL"),
	COLUMN("residual", COUNT, analyze_block_function, residual),
	COLUMN("caveat", TEXT, analyze_block_function, caveat, .header = "CAVEAT", .rank = 2),
};

static const struct output_column block_columns[] = {
	COLUMN("function", TEXT, analyze_block, function, .header = "FUNCTION",
	       .rank = OUTPUT_IF_VARIES),
	COLUMN("syscall", TEXT, analyze_block, context),
	COLUMN(NULL, TEXT, analyze_block, place, .header = "BLOCK"),
	COLUMN("location", TEXT, analyze_block, location, .header = "AT", .rank = 2),
	COLUMN("body", TEXT, analyze_block, body, .header = "INLINED", .rank = 1),
	COLUMN("offset", COUNT, analyze_block, offset),
	COLUMN("bytes", COUNT, analyze_block, bytes),
	COLUMN("insns", COUNT, analyze_block, insns, .header = "INSTRUCTIONS"),
	COLUMN("executions", COUNT, analyze_block, executions, .header = "EXECUTIONS", .rank = 3),
	COLUMN("per_call", FRACTION, analyze_block, per_call, .header = "PER CALL"),
	COLUMN("insns_per_call", COUNT, analyze_block, insns_per_call,
	       .header = "INSTRUCTIONS/CALL"),
	COLUMN("share", FRACTION, analyze_block, share, .header = "SHARE"),
};

/* For people, sum each function's blocks over all contexts, and sort them by executed instructions, largest first. */
static void block_rows(struct view_rows *rows, const void *data)
{
	const struct analyze_blocks *blocks = &((const struct view_report *)data)->blocks;
	struct analyze_block *all;
	uint32_t n = 0;

	if (!rows->for_people)
		return;
	all = view_rows_new(rows, blocks->n_rows, sizeof(*all));
	vec_each(const struct analyze_block_function, f, blocks, functions) {
		scoped_free struct analyze_block *hottest = NULL;

		if (!analyze_is_sum(f->context))
			continue;
		hottest = analyze_blocks_hottest(blocks, f);
		memcpy(all + n, hottest, f->n * sizeof(*all));
		n += f->n;
	}
	rows->section.n_rows = n;
}

bool view_report_is_exact(const void *report)
{
	return profile_is_exact(((const struct view_data *)report)->p[0]);
}

const struct view_table report_block_functions = {
	.name = "block_functions",
	.first = 3,
	.is_aside = view_report_is_exact,
	.title = "Functions whose blocks were counted; INSTRUCTIONS/CALL excludes callees",
	ONE_GROUP(function_columns),
	VIEW_LIST(view_report, blocks.functions, blocks.n_functions),
};

const struct view_table report_blocks = {
	.name = "blocks",
	.first = 6,
	.is_aside = view_report_is_exact,
	.title = "Blocks, by instructions per call; SHARE of the function's",
	ONE_GROUP(block_columns),
	VIEW_LIST(view_report, blocks.rows, blocks.n_rows),
	.rows = block_rows,
};
