// SPDX-License-Identifier: GPL-2.0-or-later
/* The columns of diff. */
#include "cmd/columns_impl.h"

static const struct output_column diff_figures[] = {
	CALL_FIGURES_SHORT(CHOSEN, 6, OUTPUT_DATA_ONLY, OUTPUT_ALWAYS),
	FIGURE(errors, "ERRORS", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
};

/* For tables only, under the main one. */
static const struct output_column detail_figures[] = {
	FIGURE(p50, "P50", OUTPUT_TIME, OUTPUT_ALWAYS),
	FIGURE(p99, "P99", OUTPUT_TIME, 1),
	CHOSEN(total, "TOTAL", 2),
	FIGURE(calls, "CALLS", OUTPUT_COUNT, 3),
	FIGURE(errors, "ERRORS", OUTPUT_COUNT, 4),
};

#define DIFF(field, header, type, rank) COLUMN(analyze_diff_row, field, header, type, rank)

static const struct output_column diff_syscall[] = {
	DIFF(name, "SYSCALL", OUTPUT_TEXT, OUTPUT_ALWAYS),
};

static const struct output_column diff_function[] = {
	DIFF(name, "FUNCTION", OUTPUT_TEXT, OUTPUT_ALWAYS),
	{ "syscall", "CONTEXT", OUTPUT_TEXT, OUTPUT_ALWAYS,
	  offsetof(struct analyze_diff_row, context) },
};

#define CHANGE(key, field, header, type, rank)                                  \
	{                                                                       \
		key, header, type, rank, offsetof(struct analyze_change, field) \
	}

/* How far the difference may be off, beside it; offsets are in struct analyze_change. */
static const struct output_column change_plus_minus[] = {
	CHANGE("plus_minus", plus_minus, "+-", OUTPUT_TIME, 2),
};

static const struct output_column change_verdict[] = {
	CHANGE("verdict", verdict_key, "VERDICT", OUTPUT_TEXT, 1),
	{ "noise", "NOISE", OUTPUT_TIME, 2, offsetof(struct analyze_change, noise), false, true },
	CHANGE("under_noise", under_noise, "", OUTPUT_FLAG, OUTPUT_DATA_ONLY),
	CHANGE("p", p, "P", OUTPUT_PROBABILITY, 4),
	CHANGE("boots_needed", boots_needed, "BOOTS", OUTPUT_COUNT, 5),
	CHANGE("ci", ci, "", OUTPUT_INTERVAL, OUTPUT_DATA_ONLY),
	CHANGE("ci_pct", ci_pct, "", OUTPUT_INTERVAL, OUTPUT_DATA_ONLY),
	CHANGE("p_unadjusted", p_single, "", OUTPUT_PROBABILITY, OUTPUT_DATA_ONLY),
	CHANGE("detectable", detectable, "", OUTPUT_TIME, OUTPUT_DATA_ONLY),
	CHANGE("detectable_pct", detectable_pct, "", OUTPUT_PERCENT, OUTPUT_DATA_ONLY),
	CHANGE("ci_bootstrap", bootstrap, "", OUTPUT_INTERVAL, OUTPUT_DATA_ONLY),
	CHANGE("p_mann_whitney", mann_whitney, "", OUTPUT_PROBABILITY, OUTPUT_DATA_ONLY),
	CHANGE("repetitions_baseline", repetitions[0], "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
	CHANGE("repetitions_hardened", repetitions[1], "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
};

/* Before NOISE: DELTA is not larger. CHANGE_AT says where in ROW its change is. */
static const char *noise_mark(const void *row, size_t change_at)
{
	const struct analyze_change *c = (const void *)((const char *)row + change_at);

	return c->under_noise ? "under " : NULL;
}

static const struct output_column diff_delta[] = {
	DIFF(delta, "DELTA", OUTPUT_DELTA, OUTPUT_ALWAYS),
};

/* SHARE is last: only functions have it, and syscalls leave the last column away. */
static const struct output_column diff_deltas[] = {
	DIFF(delta_pct, "%", OUTPUT_PERCENT, OUTPUT_ALWAYS),
	DIFF(delta_total, "DELTA/RUN", OUTPUT_DELTA, 3),
	DIFF(share, "SHARE", OUTPUT_FRACTION, OUTPUT_ALWAYS),
};

static const struct output_column diff_percentiles[] = {
	DIFF(delta_p50, "", OUTPUT_DELTA, OUTPUT_DATA_ONLY),
	DIFF(delta_p90, "", OUTPUT_DELTA, OUTPUT_DATA_ONLY),
	DIFF(delta_p99, "", OUTPUT_DELTA, OUTPUT_DATA_ONLY),
	DIFF(delta_p999, "", OUTPUT_DELTA, OUTPUT_DATA_ONLY),
	DIFF(note, "NOTE", OUTPUT_TEXT, 7),
};

static bool diff_row_is_redundant(const void *row)
{
	return ((const struct analyze_diff_row *)row)->redundant;
}

#define CHANGE_OF(type) offsetof(struct type, change)

static const char *diff_mark(const void *row, const struct output_group *group)
{
	(void)group;
	return noise_mark(row, CHANGE_OF(analyze_diff_row));
}

static const char *diff_workload_mark(const void *row, const struct output_group *group)
{
	(void)group;
	return noise_mark(row, CHANGE_OF(analyze_diff_workload_row));
}

#define BASELINE offsetof(struct analyze_diff_row, baseline)
#define HARDENED offsetof(struct analyze_diff_row, hardened)

struct output_section columns_diff_syscalls(const struct analyze_diff *diff)
{
	static const struct output_group groups[] = {
		GROUP(NULL, 0, diff_syscall),
		GROUP("baseline", BASELINE, diff_figures),
		GROUP("hardened", HARDENED, diff_figures),
		GROUP(NULL, 0, diff_delta),
		GROUP(NULL, CHANGE_OF(analyze_diff_row), change_plus_minus),
		{ NULL, 0, diff_deltas, N(diff_deltas) - 1 },
		GROUP(NULL, CHANGE_OF(analyze_diff_row), change_verdict),
		GROUP(NULL, 0, diff_percentiles),
	};

	struct output_section section =
		SECTION(groups, diff->syscalls.rows, diff->syscalls.n_rows, diff->clock);

	section.prefix = analyze_time_header(diff->time);
	section.mark = diff_mark;
	return section;
}

struct output_section columns_diff_functions(const struct analyze_diff *diff)
{
	static const struct output_group groups[] = {
		GROUP(NULL, 0, diff_function),
		{ "baseline", BASELINE, diff_figures, N(diff_figures) - 1 },
		{ "hardened", HARDENED, diff_figures, N(diff_figures) - 1 },
		GROUP(NULL, 0, diff_delta),
		GROUP(NULL, CHANGE_OF(analyze_diff_row), change_plus_minus),
		GROUP(NULL, 0, diff_deltas),
		GROUP(NULL, CHANGE_OF(analyze_diff_row), change_verdict),
		GROUP(NULL, 0, diff_percentiles),
	};
	struct output_section section =
		SECTION(groups, diff->functions.rows, diff->functions.n_rows, diff->clock);

	section.prefix = analyze_time_header(diff->time);
	section.mark = diff_mark;
	section.is_redundant = diff_row_is_redundant;
	return section;
}

/* What is compared are totals: an estimate knows of no calls, so of no means. */
static const struct output_column diff_range_figures[] = {
	CALL_FIGURES_SHORT(CHOSEN_ESTIMABLE, 4, 2, 3),
};

static const struct output_column diff_range_side[] = {
	SIDE(source, "source", "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
	SIDE(entries, "entries", "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
	SIDE(estimate.samples, "samples", "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
	SIDE(estimate.of, "samples_of", "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
	SIDE(estimate.share.value, "share", "", OUTPUT_FRACTION, OUTPUT_DATA_ONLY),
	SIDE(estimate.share.low, "share_low", "", OUTPUT_FRACTION, OUTPUT_DATA_ONLY),
	SIDE(estimate.share.high, "share_high", "", OUTPUT_FRACTION, OUTPUT_DATA_ONLY),
	SIDE(estimate.self_share, "self_share", "", OUTPUT_FRACTION, OUTPUT_DATA_ONLY),
	SIDE(estimate.total.value, "estimated_total", "", OUTPUT_TIME, OUTPUT_DATA_ONLY),
	SIDE(estimate.total.low, "estimated_low", "", OUTPUT_TIME, OUTPUT_DATA_ONLY),
	SIDE(estimate.total.high, "estimated_high", "", OUTPUT_TIME, OUTPUT_DATA_ONLY),
	SIDE(doubt, "doubt", "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
	SIDE(why, "why", "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
};

#define DIFF_RANGE(field, key, header, type, rank)                                  \
	{                                                                           \
		key, header, type, rank, offsetof(struct analyze_diff_range, field) \
	}
static const struct output_column diff_range[] = {
	DIFF_RANGE(body.name, "name", "RANGE", OUTPUT_TEXT, OUTPUT_ALWAYS),
	DIFF_RANGE(body.function, "function", "IN", OUTPUT_TEXT, OUTPUT_ALWAYS),
	DIFF_RANGE(body.chain, "chain", "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
	DIFF_RANGE(location, "location", "AT", OUTPUT_TEXT, OUTPUT_ALWAYS),
	DIFF_RANGE(context, "syscall", "CONTEXT", OUTPUT_TEXT, OUTPUT_ALWAYS),
};

static bool diff_range_is_redundant(const void *row)
{
	return ((const struct analyze_diff_range *)row)->redundant;
}

#define BASELINE_RANGE offsetof(struct analyze_diff_range, baseline)
#define HARDENED_RANGE offsetof(struct analyze_diff_range, hardened)
#define FIGURES_RANGE  offsetof(struct analyze_range_side, figures)

static const char *diff_range_mark(const void *row, const struct output_group *group)
{
	const struct analyze_diff_range *range = row;
	const char *a = columns_range_mark(&range->baseline),
		   *b = columns_range_mark(&range->hardened);

	if (group->columns == change_verdict)
		return noise_mark(row, offsetof(struct analyze_diff_range, change));
	if (group->key)
		return group->offset == BASELINE_RANGE + FIGURES_RANGE ? a : b;
	if (range->baseline.doubt || range->hardened.doubt)
		return "?~";
	return a ? a : b;
}

struct output_section columns_diff_ranges(const struct analyze_diff *diff)
{
	static const struct output_column deltas[] = {
		DIFF_RANGE(delta, "delta", "DELTA", OUTPUT_DELTA, 3),
		DIFF_RANGE(delta_pct, "delta_pct", "%", OUTPUT_PERCENT, 3),
		{ "delta_total", "DELTA/RUN", OUTPUT_DELTA, OUTPUT_ALWAYS,
		  offsetof(struct analyze_diff_range, delta_total.value), false, true },
		DIFF_RANGE(delta_total.low, "delta_total_low", "", OUTPUT_DELTA, OUTPUT_DATA_ONLY),
		DIFF_RANGE(delta_total.high, "delta_total_high", "", OUTPUT_DELTA,
			   OUTPUT_DATA_ONLY),
		{ "share", "SHARE", OUTPUT_FRACTION, OUTPUT_ALWAYS,
		  offsetof(struct analyze_diff_range, share), false, true },
		DIFF_RANGE(syscall_share, "syscall_share", "OF CONTEXT", OUTPUT_FRACTION, 1),
	};
	/* Behind all others: readers of CSV may go by the order. */
	static const struct output_column notes[] = {
		DIFF_RANGE(note, "note", "NOTE", OUTPUT_TEXT, 7),
	};
	static const struct output_group groups[] = {
		GROUP(NULL, 0, diff_range),
		GROUP("baseline", BASELINE_RANGE + FIGURES_RANGE, diff_range_figures),
		GROUP("hardened", HARDENED_RANGE + FIGURES_RANGE, diff_range_figures),
		GROUP(NULL, 0, deltas),
		GROUP("baseline", BASELINE_RANGE, diff_range_side),
		GROUP("hardened", HARDENED_RANGE, diff_range_side),
		GROUP(NULL, offsetof(struct analyze_diff_range, change), change_plus_minus),
		GROUP(NULL, offsetof(struct analyze_diff_range, change), change_verdict),
		GROUP(NULL, 0, notes),
	};
	struct output_section section =
		SECTION(groups, diff->ranges.rows, diff->ranges.n_rows, diff->clock);

	section.prefix = analyze_time_header(diff->time);
	section.is_redundant = diff_range_is_redundant;
	section.mark = diff_range_mark;
	return section;
}

struct output_section columns_diff_calls(const struct columns_diff_call *calls, size_t n,
					 enum profile_clock clock)
{
	static const struct output_column kind[] = {
		COLUMN(columns_diff_call, kind, "KIND", OUTPUT_TEXT, OUTPUT_ALWAYS),
	};
	static const struct output_group groups[] = {
		GROUP(NULL, 0, kind),
		GROUP(NULL, offsetof(struct columns_diff_call, row), diff_function),
		GROUP("baseline", offsetof(struct columns_diff_call, row.baseline), diff_figures),
		GROUP("hardened", offsetof(struct columns_diff_call, row.hardened), diff_figures),
		GROUP(NULL, offsetof(struct columns_diff_call, row), diff_delta),
		GROUP(NULL, offsetof(struct columns_diff_call, row.change), change_plus_minus),
		GROUP(NULL, offsetof(struct columns_diff_call, row), diff_deltas),
		GROUP(NULL, offsetof(struct columns_diff_call, row.change), change_verdict),
		GROUP(NULL, offsetof(struct columns_diff_call, row), diff_percentiles),
	};

	return (struct output_section)SECTION(groups, calls, n, clock);
}

struct output_section columns_diff_syscalls_detail(const struct analyze_diff *diff)
{
	static const struct output_group groups[] = {
		GROUP(NULL, 0, diff_syscall),
		GROUP("baseline", BASELINE, detail_figures),
		GROUP("hardened", HARDENED, detail_figures),
	};

	struct output_section section =
		SECTION(groups, diff->syscalls.rows, diff->syscalls.n_rows, diff->clock);

	section.prefix = analyze_time_header(diff->time);
	return section;
}

struct output_section columns_diff_functions_detail(const struct analyze_diff *diff)
{
	static const struct output_group groups[] = {
		GROUP(NULL, 0, diff_function),
		GROUP("baseline", BASELINE, detail_figures),
		GROUP("hardened", HARDENED, detail_figures),
	};
	struct output_section section =
		SECTION(groups, diff->functions.rows, diff->functions.n_rows, diff->clock);

	section.prefix = analyze_time_header(diff->time);
	section.is_redundant = diff_row_is_redundant;
	return section;
}

#define DIFF_WORKLOAD(field, header, type, rank) \
	COLUMN(analyze_diff_workload_row, field, header, type, rank)

struct output_section columns_diff_percentiles(const struct analyze_diff_rows *rows,
					       enum profile_clock clock)
{
	static const struct output_column id[] = {
		DIFF(name, "NAME", OUTPUT_TEXT, OUTPUT_ALWAYS),
		DIFF(context, "CONTEXT", OUTPUT_TEXT, 1),
	};
	static const struct output_column figures[] = {
		FIGURE(p50, "P50", OUTPUT_TIME, 2),
		FIGURE(p90, "P90", OUTPUT_TIME, 2),
		FIGURE(p99, "P99", OUTPUT_TIME, 2),
		FIGURE(p999, "P99.9", OUTPUT_TIME, 2),
	};
	static const struct output_column deltas[] = {
		DIFF(delta_p50, "P50", OUTPUT_DELTA, OUTPUT_ALWAYS),
		DIFF(delta_p90, "P90", OUTPUT_DELTA, OUTPUT_ALWAYS),
		DIFF(delta_p99, "P99", OUTPUT_DELTA, OUTPUT_ALWAYS),
		DIFF(delta_p999, "P99.9", OUTPUT_DELTA, OUTPUT_ALWAYS),
	};
	static const struct output_group groups[] = {
		GROUP(NULL, 0, id),
		GROUP("baseline", BASELINE, figures),
		GROUP("hardened", HARDENED, figures),
		GROUP("delta", 0, deltas),
	};
	struct output_section section = SECTION(groups, rows->rows, rows->n_rows, clock);

	section.is_redundant = diff_row_is_redundant;
	return section;
}

struct output_section columns_diff_workload(const struct analyze_diff *diff)
{
	static const struct output_column id[] = {
		DIFF_WORKLOAD(name, "WORKLOAD", OUTPUT_TEXT, OUTPUT_ALWAYS),
		DIFF_WORKLOAD(probed, "", OUTPUT_FLAG, OUTPUT_DATA_ONLY),
		DIFF_WORKLOAD(how, "HOW", OUTPUT_TEXT, OUTPUT_TABLE_ONLY),
	};
	static const struct output_column figures[] = {
		WORKLOAD(iterations, "ITERATIONS", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
		WORKLOAD(mean, "MEAN", OUTPUT_TIME, OUTPUT_ALWAYS),
		WORKLOAD(p50, "P50", OUTPUT_TIME, OUTPUT_DATA_ONLY),
		WORKLOAD(min, "MIN", OUTPUT_TIME, 6),
	};
	static const struct output_column delta[] = {
		DIFF_WORKLOAD(delta, "DELTA", OUTPUT_DELTA, OUTPUT_ALWAYS),
	};
	static const struct output_column pct[] = {
		DIFF_WORKLOAD(delta_pct, "%", OUTPUT_PERCENT, OUTPUT_ALWAYS),
	};
	static const struct output_group groups[] = {
		GROUP(NULL, 0, id),
		GROUP("baseline", offsetof(struct analyze_diff_workload_row, baseline), figures),
		GROUP("hardened", offsetof(struct analyze_diff_workload_row, hardened), figures),
		GROUP(NULL, 0, delta),
		GROUP(NULL, CHANGE_OF(analyze_diff_workload_row), change_plus_minus),
		GROUP(NULL, 0, pct),
		GROUP(NULL, CHANGE_OF(analyze_diff_workload_row), change_verdict),
	};

	struct output_section section =
		SECTION(groups, diff->workload, diff->n_workload, diff->clock);

	section.mark = diff_workload_mark;
	return section;
}

#define PART(field, key, header, type, rank)                                             \
	{                                                                                \
		key, header, type, rank, offsetof(struct analyze_attribution_row, field) \
	}

struct output_section columns_diff_attribution(const struct analyze_attribution_row *rows, size_t n,
					       enum profile_clock clock)
{
	static const struct output_column columns[] = {
		PART(label, "", "WHERE", OUTPUT_TEXT, OUTPUT_TABLE_ONLY),
		PART(level, "level", "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
		PART(part_key, "kind", "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		PART(name, "name", "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		PART(location, "location", "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		PART(how, "how", "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		PART(delta, "delta_total", "DELTA/RUN", OUTPUT_DELTA, OUTPUT_ALWAYS),
		PART(share, "share", "SHARE", OUTPUT_FRACTION, OUTPUT_ALWAYS),
		PART(by_calls, "by_calls", "BY CALLS", OUTPUT_DELTA, 3),
		PART(by_mean, "by_mean", "BY MEAN", OUTPUT_DELTA, 3),
		PART(verdict, "verdict", "VERDICT", OUTPUT_TEXT, 2),
	};
	static const struct output_group groups[] = { GROUP(NULL, 0, columns) };

	return (struct output_section)SECTION(groups, rows, n, clock);
}

struct output_section columns_diff_environment(const struct analyze_env_row *rows, size_t n)
{
	static const struct output_column columns[] = {
		{ "kind", "DIFFERS", OUTPUT_TEXT, OUTPUT_ALWAYS,
		  offsetof(struct analyze_env_row, kind_name) },
		COLUMN(analyze_env_row, name, "NAME", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN(analyze_env_row, baseline, "BASELINE", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN(analyze_env_row, hardened, "HARDENED", OUTPUT_TEXT, OUTPUT_ALWAYS),
	};
	static const struct output_group groups[] = { GROUP(NULL, 0, columns) };

	return (struct output_section)SECTION(groups, rows, n, PROFILE_CLOCK_NS);
}
