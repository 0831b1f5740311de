// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/why/tree.h"

#include <math.h>
#include <string.h>

#include "analyze/why/lines.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* Deeper stacks are of made-up files, as are so many nodes for each entry of one: of real ones it is less than one. */
#define MAX_DEPTH     4096
#define MAX_NODES     (1u << 20)
#define NODES_OF_EACH 8

#define MOST_OF_IT 0.5
/* Of a function between two others, how much more or less often it may be called than the other side calls the inner one. */
#define LAYER_TIMES 2

struct key {
	uint32_t parent;
	const char *name;
	bool apart;
};

static bool is_node(const void *ctx, uint32_t item, const void *key)
{
	const struct why_node *node = &((const struct why_tree *)ctx)->nodes[item];
	const struct key *k = key;

	return node->parent == k->parent && node->apart == k->apart && !strcmp(node->name, k->name);
}

static void add_node(struct why_tree *t, uint32_t parent, const char *name, bool apart)
{
	const struct why_node node = { .name = name,
				       .parent = parent,
				       .first_child = WHY_NONE,
				       .next = WHY_NONE,
				       .apart = apart };

	vec_push(t, nodes, node);
	if (t->n_nodes > 1) {
		t->nodes[t->n_nodes - 1].next = t->nodes[parent].first_child;
		t->nodes[parent].first_child = t->n_nodes - 1;
	}
}

static uint32_t hash_of(const struct key *key)
{
	return hash_string(key->name) + key->parent * 2654435761u + key->apart;
}

static uint32_t find_or_add(struct why_tree *t, const struct key *key)
{
	uint32_t found = hash_find_or_add(&t->index, hash_of(key), is_node, t, key, t->n_nodes);

	if (found == t->n_nodes)
		add_node(t, key->parent, key->name, key->apart);
	return found;
}

static uint32_t child(struct why_tree *t, uint32_t parent, const char *name)
{
	return find_or_add(t, &(struct key){ parent, name });
}

static bool is_line(const void *ctx, uint32_t item, const void *key)
{
	const struct why_line *a = &((const struct why_line_table *)ctx)->items[item], *b = key;

	return a->node == b->node && a->number == b->number &&
	       !strcmp(a->file ?: "", b->file ?: "");
}

static struct why_line *line_of(struct why_line_table *table, uint32_t node,
				const struct profile_frame *frame)
{
	struct why_line line = { .node = node, .number = frame->line, .file = frame->file };
	uint32_t hash = (frame->line + node * 2654435761u) ^ hash_string(frame->file ?: "");
	uint32_t found =
		hash_find_or_add(&table->index, hash, is_line, table, &line, table->n_items);

	if (found == table->n_items)
		vec_push(table, items, line);
	return &table->items[found];
}

/* Where a stack ends. */
struct end {
	uint32_t node;
	const struct profile_frame *frame; /* NULL: what it ends in has no name */
	const struct profile_frame *caller; /* NULL: not known */
	/* Whether the node is its own, rather than one with its caller, as parts of functions are and what calls itself. */
	bool called;
};

static void extend(struct why_node *node, const struct profile_frame *frame)
{
	if (!frame->line || !frame->file || (node->file && strcmp(node->file, frame->file) != 0))
		return;
	node->from = !node->file || frame->line < node->from ? frame->line : node->from;
	node->to = frame->line > node->to ? frame->line : node->to;
	node->file = frame->file;
}

/* Goes on to what is called from CALLER. */
static void call(struct why_tree *t, struct end *end, int side)
{
	struct key key = { end->node, end->frame->name };
	uint32_t callee = find_or_add(t, &key);

	if (t->nodes[callee].divided && end->caller)
		key.apart = line_of(&t->sites, callee, end->caller)->apart[side];
	end->node = key.apart ? find_or_add(t, &key) : callee;
}

static void enter(struct why_tree *t, struct end *end, const struct profile_frame *caller,
		  const struct profile_frame *frame, int side)
{
	end->caller = caller;
	end->frame = frame;
	end->called = strcmp(t->nodes[end->node].name, frame->name) != 0;
	if (end->called)
		call(t, end, side);
	t->nodes[end->node].nested[side] |= !end->called;
	t->nodes[end->node].inlined[side] |=
		frame->inlined && t->nodes[end->node].parent != WHY_ROOT;
	t->nodes[end->node].seen[side] = true;
	if (side)
		extend(&t->nodes[end->node], frame);
}

/* Where a stack's outer locations end: the next stack most likely has most of them too. */
struct step {
	uint32_t location, depth;
	struct end end;
};

/* A way through one side's stacks. */
struct walk {
	struct why_tree *t;
	const struct why_side *s;
	int side;
	bool *wanted; /* by context, whether S is of it */
	/* Where stacks end, most of which are of one context and several runs. */
	struct known {
		struct end end;
		uint32_t context;
		bool is;
	} * known;
	/* From the outermost location of the last stack, which was in CONTEXT. */
	vec_of(struct step, steps);
	uint32_t context;
};

static void walk_init(struct walk *w, struct why_tree *t, const struct why_side *s, int side)
{
	*w = (struct walk){ .t = t, .s = s, .side = side };
	w->known = alloc_array(s->p->n_stacks, sizeof(*w->known));
	w->wanted = alloc_array(s->p->n_contexts, sizeof(*w->wanted));
	for (uint32_t i = 0; i < s->p->n_contexts; i++) {
		w->wanted[i] = !s->contexts;
		for (const char *const *name = s->contexts; name && *name; name++)
			w->wanted[i] |= !strcmp(*name, s->p->contexts[i].name);
	}
}

static void walk_deinit(struct walk *w)
{
	free(w->known);
	free(w->wanted);
	free(w->steps);
}

static uint32_t n_runs(const struct walk *w)
{
	return w->s->end - w->s->first;
}

static bool is_wanted(const struct walk *w, uint32_t run, uint32_t context)
{
	return run - w->s->first < n_runs(w) && w->wanted[context];
}

/* Of STACK in CONTEXT; FUNCTION: its first location is the start of one, whatever is inlined there. */
static struct end descend(struct walk *w, uint32_t context, uint32_t stack, bool function)
{
	const struct profile *p = w->s->p;
	const struct profile_stack *s = &p->stacks[stack];
	struct step at = { .end.node = child(w->t, 0, p->contexts[context].name) };
	uint32_t same = 0;

	if (w->context != context)
		w->n_steps = 0;
	w->context = context;
	w->t->nodes[at.end.node].seen[w->side] = true;
	/* All but the first location, which FUNCTION may be of. */
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

static struct end find_end(struct walk *w, uint32_t context, uint32_t stack, bool function)
{
	struct known *known = &w->known[stack];

	if (!known->is || known->context != context)
		*known = (struct known){ descend(w, context, stack, function), context, true };
	return known->end;
}

/* How often an instruction of a node was executed, whoever called. */
struct times {
	struct end end;
	uint32_t location;
	double times;
};

define_compare(by_instruction, struct times,
	       compare_values(a->end.node, b->end.node) ?:
							  compare_values(a->location, b->location));

static void times_add(void *to, void *from)
{
	((struct times *)to)->times += ((struct times *)from)->times;
}

/* The loop that has its head at HEAD, if there is one: of that node, and of the bodies around it. */
static void add_loop(struct why_tree *t, const struct profile *p, const struct times *head,
		     int side)
{
	const struct profile_location *l = &p->locations[head->location];
	struct why_loop loop = { head->end.node, side, head->times,
				 profile_condition_of(p, head->location) };

	for (uint32_t k = 0; k < l->n_frames && loop.node && loop.condition; k++) {
		vec_push(t, loops, loop);
		loop.node = t->nodes[loop.node].parent;
	}
}

/* Of all instructions that have a line, *N of them; for free(). */
static struct times *find_times(struct walk *w, size_t *n)
{
	const struct profile *p = w->s->p;
	struct times *all = alloc_array(p->n_executions, sizeof(*all));

	*n = 0;
	vec_each(const struct profile_edge, e, p, executions) {
		struct end end;

		if (!is_wanted(w, e->run, e->context))
			continue;
		end = find_end(w, e->context, e->stack, false);
		if (end.frame && end.frame->line)
			all[(*n)++] = (struct times){ end, p->stacks[e->stack].locations[0],
						      (double)e->calls / n_runs(w) };
	}
	*n = unite_array(all, *n, sizeof(*all), by_instruction, times_add);
	return all;
}

static void add_times(struct walk *w)
{
	size_t n;
	scoped_free struct times *all = find_times(w, &n);

	for (size_t i = 0; i < n; i++) {
		struct why_line *line = line_of(&w->t->lines, all[i].end.node, all[i].end.frame);

		line->times[w->side] = fmax(line->times[w->side], all[i].times);
		add_loop(w->t, w->s->p, &all[i], w->side);
	}
}

/* To nodes, or to SITES, where they are called. */
static void add_calls(struct walk *w, bool sites)
{
	const struct profile *p = w->s->p;

	memset(w->known, 0, p->n_stacks * sizeof(*w->known));
	vec_each(const struct profile_edge, e, p, edges) {
		double n = (double)e->calls / n_runs(w);
		struct end end;

		if (!is_wanted(w, e->run, e->context))
			continue;
		end = find_end(w, e->context, e->stack, true);
		if (end.called)
			w->t->nodes[end.node].calls[w->side] += n;
		if (end.called && end.caller && sites)
			line_of(&w->t->sites, end.node, end.caller)->times[w->side] += n;
	}
}

/* Where each node is called, or has its body: those are executed as often as their most frequent instruction there. */
static void add_sites(struct why_tree *t, const struct why_side *s, int side)
{
	scoped(walk_deinit) struct walk w;
	struct times *all;
	size_t n;

	walk_init(&w, t, s, side);
	all = find_times(&w, &n);
	for (size_t i = 0; i < n; i++) {
		const struct end *end = &all[i].end;
		struct why_line *site;

		if (!end->frame->inlined || !end->called || !end->caller)
			continue;
		site = line_of(&t->sites, end->node, end->caller);
		site->times[side] = fmax(site->times[side], all[i].times);
	}
	free(all);
	add_calls(&w, true);
}

/* Calls from places that one side alone has get nodes of their own, for which all is to be counted anew. */
static void divide(struct why_tree *t)
{
	why_sites_divide(t);
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		struct why_node *node = &t->nodes[i];

		for (int side = 0; side < 2; side++) {
			node->seen[side] = node->inlined[side] = node->nested[side] = false;
			node->calls[side] = 0;
		}
		node->file = NULL;
	}
}

static const struct profile_frame user_code = { .name = "[user]" };

static void add_side(struct why_tree *t, const struct why_side *s, int side)
{
	const struct profile *p = s->p;
	scoped(walk_deinit) struct walk w;

	walk_init(&w, t, s, side);
	vec_each(const struct profile_sample, sample, p, samples) {
		double insns = (double)sample->count / n_runs(&w);
		struct end end;

		if (!is_wanted(&w, sample->run, sample->context))
			continue;
		end = find_end(&w, sample->context, sample->stack, false);
		if (sample->flags & PROFILE_SAMPLE_USER)
			enter(t, &end, NULL, &user_code, side);
		t->nodes[end.node].self[side] += insns;
		if (end.frame && end.frame->line)
			line_of(&t->lines, end.node, end.frame)->insns[side] += insns;
	}
	add_times(&w);
	add_calls(&w, false);
	vec_each(const struct profile_cell, c, p, cells) {
		uint32_t node;

		if (c->site || !is_wanted(&w, c->run, c->context))
			continue;
		node = child(t, 0, p->contexts[c->context].name); /* which moves all nodes */
		t->nodes[node].calls[side] += (double)c->stats.calls / n_runs(&w);
	}
}

static void sum_up(struct why_tree *t)
{
	for (uint32_t i = t->n_nodes; i-- > 0;) {
		struct why_node *node = &t->nodes[i];

		for (int side = 0; side < 2; side++) {
			node->total[side] += node->self[side];
			if (i)
				t->nodes[node->parent].total[side] += node->total[side];
		}
		if (node->seen[0] && node->seen[1])
			continue;
		node->alone += node->self[0] + node->self[1];
		if (i)
			t->nodes[node->parent].alone += node->alone;
	}
}

static bool is_of(const struct why_node *node, int side)
{
	return node->seen[side] && !node->seen[!side];
}

/* Moves what FROM and its callees have on SIDE to TO. */
static void graft(struct why_tree *t, uint32_t from, uint32_t to, int side)
{
	struct why_node *a = &t->nodes[from], *b = &t->nodes[to];

	b->self[side] += a->self[side];
	b->calls[side] += a->calls[side];
	b->inlined[side] |= a->inlined[side];
	b->nested[side] |= a->nested[side];
	b->seen[side] = true;
	a->self[side] = a->calls[side] = 0;
	a->seen[side] = false;
	a->moved = to;
	/* What has nothing of SIDE has no callee of it. */
	for (uint32_t i = a->first_child; i != WHY_NONE; i = t->nodes[i].next)
		if (t->nodes[i].seen[side])
			graft(t, i, child(t, to, t->nodes[i].name), side);
}

/*
 * Does SIDE call LAYER, and INNER from there, where the other side calls CALLEE, all three in PARENT? Then a call of PARENT calls one
 * about as often as the other. Another path to the same function, as one that is seldom taken, is no layer.
 */
static bool is_in_place(const struct why_tree *t, uint32_t parent, uint32_t layer, uint32_t inner,
			uint32_t callee, int side)
{
	/* Of inlined bodies no calls are counted. */
	double layers = (t->nodes[layer].calls[side] ?: t->nodes[inner].calls[side]) /
			why_tree_calls(t, parent, side);
	double callees = t->nodes[callee].calls[!side] / why_tree_calls(t, parent, !side);

	if (!(layers > 0) || !(callees > 0))
		return true;
	return layers <= LAYER_TIMES * callees && callees <= LAYER_TIMES * layers;
}

/* Puts below LAYER, which PARENT calls on SIDE only, what the other side calls from PARENT and SIDE from LAYER. */
static void graft_callees(struct why_tree *t, uint32_t parent, uint32_t layer, int side)
{
	for (uint32_t i = t->nodes[layer].first_child; i != WHY_NONE; i = t->nodes[i].next) {
		const struct key key = { parent, t->nodes[i].name };
		uint32_t found = hash_find(&t->index, hash_of(&key), is_node, t, &key);

		if (is_of(&t->nodes[i], side) && found != HASH_NONE &&
		    is_of(&t->nodes[found], !side) && is_in_place(t, parent, layer, i, found, side))
			graft(t, found, i, !side);
	}
}

/*
 * A call that one side has in an inlined body and the other in the code around it is one call: compilers give an
 * instruction to a body or to its caller as they please. It is the outer one's then.
 */
static void graft_call(struct why_tree *t, uint32_t node, int side)
{
	for (uint32_t body = t->nodes[node].parent;
	     t->nodes[body].inlined[side] && !is_of(&t->nodes[body], side);
	     body = t->nodes[body].parent) {
		const struct key key = { t->nodes[body].parent, t->nodes[node].name };
		uint32_t found = hash_find(&t->index, hash_of(&key), is_node, t, &key);

		if (found != HASH_NONE && is_of(&t->nodes[found], !side)) {
			graft(t, node, found, side);
			return;
		}
	}
}

static void graft_all(struct why_tree *t)
{
	uint32_t n = t->n_nodes, n_lines = t->lines.n_items;

	/* Grafting adds nodes only below those that are on both sides then. */
	for (uint32_t i = 1; i < n && t->n_nodes < t->max_nodes; i++)
		for (int side = 0; side < 2 && t->nodes[i].parent; side++)
			if (is_of(&t->nodes[i], side)) {
				graft_callees(t, t->nodes[i].parent, i, side);
				graft_call(t, i, side);
			}
	for (uint32_t i = 0; i < n_lines; i++) {
		struct why_line line = t->lines.items[i];
		const struct profile_frame frame = { .file = line.file, .line = line.number };

		for (int side = 0; side < 2; side++) {
			uint32_t node = line.node;

			/* What was put somewhere may have been put elsewhere from there. */
			while (!t->nodes[node].seen[side] && t->nodes[node].moved)
				node = t->nodes[node].moved;
			if (line.insns[side] > 0 && node != line.node) {
				struct why_line *to = line_of(&t->lines, node, &frame);

				to->insns[side] += line.insns[side];
				to->times[side] = fmax(to->times[side], line.times[side]);
			}
		}
	}
}

define_compare(by_place, struct why_line,
	       compare_values(a->node, b->node)       ?:
		       compare_text(a->file, b->file) ?:
							compare_values(a->number, b->number));

static void sort_lines(struct why_tree *t)
{
	hash_deinit(&t->lines.index);
	sort_array(t->lines.items, t->lines.n_items, sizeof(*t->lines.items), by_place);
	for (uint32_t i = t->lines.n_items; i-- > 0;) {
		struct why_node *node = &t->nodes[t->lines.items[i].node];

		node->first_line = i;
		node->n_lines++;
	}
}

static uint64_t n_entries(const struct profile *p)
{
	return (uint64_t)p->n_samples + p->n_edges;
}

void why_tree_init(struct why_tree *t, const struct why_side *baseline,
		   const struct why_side *hardened)
{
	*t = (struct why_tree){};
	t->max_nodes =
		MAX_NODES + NODES_OF_EACH * (n_entries(baseline->p) + n_entries(hardened->p));
	add_node(t, WHY_ROOT, "", false);
	add_sites(t, baseline, 0);
	add_sites(t, hardened, 1);
	divide(t);
	add_side(t, baseline, 0);
	add_side(t, hardened, 1);
	graft_all(t);
	sum_up(t);
	sort_lines(t);
}

void why_tree_deinit(struct why_tree *t)
{
	free(t->nodes);
	free(t->lines.items);
	free(t->sites.items);
	free(t->loops);
	hash_deinit(&t->sites.index);
	hash_deinit(&t->index);
	*t = (struct why_tree){};
}

uint32_t why_tree_apart(const struct why_tree *t, uint32_t node)
{
	const struct key key = { t->nodes[node].parent, t->nodes[node].name, true };
	uint32_t found = HASH_NONE;

	if (t->nodes[node].divided)
		found = hash_find(&t->index, hash_of(&key), is_node, t, &key);
	return found == HASH_NONE ? WHY_NONE : found;
}

uint32_t why_tree_most(const struct why_tree *t, uint32_t node, double all)
{
	for (uint32_t i = t->nodes[node].first_child; i != WHY_NONE; i = t->nodes[i].next)
		if (!(t->nodes[i].seen[0] && t->nodes[i].seen[1]) &&
		    t->nodes[i].alone >= MOST_OF_IT * all)
			return i;
	return WHY_NONE;
}

double why_tree_calls(const struct why_tree *t, uint32_t node, int side)
{
	while (node && t->nodes[node].inlined[side] && !t->nodes[node].calls[side])
		node = t->nodes[node].parent;
	return node && !t->nodes[node].inlined[side] && !t->nodes[node].nested[side] &&
			       t->nodes[node].calls[side] > 0 ?
		       t->nodes[node].calls[side] :
		       NAN;
}

uint32_t why_tree_context(const struct why_tree *t, const char *name)
{
	for (uint32_t i = t->nodes[0].first_child; i != WHY_NONE; i = t->nodes[i].next)
		if (!strcmp(t->nodes[i].name, name))
			return i;
	return WHY_NONE;
}
