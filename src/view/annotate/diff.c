// SPDX-License-Identifier: GPL-2.0-or-later
/* diff --annotate: the lines and inlined bodies of one function on two kernels. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "view/annotate/rows.h"

static uint32_t line_number(double line)
{
	return isnan(line) ? 0 : (uint32_t)line;
}

/* "mm/slub.c:1906", "mm/slub.c:1906, was 1890": of the hardened side where it is there. */
static char *where_text(const struct analyze_annotate_diff_row *r)
{
	double was = r->sides[0].line, is = r->sides[1].line;

	if (!r->file)
		return alloc_strdup("?");
	if (!isnan(was) && !isnan(is) && was != is)
		return alloc_printf("%s:%.0f, was %.0f", r->file, is, was);
	return alloc_printf("%s:%u", r->file, line_number(isnan(is) ? was : is));
}

static void rows_form(struct view_rows *rows, const struct view_annotate_diff *c,
		      const struct analyze_annotate_diff_rows *from, bool are_lines)
{
	struct annotate_diff_row *items = view_rows_new(rows, from->n_rows, sizeof(*items));

	for (uint32_t i = 0; i < from->n_rows; i++) {
		const struct analyze_annotate_diff_row *r = &from->rows[i];
		unsigned int side = r->sides[1].n_insns > 0;
		struct analyze_line line = { .file = r->file,
					     .line = line_number(r->sides[side].line) };

		items[i].of = *r;
		if (!are_lines)
			continue;
		items[i].where = alloc_keep(&rows->texts, where_text(r));
		items[i].source =
			alloc_keep(&rows->texts, annotated_source(&c->sides[side], &line));
	}
}

/* Return how many instructions more a call executes; 0: they were not counted on both sides. */
static double executed_more(const struct annotate_diff_row *row)
{
	double more = row->of.sides[1].per_call - row->of.sides[0].per_call;

	return isnan(more) ? 0 : more;
}

static bool is_worth_a_row(const struct annotate_diff_row *row)
{
	return row->of.sides[0].samples > 0 || row->of.sides[1].samples > 0 ||
	       fabs(executed_more(row)) >= 0.05;
}

/* Largest change first, by samples, then by counting; what is not known last. */
static int change_compare(const void *left, const void *right)
{
	const struct annotate_diff_row *a = left, *b = right;
	double da = isnan(a->of.delta.value) ? -1 : fabs(a->of.delta.value);
	double db = isnan(b->of.delta.value) ? -1 : fabs(b->of.delta.value);

	if (da == db) {
		da = fabs(executed_more(a));
		db = fabs(executed_more(b));
	}
	return da < db ? 1 : da > db ? -1 : 0;
}

#define SIDE_COLUMN(key, type, field, ...) \
	COLUMN(key, type, analyze_annotated_side, field, ##__VA_ARGS__)
#define DIFF_COLUMN(key, type, field, ...) \
	COLUMN(key, type, annotate_diff_row, field, ##__VA_ARGS__)

#define SIDE_COLUMNS                                                                           \
	SIDE_COLUMN("cost", TIME, cost.value, .header = "", .rank = OUTPUT_IF_ANY,             \
		    .prefixed = true, .estimable = true),                                      \
		SIDE_COLUMN("cost_low", TIME, cost.low),                                       \
		SIDE_COLUMN("cost_high", TIME, cost.high),                                     \
		SIDE_COLUMN("share", FRACTION, share, .header = "SHARE", .rank = 3),           \
		SIDE_COLUMN("self", COUNT, hits.self),                                         \
		SIDE_COLUMN("callees", COUNT, hits.callees),                                   \
		SIDE_COLUMN("late", COUNT, hits.late),                                         \
		SIDE_COLUMN("instructions", COUNT, n_insns), SIDE_COLUMN("line", COUNT, line), \
		SIDE_COLUMN("samples", COUNT, samples, .header = "SAMPLES", .rank = 2)

static const struct output_column side_columns[] = {
	SIDE_COLUMNS,
	SIDE_COLUMN("per_call", COUNT, per_call),
};
/* The columns of counted executions. */
static const struct output_column counted_columns[] = {
	SIDE_COLUMNS,
	SIDE_COLUMN("per_call", COUNT, per_call, .header = "EXECUTED"),
};

#define DELTA_COLUMNS                                                                         \
	DIFF_COLUMN("delta", DELTA, of.delta.value, .header = "DELTA", .rank = OUTPUT_IF_ANY, \
		    .estimable = true),                                                       \
		DIFF_COLUMN("delta_low", DELTA, of.delta.low, .header = "LOW", .rank = 4),    \
		DIFF_COLUMN("delta_high", DELTA, of.delta.high, .header = "HIGH", .rank = 4)

static const struct output_column body_columns[] = {
	DELTA_COLUMNS,
	DIFF_COLUMN("body", TEXT, of.path, .header = "IN", .elastic = true),
};

/* In a narrow table the place is enough: the source says which body it is of. */
static const struct output_column line_columns[] = {
	DELTA_COLUMNS,
	DIFF_COLUMN("body", TEXT, of.path, .header = "IN", .rank = 1, .elastic = true),
	DIFF_COLUMN("file", TEXT, of.file),
	DIFF_COLUMN(NULL, TEXT, where, .header = "LINE", .elastic = true, .cut_front = true),
	DIFF_COLUMN("source", TEXT, source, .header = "SOURCE", .rank = OUTPUT_IF_ANY,
		    .elastic = true),
};

#define SIDES(columns, own)                                                                  \
	{ .key = "baseline", AT(annotate_diff_row, of.sides[0]), COLUMNS(columns) },         \
		{ .key = "hardened", AT(annotate_diff_row, of.sides[1]), COLUMNS(columns) }, \
	{                                                                                    \
		COLUMNS(own)                                                                 \
	}
static const struct output_group body_groups[2][3] = { { SIDES(side_columns, body_columns) },
						       { SIDES(counted_columns, body_columns) } };
static const struct output_group line_groups[2][3] = { { SIDES(side_columns, line_columns) },
						       { SIDES(counted_columns, line_columns) } };

static const char *mark_estimate(const void *row, const struct output_group *group)
{
	const struct annotate_diff_row *r = row;

	/* Code that is not there costs nothing for sure. */
	if (group->key && !(r->of.sides[!strcmp(group->key, "hardened")].n_insns > 0))
		return NULL;
	return "~";
}

static void rows_set(struct view_rows *rows, const struct view_annotate_diff *c, bool are_lines)
{
	const struct analyze_annotate_diff_rows *from =
		are_lines ? &c->diff.lines : &c->diff.bodies;
	bool counted = c->sides[0].a.counted || c->sides[1].a.counted;

	rows_form(rows, c, from, are_lines);
	rows->section.groups = are_lines ? line_groups[counted] : body_groups[counted];
}

void annotate_diff_rows_init(struct view_rows *rows, const struct view_table *table,
			     const struct view_annotate_diff *c, enum annotate_diff_order order)
{
	struct annotate_diff_row *items;
	size_t n = 0;

	view_rows_init(rows, table, c, true);
	items = rows->owned;
	if (order == ANNOTATE_DIFF_ALL)
		return;
	for (size_t i = 0; i < rows->section.n_rows; i++)
		if (is_worth_a_row(&items[i]))
			items[n++] = items[i];
	rows->section.n_rows = n;
	if (order == ANNOTATE_DIFF_CHANGED)
		sort_array(items, n, sizeof(*items), change_compare);
}

static void bodies_rows(struct view_rows *rows, const void *data)
{
	rows_set(rows, data, false);
}

static void lines_rows(struct view_rows *rows, const void *data)
{
	rows_set(rows, data, true);
}

const struct view_table annotate_diff_bodies = {
	.name = "bodies",
	.first = 8,
	.title = "Inlined bodies, including bodies inlined into them, largest change first",
	.groups = body_groups[0],
	.n_groups = 3,
	.mark = mark_estimate,
	.rows = bodies_rows,
};

const struct view_table annotate_diff_lines = {
	.name = "lines",
	.first = 12,
	.title = "Lines, largest change first",
	.groups = line_groups[0],
	.n_groups = 3,
	.mark = mark_estimate,
	.rows = lines_rows,
};
