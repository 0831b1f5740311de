// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of functions whose blocks were counted on both sides: in sentences, and in rows. */
#include <math.h>

#include "base/alloc.h"
#include "output/number.h"
#include "view/page/columns.h"
#include "view/diff.h"
#include "view/names.h"
#include "view/words.h"

/* Sentences on the first screen. */
#define FIRST 5

struct line {
	struct analyze_counted_change row;
	const char *what, *text;
};

static const struct output_column columns[] = {
	COLUMN("kind", TEXT, line, row.kind, .names = view_counted_kinds),
	COLUMN("function", TEXT, line, row.function),
	COLUMN("what", TEXT, line, what),
	COLUMN("through", TEXT, line, row.through),
	COLUMN("baseline_often", FRACTION, line, row.often[0]),
	COLUMN("hardened_often", FRACTION, line, row.often[1]),
	COLUMN("baseline_cost", FRACTION, line, row.cost[0]),
	COLUMN("hardened_cost", FRACTION, line, row.cost[1]),
	COLUMN("text", TEXT, line, text),
};

/* Return a phrase for the subject of ROW, for free(). */
static char *what(const struct analyze_counted_change *row)
{
	const struct analyze_loop *l = row->loop;
	char *text = NULL;

	if (!l)
		return alloc_strdup(row->callee);
	if (!l->location)
		alloc_append(&text, "loop at %s+%.0f", l->function, l->offset);
	else if (!l->body)
		alloc_append(&text, "loop at %s in %s", l->location, l->function);
	else
		alloc_append(&text, "loop at %s (%s) in %s", l->location, l->body, l->function);
	return text;
}

static char *loop_text(const struct analyze_counted_change *row, const char *of)
{
	int side = isnan(row->often[VIEW_HARDENED]) ? VIEW_BASELINE : VIEW_HARDENED;
	char *text = NULL;

	alloc_append(&text, "%s: %.1f iterations per call, %.1f instructions each%s%s (", of,
		     row->often[side], row->cost[side], row->loop->condition ? ", while " : "",
		     row->loop->condition ?: "");
	if (isnan(row->often[!side]))
		alloc_append(&text, "%s side only)", view_side_names[side]);
	else
		alloc_append(&text, "baseline: %.1f of %.1f)", row->often[0], row->cost[0]);
	return text;
}

static char *call_text(const struct analyze_counted_change *row)
{
	double was = row->often[0], is = row->often[1];
	char *text = NULL;

	if (!isnan(row->slow[1]))
		return alloc_printf(
			"%s takes its slow path, %s via %s, in %.3g %% of its calls (baseline: "
			"%.3g %%)",
			row->function, row->through, row->callee, 100 * row->slow[1],
			100 * row->slow[0]);
	if (was <= 1 && is <= 1)
		alloc_append(&text, "%s calls %s in %.3g %% of its calls (baseline: %.3g %%)",
			     row->function, row->callee, 100 * is, 100 * was);
	else
		alloc_append(&text, "%s calls %s %s times per call (baseline: %s times)",
			     row->function, row->callee, output_digits(is, 3),
			     output_digits(was, 3));
	if (row->through)
		alloc_append(&text, "; on the hardened side most of its time is in %s",
			     row->through);
	return text;
}

static bool make_line(struct view_rows *rows, void *line, const void *data)
{
	struct line *l = line;

	(void)data;
	l->what = alloc_keep(&rows->texts, what(&l->row));
	l->text = alloc_keep(&rows->texts, l->row.kind == ANALYZE_COUNTED_LOOP ?
						   loop_text(&l->row, l->what) :
						   call_text(&l->row));
	return true;
}

static void page(const struct view *v, const void *data)
{
	const struct view_diff *c = data;
	uint32_t most = v->everything ? c->counted.n_rows : FIRST, i;
	const struct line *lines;
	struct view_rows all;

	if (!c->counted.n_functions)
		return;
	view_text(v, "Loops and calls of functions with block counts%s",
		  c->counted.n_rows ? ":" : ": no change.");
	view_rows_init(&all, &diff_block_changes, data, true);
	lines = all.section.rows;
	for (i = 0; i < c->counted.n_rows && i < most; i++)
		view_text(v, "- %s", lines[i].text);
	view_rows_deinit(&all);
	if (i < c->counted.n_rows)
		view_text(v, "(%u more: --section=block_changes)", c->counted.n_rows - i);
}

const struct view_table diff_block_changes = {
	.name = "block_changes",
	.first = 1,
	ONE_GROUP(columns),
	VIEW_LIST(view_diff, counted.rows, counted.n_rows),
	VIEW_LINES(line, make_line),
	.page = page,
};
