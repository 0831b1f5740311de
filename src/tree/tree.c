// SPDX-License-Identifier: GPL-2.0-or-later
#include "tree/tree.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "tree/lines.h"

/* Deeper stacks are of made-up files, as are so many nodes for each entry of one: of real ones it is less than one. */
#define MAX_DEPTH     4096
#define MAX_NODES     (1u << 20)
#define NODES_OF_EACH 8
#define MAX_VALUES    (1u << 27)

static bool is_node(const void *ctx, uint32_t item, const void *key)
{
	const struct tree_node *node = &((const struct tree *)ctx)->nodes[item];
	const struct tree_key *k = key;

	return node->parent == k->parent && node->apart == k->apart && !strcmp(node->name, k->name);
}

static void add_values(struct tree *t)
{
	for (uint32_t i = 0; i < tree_columns(t); i++)
		vec_push(t, values, (struct tree_value){});
}

static void add_node(struct tree *t, uint32_t parent, const char *name, bool apart)
{
	const struct tree_node node = { .name = name,
					.parent = parent,
					.first_child = TREE_NONE,
					.next = TREE_NONE,
					.apart = apart };

	vec_push(t, nodes, node);
	add_values(t);
	if (t->n_nodes > 1) {
		t->nodes[t->n_nodes - 1].next = t->nodes[parent].first_child;
		t->nodes[parent].first_child = t->n_nodes - 1;
	}
}

uint32_t tree_key_hash(const struct tree_key *key)
{
	return hash_string(key->name) + key->parent * 2654435761u + key->apart;
}

static uint32_t find_or_add(struct tree *t, const struct tree_key *key)
{
	uint32_t found =
		hash_find_or_add(&t->index, tree_key_hash(key), is_node, t, key, t->n_nodes);

	if (found == t->n_nodes)
		add_node(t, key->parent, key->name, key->apart);
	return found;
}

static bool is_line(const void *ctx, uint32_t item, const void *key)
{
	const struct tree_line *a = &((const struct tree_line_table *)ctx)->items[item], *b = key;

	return a->node == b->node && a->number == b->number &&
	       !strcmp(a->file ?: "", b->file ?: "");
}

struct tree_line *tree_line_find(struct tree_line_table *table, uint32_t node,
				 const struct profile_frame *frame)
{
	struct tree_line line = { .node = node, .number = frame->line, .file = frame->file };
	uint32_t hash = (frame->line + node * 2654435761u) ^ hash_string(frame->file ?: "");
	uint32_t found =
		hash_find_or_add(&table->index, hash, is_line, table, &line, table->n_items);

	if (found == table->n_items)
		vec_push(table, items, line);
	return &table->items[found];
}

uint32_t tree_repetition(const struct tree *t, int side, uint32_t run)
{
	return (uint32_t)((uint64_t)run * t->n_repetitions[side] / t->p[side]->n_runs);
}

uint32_t tree_runs(const struct tree *t, int side, uint32_t i)
{
	uint64_t runs = t->p[side]->n_runs, n = t->n_repetitions[side];

	/* The first run of repetition I is the least one that tree_repetition() puts there. */
	return (uint32_t)(((i + 1) * runs + n - 1) / n - (i * runs + n - 1) / n);
}

/* A way through one side's stacks. */
struct end {
	uint32_t node; /* that the stack ends in */
	const struct profile_frame *frame; /* NULL: the stack's end has no name */
	const struct profile_frame *caller; /* NULL: not known */
	/* Whether the node is its own, rather than one with its caller, as parts of functions are and what calls itself. */
	bool called;
};

static void extend(struct tree_node *node, const struct profile_frame *frame, int side)
{
	const char *file = node->file[side];

	if (!frame->line || !frame->file || (file && strcmp(file, frame->file) != 0))
		return;
	node->from[side] = !file || frame->line < node->from[side] ? frame->line : node->from[side];
	node->to[side] = frame->line > node->to[side] ? frame->line : node->to[side];
	node->file[side] = frame->file;
}

static struct tree_value *value_of(struct tree *t, uint32_t node, uint32_t column)
{
	return &t->values[(size_t)node * tree_columns(t) + column];
}

static struct tree_value *line_value(struct tree *t, uint32_t node,
				     const struct profile_frame *frame, uint32_t column)
{
	const struct tree_line *line = tree_line_find(&t->lines, node, frame);

	while (t->n_line_values < (size_t)t->lines.n_items * tree_columns(t))
		vec_push(t, line_values, (struct tree_value){});
	return &t->line_values[(size_t)(line - t->lines.items) * tree_columns(t) + column];
}

static struct tree_line *site_of(struct tree *t, const struct end *end)
{
	return tree_line_find(&t->sites, end->node, end->caller);
}

/* Goes on to what is called from CALLER. */
static void call(struct tree *t, struct end *end, int side)
{
	struct tree_key key = { end->node, end->frame->name };

	end->node = find_or_add(t, &key);
	if (t->nodes[end->node].divided && end->caller)
		key.apart = site_of(t, end)->apart[side];
	if (key.apart)
		end->node = find_or_add(t, &key);
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
	extend(node, frame, side);
}

/* Where a stack's outer locations end: the next stack most likely has most of them too. */
struct step {
	uint32_t location, depth;
	struct end end;
};

struct walk {
	struct tree *t;
	const struct profile *p;
	int side;
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
	return (w->side ? w->t->n_repetitions[0] : 0) + tree_repetition(w->t, w->side, run);
}

/* The node of a context. */
static uint32_t context_node(struct walk *w, uint32_t context)
{
	return find_or_add(w->t, &(struct tree_key){ TREE_ROOT, w->p->contexts[context].name });
}

/* Of STACK in CONTEXT; FUNCTION: its first location is the start of one, whatever is inlined there. */
static struct end descend(struct walk *w, uint32_t context, uint32_t stack, bool function)
{
	const struct profile *p = w->p;
	const struct profile_stack *s = &p->stacks[stack];
	struct step at = { .end.node = context_node(w, context) };
	uint32_t same = 0;

	if (w->context != context)
		w->n_steps = 0;
	w->context = context;
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

/* Return where STACK ends, which RUN executes. */
static struct end find_end(struct walk *w, uint32_t run, uint32_t context, uint32_t stack,
			   bool function)
{
	struct known *known = &w->known[stack];

	if (!known->is || known->context != context)
		*known = (struct known){ descend(w, context, stack, function), context, true };
	value_of(w->t, known->end.node, column_of(w, run))->seen = true;
	return known->end;
}

/* How often an instruction of a node was executed in a repetition, whoever called. */
struct times {
	struct end end;
	uint32_t location, column;
	double times;
};

define_compare(by_instruction, struct times,
	       compare_values(a->end.node, b->end.node)         ?:
		       compare_values(a->location, b->location) ?:
		       compare_values(a->column, b->column));

static void times_add(void *to, void *from)
{
	((struct times *)to)->times += ((struct times *)from)->times;
}

/* The loop that has its head at HEAD, if there is one: of that node, and of the bodies around it. */
static void add_loop(struct tree *t, const struct profile *p, const struct times *head, int side,
		     double times)
{
	const struct profile_location *l = &p->locations[head->location];
	struct tree_loop loop = { head->end.node, side, times,
				  profile_condition_of(p, head->location) };

	for (uint32_t k = 0; k < l->n_frames && loop.node && loop.condition; k++) {
		vec_push(t, loops, loop);
		loop.node = t->nodes[loop.node].parent;
	}
}

/* Of all instructions that have a line, *N of them; for free(). */
static struct times *find_times(struct walk *w, size_t *n)
{
	const struct profile *p = w->p;
	struct times *all = alloc_array(p->n_executions, sizeof(*all));

	*n = 0;
	vec_each(const struct profile_edge, e, p, executions) {
		struct end end = find_end(w, e->run, e->context, e->stack, false);

		if (end.frame && end.frame->line)
			all[(*n)++] = (struct times){ end, p->stacks[e->stack].locations[0],
						      column_of(w, e->run), (double)e->calls };
	}
	*n = unite_array(all, *n, sizeof(*all), by_instruction, times_add);
	return all;
}

/* Return the executions per run of the instruction that the N of TIMES are of. */
static double per_run(const struct walk *w, const struct times *times, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += times[i].times;
	return sum / w->p->n_runs;
}

static bool same_instruction(const struct times *a, const struct times *b)
{
	return a->end.node == b->end.node && a->location == b->location;
}

static void add_times(struct walk *w)
{
	size_t n;
	scoped_free struct times *all = find_times(w, &n);

	for_each_run(i, j, n, same_instruction(&all[i], &all[j])) {
		for (size_t k = i; k < j; k++) {
			struct tree_value *line =
				line_value(w->t, all[k].end.node, all[k].end.frame, all[k].column);

			line->times = fmax(line->times, all[k].times);
		}
		add_loop(w->t, w->p, &all[i], w->side, per_run(w, &all[i], j - i));
	}
}

/* To nodes, or to SITES, where they are called. */
static void add_calls(struct walk *w, bool sites)
{
	const struct profile *p = w->p;

	memset(w->known, 0, p->n_stacks * sizeof(*w->known));
	vec_each(const struct profile_edge, e, p, edges) {
		struct end end = find_end(w, e->run, e->context, e->stack, true);
		double calls = (double)e->calls;

		if (end.called)
			value_of(w->t, end.node, column_of(w, e->run))->times += calls;
		if (end.called && end.caller && sites)
			site_of(w->t, &end)->times[w->side] += calls / p->n_runs;
	}
}

/* Where each node is called, or has its body: those are executed as often as their most frequent instruction there. */
static void add_sites(struct tree *t, int side)
{
	scoped(walk_deinit) struct walk w;
	struct times *all;
	size_t n;

	walk_init(&w, t, side);
	all = find_times(&w, &n);
	for_each_run(i, j, n, same_instruction(&all[i], &all[j])) {
		const struct end *end = &all[i].end;
		struct tree_line *site;

		if (!end->frame->inlined || !end->called || !end->caller)
			continue;
		site = site_of(t, end);
		site->times[side] = fmax(site->times[side], per_run(&w, &all[i], j - i));
	}
	free(all);
	add_calls(&w, true);
}

/* Calls from places that one side alone has get nodes of their own, for which all is to be counted anew. */
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
	value = value_of(w->t, end.node, column);
	value->insns += insns;
	value->seen = true;
	if (end.frame && end.frame->line)
		line_value(w->t, end.node, end.frame, column)->insns += insns;
}

static void add_side(struct tree *t, int side)
{
	const struct profile *p = t->p[side];
	scoped(walk_deinit) struct walk w;

	walk_init(&w, t, side);
	vec_each(const struct profile_sample, sample, p, samples)
		add_sample(&w, sample);
	add_times(&w);
	add_calls(&w, false);
	vec_each(const struct profile_cell, c, p, cells)
		if (!c->site) {
			uint32_t node = context_node(&w, c->context);

			value_of(t, node, column_of(&w, c->run))->times += (double)c->stats.calls;
		}
}

/* A node is seen where one below it is. */
static void spread_seen(struct tree *t)
{
	for (uint32_t i = t->n_nodes; i-- > 1;)
		for (uint32_t c = 0; c < tree_columns(t); c++)
			value_of(t, t->nodes[i].parent, c)->seen |= value_of(t, i, c)->seen;
}

static const char *command_name(const struct profile *p)
{
	const char *path = p->n_args ? p->args[0] : "the command";

	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

void tree_init(struct tree *t, const struct profile *baseline, const struct profile *hardened)
{
	*t = (struct tree){ .p = { baseline, hardened }, .max_nodes = MAX_NODES };
	for (int side = 0; side < 2; side++) {
		const struct profile *p = t->p[side];

		t->n_repetitions[side] =
			p->n_runs < TREE_REPETITIONS ? p->n_runs : TREE_REPETITIONS;
		t->max_nodes += NODES_OF_EACH * ((uint64_t)p->n_samples + p->n_edges);
	}
	if (t->max_nodes > MAX_VALUES / tree_columns(t))
		t->max_nodes = MAX_VALUES / tree_columns(t);
	add_node(t, TREE_ROOT, command_name(hardened), false);
	add_sites(t, 0);
	add_sites(t, 1);
	divide(t);
	add_side(t, 0);
	add_side(t, 1);
	spread_seen(t);
}

void tree_deinit(struct tree *t)
{
	free(t->nodes);
	free(t->values);
	free(t->lines.items);
	free(t->line_values);
	free(t->sites.items);
	free(t->loops);
	hash_deinit(&t->lines.index);
	hash_deinit(&t->sites.index);
	hash_deinit(&t->index);
	*t = (struct tree){};
}
