// SPDX-License-Identifier: GPL-2.0-or-later
/* Fill a tree from exact recordings. Their samples cover all executed instructions, and all calls and executions are counted. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "tree/fill.h"
#include "tree/lines.h"

/* Limit for malformed files: real stacks have fewer frames. */
#define MAX_DEPTH 4096

/* The end of a walk down a call stack. */
struct end {
	uint32_t node; /* node of the innermost frame */
	const struct profile_frame *frame; /* innermost frame; NULL: it has no name */
	const struct profile_frame *caller; /* NULL: unknown */
	/* False for a recursive call or a part that the compiler split off the function: NODE is then the caller's node. */
	bool called;
};

static struct tree_line *site_of(struct tree *t, const struct end *end)
{
	return tree_line_find(&t->sites, end->node, end->caller);
}

/* Go down from the caller's node, in END, to the node of its callee, END->frame. */
static void call(struct tree *t, struct end *end, int side)
{
	struct tree_key key = { end->node, end->frame->name };

	end->node = tree_find_or_add(t, &key);
	if (t->nodes[end->node].divided && end->caller)
		key.extra = site_of(t, end)->extra[side];
	if (key.extra)
		end->node = tree_find_or_add(t, &key);
}

static void enter(struct tree *t, struct end *end, const struct profile_frame *caller,
		  const struct profile_frame *frame, int side)
{
	struct tree_node *node;

	end->caller = caller;
	end->frame = frame;
	end->called = strcmp(t->nodes[end->node].name, frame->name) != 0;
	if (end->called)
		call(t, end, side);
	node = &t->nodes[end->node];
	node->nested[side] |= !end->called;
	node->inlined[side] |= frame->inlined && node->parent != TREE_ROOT;
	tree_extend(node, frame, side);
}

/* A walk's state after LOCATION. The next stack probably has the same outer locations, and its walk can reuse these steps. */
struct step {
	uint32_t location, depth;
	struct end end;
};

struct walk {
	struct tree *t;
	const struct profile *p;
	int side;
	/* Cache: end of the last walk down each stack. Most stacks occur in several runs, but always in the same context. */
	struct known {
		struct end end;
		uint32_t context;
		bool is;
	} * known;
	/* Steps of the last stack, outermost first. The stack was in CONTEXT. */
	vec_of(struct step, steps);
	uint32_t context;
};

static void walk_init(struct walk *w, struct tree *t, int side)
{
	*w = (struct walk){ .t = t, .p = t->p[side], .side = side };
	w->known = alloc_array(w->p->n_stacks, sizeof(*w->known));
}

static void walk_deinit(struct walk *w)
{
	free(w->known);
	free(w->steps);
}

static uint32_t column_of(const struct walk *w, uint32_t run)
{
	return tree_column(w->t, w->side, run);
}

static uint32_t context_node(struct walk *w, uint32_t context)
{
	return tree_find_or_add(w->t,
				&(struct tree_key){ TREE_ROOT, w->p->contexts[context].name });
}

/* Walk down STACK in CONTEXT, and return the end. FUNCTION: STACK ends at a function's entry, so omit functions inlined there. */
static struct end descend(struct walk *w, uint32_t context, uint32_t stack, bool function)
{
	const struct profile *p = w->p;
	const struct profile_stack *s = &p->stacks[stack];
	struct step at = { .end.node = context_node(w, context) };
	uint32_t same = 0;

	if (w->context != context)
		w->n_steps = 0;
	w->context = context;
	/* Reuse steps except the innermost, which depends on FUNCTION. */
	while (same < w->n_steps && same + 1 < s->n_locations &&
	       w->steps[same].location == s->locations[s->n_locations - 1 - same])
		at = w->steps[same++];
	w->n_steps = same;
	for (uint32_t i = s->n_locations - same; i-- > 0;) {
		const struct profile_location *l = &p->locations[s->locations[i]];
		uint32_t last = function && !i && l->n_frames ? l->n_frames - 1 : 0;
		const struct profile_frame *caller = at.end.frame;

		at.location = s->locations[i];
		at.end.frame = NULL;
		for (uint32_t k = l->n_frames;
		     k-- > last && at.depth < MAX_DEPTH && w->t->n_nodes < w->t->max_nodes;
		     at.depth++) {
			enter(w->t, &at.end, caller, &l->frames[k], w->side);
			caller = at.end.frame;
		}
		if (i)
			vec_push(w, steps, at);
	}
	return at.end;
}

/* Return the end of a walk down STACK. Mark the innermost frame's node as executed by RUN. */
static struct end find_end(struct walk *w, uint32_t run, uint32_t context, uint32_t stack,
			   bool function)
{
	struct known *known = &w->known[stack];

	if (!known->is || known->context != context)
		*known = (struct known){ descend(w, context, stack, function), context, true };
	tree_value_of(w->t, known->end.node, column_of(w, run))->seen = true;
	return known->end;
}

/* Return how often each instruction with a known source line is executed. Set *N to the array's length. The caller frees it. */
static struct tree_times *find_times(struct walk *w, size_t *n)
{
	const struct profile *p = w->p;
	struct tree_times *all = alloc_array(p->n_executions, sizeof(*all));

	*n = 0;
	vec_each(const struct profile_edge, e, p, executions) {
		struct end end;

		if (column_of(w, e->run) == TREE_NONE)
			continue;
		end = find_end(w, e->run, e->context, e->stack, false);
		if (end.frame && end.frame->line)
			all[(*n)++] =
				(struct tree_times){ .node = end.node,
						     .frame = end.frame,
						     .caller = end.called ? end.caller : NULL,
						     .location = p->stacks[e->stack].locations[0],
						     .column = column_of(w, e->run),
						     .times = (double)e->calls };
	}
	*n = tree_times_unite(all, *n);
	return all;
}

/* Add the numbers of calls to the called nodes. If SITES, also add them to the source lines that make the calls. */
static void add_calls(struct walk *w, bool sites)
{
	const struct profile *p = w->p;

	memset(w->known, 0, p->n_stacks * sizeof(*w->known));
	vec_each(const struct profile_edge, e, p, edges) {
		double calls = (double)e->calls;
		struct end end;

		if (column_of(w, e->run) == TREE_NONE)
			continue;
		end = find_end(w, e->run, e->context, e->stack, true);
		if (end.called)
			tree_value_of(w->t, end.node, column_of(w, e->run))->times += calls;
		if (end.called && end.caller && sites)
			site_of(w->t, &end)->times[w->side] += calls / w->t->n_runs[w->side];
	}
}

/* Add the source lines that call or inline each node to T->sites. An inlined function runs as often as its busiest instruction. */
static void add_sites(struct tree *t, int side)
{
	scoped(walk_deinit) struct walk w;
	struct tree_times *all;
	size_t n;

	walk_init(&w, t, side);
	all = find_times(&w, &n);
	for_each_run(i, j, n, tree_times_same(&all[i], &all[j])) {
		struct tree_line *site;

		if (!all[i].frame->inlined || !all[i].caller)
			continue;
		site = tree_line_find(&t->sites, all[i].node, all[i].caller);
		site->times[side] =
			fmax(site->times[side], tree_times_per_run(t, side, &all[i], j - i));
	}
	free(all);
	add_calls(&w, true);
}

/* Give functions EXTRA nodes for calls from source lines that only one kernel has. Reset all values, to count them again. */
static void divide(struct tree *t)
{
	tree_sites_divide(t);
	memset(t->values, 0, t->n_values * sizeof(*t->values));
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		struct tree_node *node = &t->nodes[i];

		for (int side = 0; side < 2; side++)
			node->inlined[side] = node->nested[side] = false;
		memset(node->file, 0, sizeof(node->file));
		memset(node->to, 0, sizeof(node->to));
	}
}

static const struct profile_frame user_code = { .name = "[user]" };

static void add_sample(struct walk *w, const struct profile_sample *sample)
{
	struct end end = find_end(w, sample->run, sample->context, sample->stack, false);
	uint32_t column = column_of(w, sample->run);
	double insns = (double)sample->count;
	struct tree_value *value;

	if (sample->flags & PROFILE_SAMPLE_USER)
		enter(w->t, &end, NULL, &user_code, w->side);
	value = tree_value_of(w->t, end.node, column);
	value->insns += insns;
	value->seen = true;
	if (end.frame && end.frame->line)
		tree_line_value(w->t, end.node, end.frame, column)->insns += insns;
}

static void add_side(struct tree *t, int side)
{
	const struct profile *p = t->p[side];
	scoped(walk_deinit) struct walk w;
	scoped_free struct tree_times *times = NULL;
	size_t n;

	walk_init(&w, t, side);
	vec_each(const struct profile_sample, sample, p, samples)
		if (column_of(&w, sample->run) != TREE_NONE)
			add_sample(&w, sample);
	times = find_times(&w, &n);
	tree_times_add(t, side, times, n);
	add_calls(&w, false);
	vec_each(const struct profile_cell, c, p, cells)
		if (!c->site && column_of(&w, c->run) != TREE_NONE) {
			uint32_t node = context_node(&w, c->context);

			tree_value_of(t, node, column_of(&w, c->run))->times +=
				(double)c->stats.calls;
		}
}

void tree_fill_exact(struct tree *t)
{
	add_sites(t, 0);
	add_sites(t, 1);
	divide(t);
	add_side(t, 0);
	add_side(t, 1);
}
