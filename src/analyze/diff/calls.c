// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/diff/diff.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/sorted.h"
#include "kernel/image/name.h"

define_compare(row_compare, struct analyze_row,
	       strcmp(a->name, b->name) ?: analyze_context_compare(a->context, b->context));

int analyze_diff_row_compare(const void *left, const void *right)
{
	const struct analyze_diff_row *a = left, *b = right;

	return strcmp(a->name, b->name) ?: analyze_context_compare(a->context, b->context);
}

void analyze_diff_row_pair(struct analyze_diff_row *row, bool comparable)
{
	if (comparable && !isnan(row->sides[0].calls) && !isnan(row->sides[1].calls))
		analyze_change_form(&row->change);
	row->delta = row->sides[1].mean - row->sides[0].mean;
	row->delta_pct = analyze_percent(row->delta, row->sides[0].mean);
	row->delta_p50 = row->sides[1].p50 - row->sides[0].p50;
	row->delta_p90 = row->sides[1].p90 - row->sides[0].p90;
	row->delta_p99 = row->sides[1].p99 - row->sides[0].p99;
	row->delta_p999 = row->sides[1].p999 - row->sides[0].p999;
}

/* Copy kernel SIDE's figures from its table row OF to ROW. Leave them empty if N is 0 (no such row) or calls were not counted. */
static void set_side(struct analyze_diff_row *row, int side, const struct analyze_row *of, size_t n,
		     uint32_t runs)
{
	row->sides[side] = analyze_figures_none;
	if (!n || isnan(of->figures.calls))
		return;
	row->sides[side] = analyze_figures_per_run(&of->figures, runs);
	row->change.moments[side] = of->moments;
}

void analyze_diff_rows_match(struct analyze_diff_rows *out, const struct analyze_table tables[2],
			     const struct analyze_rows *a, const struct analyze_rows *b)
{
	bool same_unit = tables[0].repetitions.unit == tables[1].repetitions.unit;
	struct join j =
		join_sorted(a->rows, a->n_rows, b->rows, b->n_rows, sizeof(*a->rows), row_compare);

	while (join_next(&j)) {
		const struct analyze_row *from = j.n_a ? j.a : j.b;
		struct analyze_diff_row row = { .kind = from->kind,
						.name = from->name,
						.context = from->context,
						.delta_total = NAN,
						.share = NAN,
						.change = analyze_change_none };

		set_side(&row, 0, j.a, j.n_a, tables[0].runs);
		set_side(&row, 1, j.b, j.n_b, tables[1].runs);
		analyze_diff_row_pair(&row, same_unit);
		vec_push(out, rows, row);
		if (log_progress_due())
			log_progress("comparing: %u of about %u", out->n_rows, a->n_rows);
	}
	log_progress_end();
}

const struct analyze_diff_row *analyze_diff_rows_find(const struct analyze_diff_rows *rows,
						      const char *name, const char *context)
{
	const struct analyze_diff_row key = { .name = name, .context = context };

	return search_array(&key, rows->rows, rows->n_rows, sizeof(key), analyze_diff_row_compare);
}

/* Return the total time in one kernel; NAN: unknown. If KNOWN, the kernel's calls were recorded, so without calls it is 0. */
static double side_total(const struct analyze_figures *f, enum analyze_time time, bool known)
{
	return isnan(f->totals[time]) && known && !(f->calls > 0) ? 0 : f->totals[time];
}

/* Return the change of a system call's total time. A kernel without figures made no such call. */
static double syscall_change(const struct analyze_diff_row *row, enum analyze_time time)
{
	return side_total(&row->sides[1], time, true) - side_total(&row->sides[0], time, true);
}

static double changes_sum(const struct analyze_diff_rows *syscalls, enum analyze_time time)
{
	double all = 0;

	for (uint32_t i = 0; i < syscalls->n_rows; i++)
		all += syscall_change(&syscalls->rows[i], time);
	return all;
}

/* Return the change of the total time in CONTEXT. For the sum over all contexts, return ALL. */
static double context_change(const struct analyze_diff_rows *syscalls, const char *context,
			     enum analyze_time time, double all)
{
	const struct analyze_diff_row *row;

	if (analyze_is_sum(context))
		return all;
	row = analyze_diff_rows_find(syscalls, context, NULL);
	return row ? syscall_change(row, time) : NAN;
}

void analyze_diff_totals(struct analyze_diff_rows *syscalls, struct analyze_diff_rows *functions,
			 enum analyze_time time)
{
	enum analyze_time whole = time == ANALYZE_TIME_SELF ? ANALYZE_TIME_ONCPU : time;
	double all = changes_sum(syscalls, whole);
	struct analyze_diff_row *sum = functions->rows;

	for (uint32_t i = 0; i < syscalls->n_rows; i++)
		syscalls->rows[i].delta_total = syscall_change(&syscalls->rows[i], time);
	/* A function's sum over all contexts comes before the rows of its single contexts. */
	for (uint32_t i = 0; i < functions->n_rows; i++) {
		struct analyze_diff_row *row = &functions->rows[i];
		bool is_sum = analyze_is_sum(row->context);
		double change = context_change(syscalls, row->context, whole, all);

		if (is_sum)
			sum = row;
		row->delta_total = side_total(&row->sides[1], time, !isnan(sum->sides[1].calls)) -
				   side_total(&row->sides[0], time, !isnan(sum->sides[0].calls));
		if (change != 0)
			row->share = row->delta_total / change;
		if (!is_sum)
			sum->redundant =
				row == sum + 1 && (i + 1 == functions->n_rows ||
						   strcmp(functions->rows[i + 1].name, row->name));
	}
}

/* Return the value by which rows are sorted: the size of the change, or if it is unknown, the total time in one kernel. */
static double row_weight(const struct analyze_diff_row *row)
{
	if (!isnan(row->delta_total))
		return fabs(row->delta_total);
	return fabs(isnan(row->sides[1].total) ? row->sides[0].total : row->sides[1].total);
}

define_compare(weight_compare, struct analyze_diff_row,
	       !!isnan(a->delta_total) - !!isnan(b->delta_total)    ?:
		       compare_values(row_weight(b), row_weight(a)) ?:
								      analyze_diff_row_compare(a, b));

void analyze_diff_rows_sort_by_change(struct analyze_diff_rows *rows)
{
	sort_array(rows->rows, rows->n_rows, sizeof(*rows->rows), weight_compare);
}

static bool matches(const char *glob, const char *name)
{
	/* Compare the plain text first: as a pattern, "[page_fault]" matches one letter. */
	return !glob || !strcmp(glob, name) || kernel_name_matches(glob, name);
}

static void filter_rows(struct analyze_diff_rows *rows, const char *syscall, const char *function)
{
	uint32_t n = 0;

	vec_each(struct analyze_diff_row, row, rows, rows) {
		bool keep = row->context ?
				    matches(function, row->name) && matches(syscall, row->context) :
				    matches(syscall, row->name);

		/* Rows of all contexts have the context "*", which a pattern for system calls may match. Remove them. */
		if (keep && syscall && analyze_is_sum(row->context))
			keep = false;
		if (keep)
			rows->rows[n++] = *row;
	}
	rows->n_rows = n;
}

uint32_t analyze_diff_filter(struct analyze_diff *diff, const struct analyze_filter *filter)
{
	filter_rows(&diff->syscalls, filter->syscall, filter->function);
	filter_rows(&diff->functions, filter->syscall, filter->function);
	return diff->syscalls.n_rows + diff->functions.n_rows;
}

enum key {
	KEY_DELTA_TOTAL,
	KEY_DELTA,
	KEY_DELTA_PCT,
	KEY_P,
	KEY_NAME,
};

const char *const analyze_sort_keys[] = { "delta_total", "delta", "delta_pct", "p", "name", NULL };

/* Return the value by which ROW is sorted, smallest first. Unknown values are infinite, so they come last. */
static double key_value(const struct analyze_diff_row *row, enum key key)
{
	double value = key == KEY_DELTA_TOTAL ? -fabs(row->delta_total) :
		       key == KEY_DELTA       ? -fabs(row->delta) :
		       key == KEY_DELTA_PCT   ? -fabs(row->delta_pct) :
		       key == KEY_P           ? row->change.p :
						0;

	return isnan(value) ? INFINITY : value;
}

static int compare_by(const void *left, const void *right, void *key)
{
	double a = key_value(left, *(enum key *)key), b = key_value(right, *(enum key *)key);

	return compare_values(a, b) ?: analyze_diff_row_compare(left, right);
}

void analyze_diff_sort(struct analyze_diff *diff, const char *name)
{
	struct analyze_diff_rows *lists[] = { &diff->syscalls, &diff->functions };
	enum key key = 0;

	while (analyze_sort_keys[key] && strcmp(analyze_sort_keys[key], name))
		key++;
	for (int i = 0; analyze_sort_keys[key] && i < 2; i++)
		if (lists[i]->n_rows)
			qsort_r(lists[i]->rows, lists[i]->n_rows, sizeof(*lists[i]->rows),
				compare_by, &key);
}
