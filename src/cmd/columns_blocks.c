// SPDX-License-Identifier: GPL-2.0-or-later
/* The columns of what counts of blocks tell. */
#include <string.h>

#include "cmd/columns_impl.h"

struct output_section columns_report_blocks(const struct analyze_block *rows, size_t n)
{
	static const struct output_column columns[] = {
		COLUMN(analyze_block, function, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		{ "syscall", "", OUTPUT_TEXT, OUTPUT_DATA_ONLY,
		  offsetof(struct analyze_block, context) },
		COLUMN(analyze_block, place, "BLOCK", OUTPUT_TEXT, OUTPUT_TABLE_ONLY),
		COLUMN(analyze_block, location, "AT", OUTPUT_TEXT, 2),
		COLUMN(analyze_block, body, "INLINED", OUTPUT_TEXT, 1),
		COLUMN(analyze_block, offset, "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
		COLUMN(analyze_block, bytes, "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
		COLUMN(analyze_block, insns, "INSN", OUTPUT_COUNT, OUTPUT_ALWAYS),
		COLUMN(analyze_block, executions, "EXECUTIONS", OUTPUT_COUNT, 3),
		COLUMN(analyze_block, per_call, "A CALL", OUTPUT_FRACTION, OUTPUT_ALWAYS),
		COLUMN(analyze_block, insns_per_call, "INSN A CALL", OUTPUT_COUNT, OUTPUT_ALWAYS),
		COLUMN(analyze_block, share, "SHARE", OUTPUT_FRACTION, OUTPUT_ALWAYS),
	};
	static const struct output_group groups[] = { GROUP(NULL, 0, columns) };

	return (struct output_section)SECTION(groups, rows, n, PROFILE_CLOCK_INSN);
}

struct output_section columns_report_paths(const struct analyze_path *rows, size_t n,
					   enum profile_clock clock)
{
	static const struct output_column columns[] = {
		COLUMN(analyze_path, function, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		{ "syscall", "", OUTPUT_TEXT, OUTPUT_DATA_ONLY,
		  offsetof(struct analyze_path, context) },
		{ "path", "", OUTPUT_COUNT, OUTPUT_DATA_ONLY,
		  offsetof(struct analyze_path, number) },
		COLUMN(analyze_path, calls, "CALLS", OUTPUT_COUNT, OUTPUT_ALWAYS),
		COLUMN(analyze_path, share, "SHARE", OUTPUT_FRACTION, OUTPUT_ALWAYS),
		COLUMN(analyze_path, mean, "CPU MEAN", OUTPUT_TIME, OUTPUT_ALWAYS),
		COLUMN(analyze_path, total, "CPU TOTAL", OUTPUT_TIME, 3),
		{ "time_share", "OF TIME", OUTPUT_FRACTION, 2,
		  offsetof(struct analyze_path, total_share) },
		ELASTIC(analyze_path, turns, "LOOPS TURN", 1),
		ELASTIC(analyze_path, does, "DOES", OUTPUT_ALWAYS),
		ELASTIC(analyze_path, lacks, "DOES NOT", 4),
	};
	static const struct output_group groups[] = { GROUP(NULL, 0, columns) };

	return (struct output_section)SECTION(groups, rows, n, clock);
}

static bool loop_has_no_spread(const void *row)
{
	const struct analyze_loop *loop = row;

	return strcmp(loop->context, "*") || !loop->spread;
}

struct output_section columns_report_spreads(const struct analyze_loop *rows, size_t n)
{
	static const struct output_column columns[] = {
		COLUMN(analyze_loop, function, "LOOP IN", OUTPUT_TEXT, 1),
		COLUMN(analyze_loop, location, "AT", OUTPUT_TEXT, OUTPUT_ALWAYS),
		ELASTIC(analyze_loop, spread, "TURNS: CALLS", OUTPUT_ALWAYS),
	};
	static const struct output_group groups[] = { GROUP(NULL, 0, columns) };
	struct output_section section = SECTION(groups, rows, n, PROFILE_CLOCK_INSN);

	section.is_redundant = loop_has_no_spread;
	return section;
}

/* Of one context: it is what the row of all contexts says. */
static bool loop_is_of_a_context(const void *row)
{
	return strcmp(((const struct analyze_loop *)row)->context, "*") != 0;
}

struct output_section columns_report_loops(const struct analyze_loop *rows, size_t n)
{
	static const struct output_column columns[] = {
		COLUMN(analyze_loop, function, "LOOP IN", OUTPUT_TEXT, OUTPUT_ALWAYS),
		{ "syscall", "", OUTPUT_TEXT, OUTPUT_DATA_ONLY,
		  offsetof(struct analyze_loop, context) },
		COLUMN(analyze_loop, location, "AT", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN(analyze_loop, body, "INLINED", OUTPUT_TEXT, 1),
		COLUMN(analyze_loop, offset, "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
		COLUMN(analyze_loop, turns, "TURNS A CALL", OUTPUT_FRACTION, OUTPUT_ALWAYS),
		COLUMN(analyze_loop, insns_per_turn, "INSN A TURN", OUTPUT_FRACTION, OUTPUT_ALWAYS),
		COLUMN(analyze_loop, insns_per_call, "INSN A CALL", OUTPUT_COUNT, 2),
		COLUMN(analyze_loop, spread, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
	};
	static const struct output_group groups[] = { GROUP(NULL, 0, columns) };

	struct output_section section = SECTION(groups, rows, n, PROFILE_CLOCK_INSN);

	section.is_redundant = loop_is_of_a_context;
	return section;
}

struct output_section columns_report_turns(const struct analyze_loop_turns *rows, size_t n)
{
	static const struct output_column columns[] = {
		COLUMN(analyze_loop_turns, function, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		{ "syscall", "", OUTPUT_TEXT, OUTPUT_DATA_ONLY,
		  offsetof(struct analyze_loop_turns, context) },
		COLUMN(analyze_loop_turns, location, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		COLUMN(analyze_loop_turns, body, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		COLUMN(analyze_loop_turns, offset, "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
		{ "low", "", OUTPUT_COUNT, OUTPUT_DATA_ONLY,
		  offsetof(struct analyze_loop_turns, turns.low) },
		{ "high", "", OUTPUT_COUNT, OUTPUT_DATA_ONLY,
		  offsetof(struct analyze_loop_turns, turns.high) },
		{ "calls", "", OUTPUT_COUNT, OUTPUT_DATA_ONLY,
		  offsetof(struct analyze_loop_turns, turns.calls) },
		{ "share", "", OUTPUT_FRACTION, OUTPUT_DATA_ONLY,
		  offsetof(struct analyze_loop_turns, turns.share) },
	};
	static const struct output_group groups[] = { GROUP(NULL, 0, columns) };

	return (struct output_section)SECTION(groups, rows, n, PROFILE_CLOCK_INSN);
}

struct output_section columns_report_path_turns(const struct analyze_path_turns *rows, size_t n)
{
	static const struct output_column columns[] = {
		COLUMN(analyze_path_turns, function, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		{ "syscall", "", OUTPUT_TEXT, OUTPUT_DATA_ONLY,
		  offsetof(struct analyze_path_turns, context) },
		COLUMN(analyze_path_turns, path, "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
		COLUMN(analyze_path_turns, location, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		COLUMN(analyze_path_turns, body, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		COLUMN(analyze_path_turns, offset, "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
		COLUMN(analyze_path_turns, turns, "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
	};
	static const struct output_group groups[] = { GROUP(NULL, 0, columns) };

	return (struct output_section)SECTION(groups, rows, n, PROFILE_CLOCK_INSN);
}

struct output_section columns_report_block_functions(const struct analyze_blocks *blocks)
{
	static const struct output_column columns[] = {
		COLUMN(analyze_block_function, function, "BLOCKS OF", OUTPUT_TEXT, OUTPUT_ALWAYS),
		{ "syscall", "SYSCALL", OUTPUT_TEXT, OUTPUT_ALWAYS,
		  offsetof(struct analyze_block_function, context) },
		COLUMN(analyze_block_function, calls, "CALLS", OUTPUT_COUNT, OUTPUT_ALWAYS),
		COLUMN(analyze_block_function, blocks, "BLOCKS", OUTPUT_COUNT, 2),
		COLUMN(analyze_block_function, unknown, "UNKNOWN", OUTPUT_COUNT, 1),
		COLUMN(analyze_block_function, insns_per_call, "INSN A CALL", OUTPUT_COUNT,
		       OUTPUT_ALWAYS),
		COLUMN(analyze_block_function, self_per_call, "SELF TIME", OUTPUT_TIME,
		       OUTPUT_ALWAYS),
		COLUMN(analyze_block_function, residual, "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
	};
	static const struct output_group groups[] = { GROUP(NULL, 0, columns) };

	return (struct output_section)SECTION(groups, blocks->functions, blocks->n_functions,
					      blocks->clock);
}

/* What changed; people read the sentences. */
struct output_section columns_diff_paths(const struct analyze_diff_paths *diff)
{
	static const struct output_column columns[] = {
		COLUMN(analyze_path_change, kind, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		COLUMN(analyze_path_change, function, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		COLUMN(analyze_path_change, what, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		COLUMN(analyze_path_change, through, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		{ "baseline_often", "", OUTPUT_FRACTION, OUTPUT_DATA_ONLY,
		  offsetof(struct analyze_path_change, often[0]) },
		{ "hardened_often", "", OUTPUT_FRACTION, OUTPUT_DATA_ONLY,
		  offsetof(struct analyze_path_change, often[1]) },
		{ "baseline_cost", "", OUTPUT_FRACTION, OUTPUT_DATA_ONLY,
		  offsetof(struct analyze_path_change, cost[0]) },
		{ "hardened_cost", "", OUTPUT_FRACTION, OUTPUT_DATA_ONLY,
		  offsetof(struct analyze_path_change, cost[1]) },
		COLUMN(analyze_path_change, text, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
	};
	static const struct output_group groups[] = { GROUP(NULL, 0, columns) };

	return (struct output_section)SECTION(groups, diff->rows, diff->n_rows, PROFILE_CLOCK_INSN);
}
