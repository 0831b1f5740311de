// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/why/attribution.h"

#include <math.h>
#include <string.h>

#include "base/sorted.h"

/* A table shows at most MOST_SHOWN parts of a row. It hides a "rest" part below the fraction ROUNDING of the row's change. */
#define MOST_SHOWN 6
#define ROUNDING   1e-6

/* Own figures of a tree node in CONTEXT, in FUNCTION, and in the inlined function BODY. FUNCTION and BODY may be NULL. */
struct item {
	const struct why_context *context;
	const char *function, *body;
	double self[2], calls[2];
	bool sampled; /* samples found this cause: only its change (SELF[1]) is known */
};

struct items {
	vec_of(struct item, items);
};

/* A row and the items that it sums up: a context of the command, a function in a context, or an inlined function in a function. */
struct part {
	struct why_attribution_row row;
	const struct item *items; /* all items of the row */
	size_t n_items;
};

struct parts {
	vec_of(struct part, parts);
};

struct query {
	struct why_attribution *out;
	const struct why *w;
	struct pointers verdicts; /* rows of compared system calls, sorted by name */
	double largest; /* largest change of the contexts added so far */
};

define_compare(by_place, struct item,
	       compare_values(a->context, b->context)         ?:
		       compare_text(a->function, b->function) ?:
								compare_text(a->body, b->body));

define_compare(by_size, struct part,
	       compare_values(fabs(b->row.delta), fabs(a->row.delta)) ?:
		       strcmp(a->row.name, b->row.name));

define_compare(by_name, struct analyze_diff_row, strcmp(a->name, b->name));

/* Return whether N is inlined in at least one kernel, and neither kernel calls N as a separate function. */
static bool is_body(const struct tree_pair_node *n)
{
	for (int side = 0; side < 2; side++)
		if (n->calls[side] > 0 && !n->inlined[side])
			return false;
	return n->inlined[0] || n->inlined[1];
}

/* Samples find causes in contexts. Add an item for each such cause and context. OF[NODE] is the item of a context's node. */
static void add_sampled(struct items *list, const struct why *w, const struct item *of)
{
	const struct why_causes *c = &w->command.causes;

	vec_each(const struct why_share, share, c, shares) {
		const struct why_cause *cause = &c->items[share->cause];
		struct item item = of[share->context];

		if (!w->pair.nodes[c->parts[cause->first_part].node].sampled)
			continue;
		item.function = cause->name;
		item.self[1] = share->delta;
		item.sampled = true;
		vec_push(list, items, item);
	}
}

/* Return sorted items of all nodes and of add_sampled(). The time of a node found by samples belongs to the function above it. */
static struct items collect(const struct why *w)
{
	const struct tree_pair *t = &w->pair;
	scoped_free struct item *of = alloc_array(t->n_nodes, sizeof(*of));
	struct items list = {};

	vec_each(const struct why_context, c, w, contexts)
		of[c->node].context = c;
	add_sampled(&list, w, of);
	for (uint32_t i = 1; i < t->n_nodes; i++) {
		const struct tree_pair_node *n = &t->nodes[i];
		struct item *item = &of[i];

		if (n->parent != TREE_ROOT)
			*item = of[n->parent];
		if (n->parent != TREE_ROOT && !n->sampled) {
			item->body = is_body(n) ? n->name : NULL;
			item->function = is_body(n) ? item->function : n->name;
		}
		memcpy(item->self, n->self, sizeof(item->self));
		memcpy(item->calls, n->calls, sizeof(item->calls));
		if (item->context)
			vec_push(&list, items, *item);
	}
	sort_array(list.items, list.n_items, sizeof(*list.items), by_place);
	return list;
}

static const struct why_attribution_row no_row = { .share = NAN,
						   .calls = { NAN, NAN },
						   .totals = { NAN, NAN },
						   .by_calls = NAN,
						   .by_mean = NAN };

static struct part part_of(enum why_attributed kind, const char *name)
{
	struct part part = { .row = no_row };

	part.row.part = kind;
	part.row.name = name;
	return part;
}

/* Set the figures and changes in ROW. CALLS and TOTALS have the values of both kernels. */
static void set_figures(struct why_attribution_row *row, const double calls[2],
			const double totals[2])
{
	memcpy(row->totals, totals, sizeof(row->totals));
	row->delta = totals[1] - totals[0];
	if (!(calls[0] > 0) && !(calls[1] > 0))
		return;
	memcpy(row->calls, calls, sizeof(row->calls));
	/* BY_CALLS: change of the number of calls, times the baseline's mean time. BY_MEAN: the rest of the change. */
	row->by_calls = calls[0] > 0 && calls[1] > 0 ?
				(calls[1] - calls[0]) * (totals[0] / calls[0]) :
				row->delta;
	row->by_mean = row->delta - row->by_calls;
}

/* Return a part with the sums of N ITEMS. The calls of a function exclude those of functions inlined into it. */
static struct part part_with(enum why_attributed kind, const char *name, const struct item *items,
			     size_t n)
{
	struct part part = part_of(kind, name);
	double totals[2] = {}, calls[2] = {};

	part.items = items;
	part.n_items = n;
	for (size_t i = 0; i < n; i++)
		for (int side = 0; side < 2; side++) {
			totals[side] += items[i].self[side];
			if (kind != WHY_ATTRIBUTED_FUNCTION || !items[i].body)
				calls[side] += items[i].calls[side];
		}
	set_figures(&part.row, calls, totals);
	if (items->sampled) {
		part.row.how = ANALYZE_HOW_ESTIMATED;
		part.row.totals[0] = part.row.totals[1] = NAN;
	}
	return part;
}

/* Add a row to PARTS for the rest of the change, so that PARTS add up to WHOLE. */
static void add_rest(struct parts *parts, enum why_attributed kind, const char *name, double whole)
{
	struct part rest = part_of(kind, name);

	rest.row.delta = whole;
	for (uint32_t i = 0; i < parts->n_parts; i++)
		rest.row.delta -= parts->parts[i].row.delta;
	vec_push(parts, parts, rest);
}

static struct parts bodies_of(const struct part *function)
{
	const struct item *items = function->items;
	struct parts parts = {};

	for_each_run(i, j, function->n_items, same_text(items[i].body, items[j].body))
		if (items[i].body)
			vec_push(&parts, parts,
				 part_with(WHY_ATTRIBUTED_BODY, items[i].body, &items[i], j - i));
	if (parts.n_parts)
		add_rest(&parts, WHY_ATTRIBUTED_REST, "outside its inlined bodies",
			 function->row.delta);
	return parts;
}

static struct parts functions_of(const struct part *context)
{
	const struct item *items = context->items;
	double moved = items->context->moved;
	struct parts parts = {};

	for_each_run(i, j, context->n_items, same_text(items[i].function, items[j].function))
		if (items[i].function)
			vec_push(&parts, parts,
				 part_with(WHY_ATTRIBUTED_FUNCTION, items[i].function, &items[i],
					   j - i));
	if (moved != 0) {
		struct part part = part_of(WHY_ATTRIBUTED_MOVED, "moved between contexts");

		part.row.delta = moved;
		vec_push(&parts, parts, part);
	}
	if (parts.n_parts)
		add_rest(&parts, WHY_ATTRIBUTED_UNTIMED, "in no timed function",
			 context->row.delta);
	return parts;
}

static bool is_rest(enum why_attributed kind)
{
	return kind == WHY_ATTRIBUTED_OUTSIDE || kind == WHY_ATTRIBUTED_UNTIMED ||
	       kind == WHY_ATTRIBUTED_REST || kind == WHY_ATTRIBUTED_MOVED;
}

static void add_parts(struct query *q, struct parts *parts, double level, double whole,
		      bool hidden);

/* Add the rows below the row of PART: the functions of a context, or the inlined functions of a function. */
static void add_below(struct query *q, const struct part *part, double level, bool hidden)
{
	struct parts parts = {};

	if (part->row.part == WHY_ATTRIBUTED_CONTEXT) {
		q->largest = fmax(q->largest, fabs(part->row.delta));
		hidden |= fabs(part->row.delta) < WORTH_A_WORD * q->largest;
		parts = functions_of(part);
	} else if (part->row.part == WHY_ATTRIBUTED_FUNCTION && !part->row.how) {
		parts = bodies_of(part);
	}
	add_parts(q, &parts, level + 1, part->row.delta, hidden);
}

/* Sort PARTS by change, add their rows, and free PARTS. WHOLE is the parent row's change. HIDDEN: the parent row is hidden. */
static void add_parts(struct query *q, struct parts *parts, double level, double whole, bool hidden)
{
	struct why_attribution_row others = part_of(WHY_ATTRIBUTED_OTHERS, "").row;
	uint32_t shown = 0;

	sort_array(parts->parts, parts->n_parts, sizeof(*parts->parts), by_size);
	vec_each(struct part, part, parts, parts) {
		struct why_attribution_row *row = &part->row;
		bool small =
			shown >= MOST_SHOWN || !(fabs(row->delta) >= HALF_A_PERCENT * fabs(whole));

		row->level = others.level = level;
		row->share = whole != 0 ? row->delta / whole : NAN;
		small &= !is_rest(row->part) || fabs(row->delta) <= ROUNDING * fabs(whole);
		row->hidden = hidden || small;
		shown += !row->hidden;
		others.others += small;
		others.delta += small ? row->delta : 0;
		vec_push(q->out, rows, *row);
		add_below(q, part, level, row->hidden);
	}
	others.share = whole != 0 ? others.delta / whole : NAN;
	if (others.delta != 0 && !hidden)
		vec_push(q->out, rows, others);
	free(parts->parts);
}

static struct parts contexts_of(const struct query *q, const struct items *list)
{
	const struct item *items = list->items;
	struct parts parts = {};

	for_each_run(i, j, list->n_items, items[i].context == items[j].context) {
		const struct why_context *c = items[i].context;
		const struct analyze_diff_row key = { .name = c->name };
		struct part part = part_of(WHY_ATTRIBUTED_CONTEXT, c->name);
		size_t n;
		const void *const *found = pointers_find(&q->verdicts, &key, &n);

		part.items = &items[i];
		part.n_items = j - i;
		set_figures(&part.row, c->calls, c->total);
		part.row.verdict = n ? ((const struct analyze_diff_row *)*found)->change.verdict :
				       ANALYZE_VERDICT_NONE;
		vec_push(&parts, parts, part);
	}
	return parts;
}

/* Return the row of the command's CPU time, else of its time from start to exit, or NULL if neither is known in both kernels. */
static const struct analyze_diff_workload_row *find_command(const struct analyze_diff *diff)
{
	static const char *const names[] = { ANALYZE_COMMAND_CPU, ANALYZE_COMMAND };

	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		for (uint32_t i = 0; i < diff->n_workload; i++)
			if (!strcmp(diff->workload[i].name, names[k]) &&
			    !isnan(diff->workload[i].delta))
				return &diff->workload[i];
	return NULL;
}

void why_attribution_init(struct why_attribution *a, const struct why *w,
			  const struct analyze_diff *diff)
{
	const struct analyze_diff_workload_row *command = find_command(diff);
	struct query q = { .out = a, .w = w };
	struct items list = {};
	struct parts parts = {};
	struct part top;

	*a = (struct why_attribution){};
	if (!w->n_contexts)
		return;
	q.verdicts = pointers_sort(diff->syscalls.rows, diff->syscalls.n_rows,
				   sizeof(*diff->syscalls.rows), by_name);
	list = collect(w);
	parts = contexts_of(&q, &list);
	top = part_of(WHY_ATTRIBUTED_COMMAND,
		      command ? command->name : "all syscalls and page faults");
	for (uint32_t i = 0; i < parts.n_parts; i++)
		top.row.delta += parts.parts[i].row.delta;
	if (command) {
		top.row.delta = command->delta;
		top.row.how = command->how;
		top.row.verdict = command->change.verdict;
		add_rest(&parts, WHY_ATTRIBUTED_OUTSIDE,
			 diff->some ? "outside the syscalls measured" :
				      "outside sys_enter...sys_exit",
			 command->delta);
	}
	vec_push(a, rows, top.row);
	add_parts(&q, &parts, 1, top.row.delta, false);
	free(list.items);
	free(q.verdicts.items);
}

void why_attribution_deinit(struct why_attribution *a)
{
	free(a->rows);
	*a = (struct why_attribution){};
}
