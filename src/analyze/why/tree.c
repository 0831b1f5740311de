// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/why/tree.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"

/* Deeper stacks are of made-up files, as are so many nodes for each entry of one: of real ones it is less than one. */
#define MAX_DEPTH     4096
#define MAX_NODES     (1u << 20)
#define NODES_OF_EACH 8

#define MOST_OF_IT 0.5

struct key {
	uint32_t parent;
	const char *name;
};

static bool is_node(const void *ctx, uint32_t item, const void *key)
{
	const struct why_node *node = &((const struct why_tree *)ctx)->nodes[item];
	const struct key *k = key;

	return node->parent == k->parent && !strcmp(node->name, k->name);
}

static void add_node(struct why_tree *t, uint32_t parent, const char *name)
{
	const struct why_node node = {
		.name = name, .parent = parent, .first_child = WHY_NONE, .next = WHY_NONE
	};

	vec_push(t, nodes, node);
	if (parent != WHY_NONE) {
		t->nodes[t->n_nodes - 1].next = t->nodes[parent].first_child;
		t->nodes[parent].first_child = t->n_nodes - 1;
	}
}

static uint32_t hash_of(const struct key *key)
{
	return hash_string(key->name) + key->parent * 2654435761u;
}

static uint32_t child(struct why_tree *t, uint32_t parent, const char *name)
{
	const struct key key = { parent, name };
	uint32_t found = hash_find_or_add(&t->index, hash_of(&key), is_node, t, &key, t->n_nodes);

	if (found == t->n_nodes)
		add_node(t, parent, name);
	return found;
}

static bool is_line(const void *ctx, uint32_t item, const void *key)
{
	const struct why_line *a = &((const struct why_tree *)ctx)->lines[item], *b = key;

	return a->node == b->node && a->number == b->number &&
	       !strcmp(a->file ?: "", b->file ?: "");
}

static struct why_line *line_of(struct why_tree *t, uint32_t node,
				const struct profile_frame *frame)
{
	struct why_line line = { .node = node, .number = frame->line, .file = frame->file };
	uint32_t hash = (frame->line + node * 2654435761u) ^ hash_string(frame->file ?: "");
	uint32_t found = hash_find_or_add(&t->line_index, hash, is_line, t, &line, t->n_lines);

	if (found == t->n_lines)
		vec_push(t, lines, line);
	return &t->lines[found];
}

/* Where a stack ends. */
struct end {
	uint32_t node;
	const struct profile_frame *frame; /* NULL: what it ends in has no name */
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

static void enter(struct why_tree *t, struct end *end, const struct profile_frame *frame, int side)
{
	end->frame = frame;
	end->called = strcmp(t->nodes[end->node].name, frame->name) != 0;
	if (end->called)
		end->node = child(t, end->node, frame->name);
	t->nodes[end->node].nested[side] |= !end->called;
	t->nodes[end->node].inlined[side] |= frame->inlined;
	t->nodes[end->node].seen[side] = true;
	if (side)
		extend(&t->nodes[end->node], frame);
}

/* Of P's STACK in CONTEXT; FUNCTION: its first location is the start of one, whatever is inlined there. */
static struct end descend(struct why_tree *t, const struct profile *p, uint32_t context,
			  uint32_t stack, bool function, int side)
{
	const struct profile_stack *s = &p->stacks[stack];
	struct end end = { .node = child(t, 0, p->contexts[context].name) };
	uint32_t depth = 0;

	t->nodes[end.node].seen[side] = true;
	for (uint32_t i = s->n_locations; i-- > 0;) {
		const struct profile_location *l = &p->locations[s->locations[i]];
		uint32_t last = function && !i && l->n_frames ? l->n_frames - 1 : 0;

		end.frame = NULL;
		for (uint32_t k = l->n_frames;
		     k-- > last && depth < MAX_DEPTH && t->n_nodes < t->max_nodes; depth++)
			enter(t, &end, &l->frames[k], side);
	}
	return end;
}

/* Where stacks end, most of which are of one context and several runs. */
struct ends {
	struct end end;
	uint32_t context;
	bool known;
};

static struct end find_end(struct why_tree *t, const struct profile *p, struct ends *ends,
			   uint32_t context, uint32_t stack, bool function, int side)
{
	struct ends *e = &ends[stack];

	if (!e->known || e->context != context)
		*e = (struct ends){ descend(t, p, context, stack, function, side), context, true };
	return e->end;
}

/* By context, whether S is of it. */
static bool *contexts_of(const struct why_side *s)
{
	bool *wanted = alloc_array(s->p->n_contexts, sizeof(*wanted));

	for (uint32_t i = 0; i < s->p->n_contexts; i++) {
		wanted[i] = !s->contexts;
		for (const char *const *name = s->contexts; name && *name; name++)
			wanted[i] |= !strcmp(*name, s->p->contexts[i].name);
	}
	return wanted;
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

static void add_times(struct why_tree *t, const struct why_side *s, struct ends *ends,
		      const bool *wanted, int side)
{
	const struct profile *p = s->p;
	uint32_t n_runs = s->end - s->first;
	scoped_free struct times *all = alloc_array(p->n_executions, sizeof(*all));
	size_t n = 0;

	vec_each(const struct profile_edge, e, p, executions) {
		struct end end;

		if (e->run - s->first >= n_runs || !wanted[e->context])
			continue;
		end = find_end(t, p, ends, e->context, e->stack, false, side);
		if (end.frame && end.frame->line)
			all[n++] = (struct times){ end, p->stacks[e->stack].locations[0],
						   (double)e->calls / n_runs };
	}
	n = unite_array(all, n, sizeof(*all), by_instruction, times_add);
	for (size_t i = 0; i < n; i++) {
		struct why_line *line = line_of(t, all[i].end.node, all[i].end.frame);

		line->times[side] = fmax(line->times[side], all[i].times);
		add_loop(t, p, &all[i], side);
	}
}

static const struct profile_frame user_code = { .name = "[user]" };

static void add_side(struct why_tree *t, const struct why_side *s, int side)
{
	const struct profile *p = s->p;
	uint32_t n_runs = s->end - s->first;
	scoped_free struct ends *ends = alloc_array(p->n_stacks, sizeof(*ends));
	scoped_free bool *wanted = contexts_of(s);

	vec_each(const struct profile_sample, sample, p, samples) {
		double insns = (double)sample->count / n_runs;
		struct end end;

		if (sample->run - s->first >= n_runs || !wanted[sample->context])
			continue;
		end = find_end(t, p, ends, sample->context, sample->stack, false, side);
		if (sample->flags & PROFILE_SAMPLE_USER)
			enter(t, &end, &user_code, side);
		t->nodes[end.node].self[side] += insns;
		if (end.frame && end.frame->line)
			line_of(t, end.node, end.frame)->insns[side] += insns;
	}
	add_times(t, s, ends, wanted, side);
	memset(ends, 0, p->n_stacks * sizeof(*ends));
	vec_each(const struct profile_edge, e, p, edges) {
		struct end end;

		if (e->run - s->first >= n_runs || !wanted[e->context])
			continue;
		end = find_end(t, p, ends, e->context, e->stack, true, side);
		if (end.called)
			t->nodes[end.node].calls[side] += (double)e->calls / n_runs;
	}
	vec_each(const struct profile_cell, c, p, cells) {
		uint32_t node;

		if (c->site || c->run - s->first >= n_runs || !wanted[c->context])
			continue;
		node = child(t, 0, p->contexts[c->context].name); /* which moves all nodes */
		t->nodes[node].calls[side] += (double)c->stats.calls / n_runs;
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

/* Puts below LAYER, which PARENT calls on SIDE only, what the other side calls from PARENT and SIDE from LAYER. */
static void graft_callees(struct why_tree *t, uint32_t parent, uint32_t layer, int side)
{
	for (uint32_t i = t->nodes[layer].first_child; i != WHY_NONE; i = t->nodes[i].next) {
		const struct key key = { parent, t->nodes[i].name };
		uint32_t found = hash_find(&t->index, hash_of(&key), is_node, t, &key);

		if (is_of(&t->nodes[i], side) && found != HASH_NONE &&
		    is_of(&t->nodes[found], !side))
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
	uint32_t n = t->n_nodes, n_lines = t->n_lines;

	/* Grafting adds nodes only below those that are on both sides then. */
	for (uint32_t i = 1; i < n && t->n_nodes < t->max_nodes; i++)
		for (int side = 0; side < 2 && t->nodes[i].parent; side++)
			if (is_of(&t->nodes[i], side)) {
				graft_callees(t, t->nodes[i].parent, i, side);
				graft_call(t, i, side);
			}
	for (uint32_t i = 0; i < n_lines; i++) {
		struct why_line line = t->lines[i];
		const struct profile_frame frame = { .file = line.file, .line = line.number };

		for (int side = 0; side < 2; side++) {
			uint32_t node = line.node;

			/* What was put somewhere may have been put elsewhere from there. */
			while (!t->nodes[node].seen[side] && t->nodes[node].moved)
				node = t->nodes[node].moved;
			if (line.insns[side] > 0 && node != line.node) {
				struct why_line *to = line_of(t, node, &frame);

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
	hash_deinit(&t->line_index);
	sort_array(t->lines, t->n_lines, sizeof(*t->lines), by_place);
	for (uint32_t i = t->n_lines; i-- > 0;) {
		struct why_node *node = &t->nodes[t->lines[i].node];

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
	add_node(t, WHY_NONE, "");
	add_side(t, baseline, 0);
	add_side(t, hardened, 1);
	graft_all(t);
	sum_up(t);
	sort_lines(t);
}

void why_tree_deinit(struct why_tree *t)
{
	free(t->nodes);
	free(t->lines);
	free(t->loops);
	hash_deinit(&t->index);
	*t = (struct why_tree){};
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
