// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions and bodies through which at least half of the change of the main context passes, whoever calls them. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "view/page/columns.h"
#include "view/diff.h"

/* A function with what it calls: the sum of all places where it is called. */
struct line {
	const char *name, *inlined, *label;
	double totals[2], delta, error, share;
	double depth; /* the mean one, by size, once divided by WEIGHT */
	double weight;
};

static const struct output_column columns[] = {
	COLUMN(NULL, TEXT, line, label, .header = "FUNCTION"),
	COLUMN("name", TEXT, line, name),
	COLUMN("inlined", TEXT, line, inlined),
	COLUMN("baseline_total", TIME, line, totals[0], .header = "BASELINE/RUN", .rank = 1),
	COLUMN("hardened_total", TIME, line, totals[1], .header = "HARDENED/RUN"),
	COLUMN("delta_total", DELTA, line, delta, .header = "DELTA/RUN"),
	COLUMN("error", TIME, line, error, .header = "+-", .rank = OUTPUT_IF_ANY),
	COLUMN("share", FRACTION, line, share, .header = "SHARE"),
};

struct lines {
	vec_of(struct line, items);
};

define_compare(by_name, struct line, strcmp(a->name, b->name));
define_compare(by_depth, struct line,
	       compare_values(a->depth, b->depth) ?: strcmp(a->name, b->name));

static void add_line(void *to, void *from)
{
	struct line *a = to, *b = from;

	for (int side = 0; side < 2; side++)
		a->totals[side] += b->totals[side];
	a->error = hypot(a->error, b->error);
	a->depth += b->depth;
	a->weight += b->weight;
	a->inlined = a->inlined ? b->inlined : NULL;
}

/* Add NODE and all below, which are DEPTH calls below the context. What calls itself counts once. */
static void collect(struct lines *lines, const struct tree_pair *t, uint32_t context)
{
	for (uint32_t i = context + 1; i < t->n_nodes; i++) {
		const struct tree_pair_node *n = &t->nodes[i];
		double size = fabs(n->total[1] - n->total[0]);
		uint32_t at = n->parent, depth = 1;
		bool again = false;

		for (; at != context && at != TREE_ROOT; at = t->nodes[at].parent, depth++)
			again |= !strcmp(t->nodes[at].name, n->name);
		if (at != context || again)
			continue;
		vec_push(lines, items,
			 ((struct line){ .name = n->name,
					 .inlined = n->inlined[0] || n->inlined[1] ? "yes" : NULL,
					 .totals = { n->total[0], n->total[1] },
					 .error = hypot(n->doubt[0], n->doubt[1]),
					 .depth = depth * size,
					 .weight = size }));
	}
}

/*
 * Complete LINE, of a context that changed by ALL; samples tell its time with an error of so many standard deviations. Return
 * whether it is part of the way.
 */
static bool is_on_the_way(struct line *line, double all, double errors)
{
	line->delta = line->totals[1] - line->totals[0];
	line->share = line->delta / all;
	line->depth /= line->weight;
	line->error = line->error > 0 ? errors * line->error : NAN;
	return line->share >= MOST && !(fabs(line->delta) <= line->error);
}

/* Return the context whose change the rows are of; NULL: none. Of a timed function the other tables say more. */
static const struct why_context *context_of(const struct why *why)
{
	const struct why_context *main = why->n_contexts ? why_main_context(why) : NULL;
	const struct why_causes *causes = main ? &main->causes : NULL;

	if (!main || main->delta == 0)
		return NULL;
	if (why->tree.has_callers)
		return main;
	return causes->n_items && (why_is_untimed(why, causes, &causes->items[0]) ||
				   why->pair.nodes[causes->parts[causes->items[0].first_part].node]
					   .sampled) ?
		       main :
		       NULL;
}

static void rows(struct view_rows *rows, const void *data)
{
	const struct why *why = &((const struct view_diff *)data)->why;
	const struct why_context *main = context_of(why);
	struct lines lines = {};
	double errors = tree_sure_deviations(&why->tree);
	struct line *shown;
	uint32_t n = 0, kept = 0;

	if (main)
		collect(&lines, &why->pair, main->node);
	vec_unite(&lines, items, by_name, add_line);
	for (uint32_t i = 0; i < lines.n_items; i++)
		if (is_on_the_way(&lines.items[i], main->delta, errors))
			lines.items[n++] = lines.items[i];
	sort_array(lines.items, n, sizeof(*lines.items), by_depth);
	shown = view_rows_new(rows, n, sizeof(*shown));
	for (uint32_t i = 0; i < n; i++) {
		struct line *l = &shown[kept];

		/* The next one says it. */
		if (rows->for_people && i + 1 < n &&
		    fabs(lines.items[i + 1].share - lines.items[i].share) < HALF_A_PERCENT)
			continue;
		*l = lines.items[i];
		l->label = alloc_keep(&rows->texts, alloc_printf("%s%s", l->name,
								 l->inlined ? " (inlined)" : ""));
		kept++;
	}
	rows->section.n_rows = kept;
	free(lines.items);
}

static char *title(const void *data)
{
	const struct why *why = &((const struct view_diff *)data)->why;
	const struct why_context *main = context_of(why);

	return alloc_printf(
		"Functions with most of the change in %s, outermost first, including callees",
		main ? main->name : "a syscall");
}

const struct view_table diff_passage = {
	.name = "passage",
	.first = 12,
	.is_whole = true,
	.title_of = title,
	.legend = "SHARE is of the syscall's change. Functions with less than half of it are "
		  "omitted; of consecutive functions with the same share, only the last is shown",
	ONE_GROUP(columns),
	.rows = rows,
};
