// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/diff/select.h"
#include "base/sorted.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

/* ---- filter ---- */

static bool matches(const char *glob, const char *name)
{
	/* Compare the text first, since "[page_fault]" as a glob is one letter. */
	return !glob || !strcmp(glob, name) || !fnmatch(glob, name, 0);
}

static void filter_rows(struct analyze_diff_rows *rows, const char *syscall, const char *function)
{
	uint32_t n = 0;

	vec_each(const struct analyze_diff_row, row, rows, rows) {
		bool keep = row->context ?
				    matches(function, row->name) && matches(syscall, row->context) :
				    matches(syscall, row->name);

		/* A glob is for names, not for the sign of the sum. */
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

/* ---- order ---- */

enum key {
	KEY_DELTA_TOTAL,
	KEY_DELTA,
	KEY_DELTA_PCT,
	KEY_P,
	KEY_NAME,
};

const char *const analyze_sort_keys[] = { "delta_total", "delta", "delta_pct", "p", "name", NULL };

/* Return the key by which a row is ordered, the least first. An unknown one comes last. */
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
