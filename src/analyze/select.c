// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/select.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "analyze/sort.h"

/* ---- filter ---- */

static bool matches(const char *glob, const char *name)
{
	/* As it is first, since "[page_fault]" as a glob is one letter. */
	return !glob || !strcmp(glob, name) || !fnmatch(glob, name, 0);
}

static void filter_rows(struct analyze_diff_rows *rows, const char *syscall, const char *function)
{
	uint32_t i, n = 0;

	for (i = 0; i < rows->n_rows; i++) {
		const struct analyze_diff_row *row = &rows->rows[i];
		bool keep = row->context ?
				    matches(function, row->name) && matches(syscall, row->context) :
				    matches(syscall, row->name);

		/* A glob is for names, not for the sign of the sum. */
		if (keep && syscall && row->context && !strcmp(row->context, ANALYZE_ALL_CONTEXTS))
			keep = false;
		if (keep)
			rows->rows[n++] = *row;
	}
	rows->n_rows = n;
}

uint32_t analyze_diff_filter(struct analyze_diff *diff, const struct analyze_filter *filter)
{
	struct analyze_diff_ranges *ranges = &diff->ranges;
	uint32_t i, n = 0;

	filter_rows(&diff->syscalls, filter->syscall, filter->function);
	filter_rows(&diff->functions, filter->syscall, filter->function);
	for (i = 0; i < ranges->n_rows; i++) {
		const struct analyze_diff_range *row = &ranges->rows[i];
		bool is_sum = !strcmp(row->context, ANALYZE_ALL_CONTEXTS);

		if ((filter->syscall && is_sum) || !matches(filter->syscall, row->context) ||
		    (!matches(filter->function, row->body.name) &&
		     !matches(filter->function, row->body.function)))
			continue;
		ranges->rows[n++] = *row;
	}
	ranges->n_rows = n;
	return diff->syscalls.n_rows + diff->functions.n_rows + n;
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

/* What a row is ordered by, the least first; what is not known comes last. */
static double key_value(const struct analyze_diff_row *row, enum key key)
{
	double value = key == KEY_DELTA_TOTAL ? -fabs(row->delta_total) :
		       key == KEY_DELTA       ? -fabs(row->delta) :
		       key == KEY_DELTA_PCT   ? -fabs(row->delta_pct) :
		       key == KEY_P           ? row->change.p :
						0;

	return isnan(value) ? INFINITY : value;
}

static int compare_by(const struct analyze_diff_row *a, const struct analyze_diff_row *b,
		      enum key key)
{
	double value_a = key_value(a, key), value_b = key_value(b, key);
	int diff;

	if (value_a != value_b)
		return value_a < value_b ? -1 : 1;
	diff = strcmp(a->name, b->name);
	return diff ? diff : analyze_context_compare(a->context, b->context);
}

#define COMPARE(name, key)                            \
	static int name(const void *a, const void *b) \
	{                                             \
		return compare_by(a, b, key);         \
	}
COMPARE(compare_delta_total, KEY_DELTA_TOTAL)
COMPARE(compare_delta, KEY_DELTA)
COMPARE(compare_delta_pct, KEY_DELTA_PCT)
COMPARE(compare_p, KEY_P)
COMPARE(compare_name, KEY_NAME)

void analyze_diff_sort(struct analyze_diff *diff, const char *key)
{
	static int (*const compare[])(const void *, const void *) = {
		[KEY_DELTA_TOTAL] = compare_delta_total,
		[KEY_DELTA] = compare_delta,
		[KEY_DELTA_PCT] = compare_delta_pct,
		[KEY_P] = compare_p,
		[KEY_NAME] = compare_name,
	};
	struct analyze_diff_rows *lists[] = { &diff->syscalls, &diff->functions };
	int i, number;

	for (number = 0; analyze_sort_keys[number]; number++)
		if (!strcmp(analyze_sort_keys[number], key))
			break;
	for (i = 0; analyze_sort_keys[number] && i < 2; i++)
		analyze_sort(lists[i]->rows, lists[i]->n_rows, sizeof(*lists[i]->rows),
			     compare[number]);
}
