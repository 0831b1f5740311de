// SPDX-License-Identifier: GPL-2.0-or-later
#include "tree/pair.h"

#include <math.h>
#include <string.h>

#include "analyze/stats/statistics.h"
#include "base/sorted.h"
#include "tree/fill.h"

/* One set of repetitions may call a function through a LAYER, the other directly. The calls may differ by up to this factor. */
#define LAYER_TIMES 2

static bool is_node(const void *ctx, uint32_t item, const void *key)
{
	const struct tree_pair_node *node = &((const struct tree_pair *)ctx)->nodes[item];
	const struct tree_key *k = key;

	return node->parent == k->parent && node->extra == k->extra && !strcmp(node->name, k->name);
}

/* Return PARENT's child with this NAME. Add the child if there is none. */
static uint32_t child(struct tree_pair *t, uint32_t parent, const char *name)
{
	const struct tree_key key = { parent, name };
	const struct tree_pair_node node = { .name = name,
					     .parent = parent,
					     .first_child = TREE_NONE,
					     .next = t->nodes[parent].first_child };
	uint32_t found =
		hash_find_or_add(&t->index, tree_key_hash(&key), is_node, t, &key, t->n_nodes);

	if (found == t->n_nodes) {
		vec_push(t, nodes, node);
		t->nodes[parent].first_child = found;
	}
	return found;
}

static void sum_up(struct tree_pair *t)
{
	for (uint32_t i = t->n_nodes; i-- > 0;) {
		struct tree_pair_node *node = &t->nodes[i];

		for (int side = 0; side < 2; side++) {
			node->total[side] += node->self[side];
			if (i)
				t->nodes[node->parent].total[side] += node->total[side];
		}
		if (node->seen[0] && node->seen[1])
			continue;
		node->one_sided += node->self[0] + node->self[1];
		if (i)
			t->nodes[node->parent].one_sided += node->one_sided;
	}
}

static bool is_of(const struct tree_pair_node *node, int side)
{
	return node->seen[side] && !node->seen[!side];
}

/* Move set SIDE's figures from the node FROM, and from all nodes below it, to the node TO. */
static void graft(struct tree_pair *t, uint32_t from, uint32_t to, int side)
{
	struct tree_pair_node *a = &t->nodes[from], *b = &t->nodes[to];

	b->self[side] += a->self[side];
	b->error[side] += a->error[side];
	b->calls[side] += a->calls[side];
	b->inlined[side] |= a->inlined[side];
	b->nested[side] |= a->nested[side];
	b->doubt[side] = hypot(b->doubt[side], a->doubt[side]);
	b->own_doubt[side] = hypot(b->own_doubt[side], a->own_doubt[side]);
	b->sampled |= a->sampled;
	b->seen[side] = true;
	a->self[side] = a->error[side] = a->calls[side] = 0;
	a->doubt[side] = a->own_doubt[side] = 0;
	a->seen[side] = false;
	a->moved = to;
	/* A node that set SIDE does not execute has no callees in this set. */
	for (uint32_t i = a->first_child; i != TREE_NONE; i = t->nodes[i].next)
		if (t->nodes[i].seen[side])
			graft(t, i, child(t, to, t->nodes[i].name), side);
}

/*
 * In set SIDE, PARENT calls a function through LAYER (node INNER). In the other set, PARENT calls the function directly (node
 * CALLEE). Return whether LAYER is called about as often as CALLEE per call of PARENT: then LAYER replaces the direct calls.
 */
static bool is_in_place(const struct tree_pair *t, uint32_t parent, uint32_t layer, uint32_t inner,
			uint32_t callee, int side)
{
	/* An inlined LAYER has no calls, so use the calls of INNER. */
	double layers = (t->nodes[layer].calls[side] ?: t->nodes[inner].calls[side]) /
			tree_pair_calls(t, parent, side);
	double callees = t->nodes[callee].calls[!side] / tree_pair_calls(t, parent, !side);

	if (!(layers > 0) || !(callees > 0))
		return true;
	return layers <= LAYER_TIMES * callees && callees <= LAYER_TIMES * layers;
}

/* Only set SIDE calls LAYER from PARENT. If the other set calls a callee of LAYER directly, move this callee below LAYER. */
static void graft_callees(struct tree_pair *t, uint32_t parent, uint32_t layer, int side)
{
	for (uint32_t i = t->nodes[layer].first_child; i != TREE_NONE; i = t->nodes[i].next) {
		const struct tree_key key = { parent, t->nodes[i].name };
		uint32_t found = hash_find(&t->index, tree_key_hash(&key), is_node, t, &key);

		if (is_of(&t->nodes[i], side) && found != HASH_NONE &&
		    is_of(&t->nodes[found], !side) && is_in_place(t, parent, layer, i, found, side))
			graft(t, found, i, !side);
	}
}

/*
 * Compilers may attribute an instruction to an inlined function or to the code around it. If one set has a call inside an inlined
 * function and the other set has this call in the code around it, move the call to the outer code.
 */
static void graft_call(struct tree_pair *t, uint32_t node, int side)
{
	for (uint32_t body = t->nodes[node].parent;
	     t->nodes[body].inlined[side] && !is_of(&t->nodes[body], side);
	     body = t->nodes[body].parent) {
		const struct tree_key key = { t->nodes[body].parent, t->nodes[node].name };
		uint32_t found = hash_find(&t->index, tree_key_hash(&key), is_node, t, &key);

		if (found != HASH_NONE && is_of(&t->nodes[found], !side)) {
			graft(t, node, found, side);
			return;
		}
	}
}

static void graft_all(struct tree_pair *t)
{
	uint32_t n = t->n_nodes;

	/* Skip the nodes that grafting adds. Both sets execute the parents of such nodes, so these need no grafting. */
	for (uint32_t i = 1; i < n && t->n_nodes < t->tree->max_nodes; i++)
		for (int side = 0; side < 2 && t->nodes[i].parent; side++)
			/* The callers of timed functions are unknown. */
			if (is_of(&t->nodes[i], side) &&
			    (t->tree->has_callers || t->nodes[i].sampled)) {
				graft_callees(t, t->nodes[i].parent, i, side);
				graft_call(t, i, side);
			}
}

/* ---- one function's samples in many nodes ---- */

/* A sampled node, and the change of its own time. */
struct sampled {
	const char *name;
	uint32_t node;
	double delta, doubts; /* the change and its variance */
};

define_compare(by_function, struct sampled,
	       strcmp(a->name, b->name) ?: compare_values(a->node, b->node));

static void mark_function(struct tree_pair *t, const struct sampled *items, size_t n, double sure)
{
	double delta = 0, doubts = 0;

	for (size_t i = 0; i < n; i++) {
		delta += items[i].delta;
		doubts += items[i].doubts;
	}
	for (size_t i = 0; i < n; i++)
		t->nodes[items[i].node].differs = fabs(delta) > sure * sqrt(doubts);
}

/* Return whether NODE is known from samples and is outside of all timed functions. */
static bool is_untimed(const struct tree_pair *t, uint32_t node)
{
	uint32_t at = node;

	while (t->nodes[at].sampled)
		at = t->nodes[at].parent;
	return at != node && t->nodes[at].parent == TREE_ROOT;
}

/* Set DIFFERS of each function by the sum over all of its nodes, since a single node may have too few samples. */
static void mark_sampled(struct tree_pair *t)
{
	scoped_free struct sampled *items = alloc_array(t->n_nodes, sizeof(*items));
	double sure = tree_sure_deviations(t->tree);
	size_t n = 0;

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const struct tree_pair_node *node = &t->nodes[i];

		if (is_untimed(t, i))
			items[n++] = (struct sampled){ node->name, i, node->self[1] - node->self[0],
						       pow(node->own_doubt[0], 2) +
							       pow(node->own_doubt[1], 2) };
	}
	sort_array(items, n, sizeof(*items), by_function);
	for_each_run(i, j, n, !strcmp(items[i].name, items[j].name))
		mark_function(t, &items[i], j - i, sure);
}

static uint32_t context_of(const struct tree_pair *t, uint32_t node)
{
	while (t->nodes[node].parent != TREE_ROOT)
		node = t->nodes[node].parent;
	return node;
}

/* A node that only one set executes. */
struct one_sided {
	const char *name;
	uint32_t node, context;
	int side;
	double total, calls;
	bool stays; /* the other set does this work in the same context, below another caller */
};

struct candidate {
	const struct one_sided *from, *to;
};

struct candidates {
	vec_of(struct candidate, items);
};

define_compare(by_name, struct one_sided,
	       strcmp(a->name, b->name)  ?:
		       a->side - b->side ?:
					   compare_values(a->node, b->node));

define_compare(by_size, struct candidate,
	       compare_values(b->from->total, a->from->total)       ?:
		       compare_values(a->from->node, b->from->node) ?:
		       compare_values(a->to->node, b->to->node));

static bool is_near(double a, double b, double times)
{
	return a <= times * b && b <= times * a;
}

/* Return whether the nodes A and B may be the same work, done in different sets of repetitions. */
static bool is_same_work(const struct one_sided *a, const struct one_sided *b)
{
	return a->side != b->side && a->calls > 0 &&
	       is_near(a->calls, b->calls, 1 + WORTH_A_WORD) &&
	       is_near(a->total, b->total, MOVED_TIMES);
}

/* Set STAYS of each item if the other set does the same work in the same context, below another caller. */
static void mark_stays(struct one_sided *items, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (items[i].context == items[k].context &&
			    is_same_work(&items[i], &items[k]))
				items[i].stays = items[k].stays = true;
}

/* ITEMS are N nodes of one name. Add to CANDIDATES each pair of nodes whose work may have moved between contexts. */
static void add_candidates(struct candidates *candidates, struct one_sided *items, size_t n)
{
	mark_stays(items, n);
	for (size_t i = 0; i < n && !items[i].side; i++)
		for (size_t k = i + 1; k < n; k++)
			if (!items[i].stays && !items[k].stays &&
			    is_same_work(&items[i], &items[k]))
				vec_push(candidates, items,
					 ((struct candidate){ &items[i], &items[k] }));
}

static struct one_sided *find_one_sided(const struct tree_pair *t, size_t *n)
{
	struct one_sided *items = alloc_array(t->n_nodes, sizeof(*items));
	double least = WORTH_A_MOVE * fmax(t->nodes[0].total[0], t->nodes[0].total[1]);

	*n = 0;
	for (uint32_t i = 1; i < t->n_nodes; i++) {
		const struct tree_pair_node *node = &t->nodes[i];

		for (int side = 0; side < 2; side++)
			if (is_of(node, side) && node->parent != TREE_ROOT &&
			    node->total[side] >= least)
				items[(*n)++] =
					(struct one_sided){ node->name,        i,
							    context_of(t, i),  side,
							    node->total[side], node->calls[side] };
	}
	sort_array(items, *n, sizeof(*items), by_name);
	return items;
}

/* Move the function with the most work first, since its callees move with it. */
static void move_all(struct tree_pair *t)
{
	size_t n;
	scoped_free struct one_sided *items = find_one_sided(t, &n);
	struct candidates candidates = {};

	for_each_run(i, j, n, !strcmp(items[i].name, items[j].name))
		add_candidates(&candidates, &items[i], j - i);
	sort_array(candidates.items, candidates.n_items, sizeof(*candidates.items), by_size);
	vec_each(const struct candidate, candidate, &candidates, items) {
		const struct one_sided *from = candidate->from, *to = candidate->to;

		if (!is_of(&t->nodes[from->node], 0) || !is_of(&t->nodes[to->node], 1))
			continue;
		graft(t, from->node, to->node, 0);
		vec_push(t, moves,
			 ((struct tree_move){ from->name, from->context, to->context,
					      from->total }));
	}
	free(candidates.items);
	for (uint32_t i = 0; i < t->n_nodes && t->n_moves; i++) {
		t->nodes[i].total[0] = t->nodes[i].total[1] = 0;
		t->nodes[i].one_sided = 0;
	}
	if (t->n_moves)
		sum_up(t);
}

double tree_pair_moved(const struct tree_pair *pair, uint32_t context)
{
	double sum = 0;

	vec_each(const struct tree_move, move, pair, moves)
		sum += move->to == context ? move->insns : move->from == context ? -move->insns : 0;
	return sum;
}

/* A moved node's figures are now in another node. Add the moved node's lines to that node. */
static void graft_lines(struct tree_pair *t)
{
	uint32_t n_lines = t->lines.n_items;

	for (uint32_t i = 0; i < n_lines; i++) {
		struct tree_line line = t->lines.items[i];
		const struct profile_frame frame = { .file = line.file, .line = line.number };

		for (int side = 0; side < 2; side++) {
			uint32_t node = line.node;

			/* A node may have moved several times. */
			while (!t->nodes[node].seen[side] && t->nodes[node].moved)
				node = t->nodes[node].moved;
			if (line.insns[side] > 0 && node != line.node) {
				struct tree_line *to = tree_line_find(&t->lines, node, &frame);

				to->insns[side] += line.insns[side];
				to->times[side] = fmax(to->times[side], line.times[side]);
			}
		}
	}
}

define_compare(by_place, struct tree_line,
	       compare_values(a->node, b->node)       ?:
		       compare_text(a->file, b->file) ?:
							compare_values(a->number, b->number));

static void sort_lines(struct tree_pair *t)
{
	hash_deinit(&t->lines.index);
	sort_array(t->lines.items, t->lines.n_items, sizeof(*t->lines.items), by_place);
	for (uint32_t i = t->lines.n_items; i-- > 0;) {
		struct tree_pair_node *node = &t->nodes[t->lines.items[i].node];

		node->first_line = i;
		node->n_lines++;
	}
}

static double runs_of(const struct tree *t, const struct tree_part *part)
{
	double runs = 0;

	for (uint32_t i = 0; i < part->count; i++)
		runs += t->runs[part->side][part->first + i];
	return runs;
}

/* Return the values of ITEM, the number of a node or a line, per run. Add up the repetitions in PART. */
static struct tree_value sum_of(const struct tree *t, const struct tree_value *values,
				uint32_t item, const struct tree_part *part, double runs)
{
	uint32_t first = tree_first_column(t, part->side) + part->first;
	const struct tree_value *v = &values[(size_t)item * tree_columns(t) + first];
	struct tree_value sum = {};

	for (uint32_t i = 0; i < part->count; i++) {
		sum.insns += v[i].insns;
		sum.error += v[i].error;
		sum.times += v[i].times;
		sum.seen |= v[i].seen;
	}
	sum.insns /= runs;
	sum.error /= runs;
	sum.times /= runs;
	return sum;
}

static void add_node(struct tree_pair *pair, uint32_t i, const struct tree_part *const parts[2],
		     const double runs[2])
{
	const struct tree *t = pair->tree;
	const struct tree_node *from = &t->nodes[i];
	struct tree_pair_node node = { .name = from->name,
				       .parent = from->parent,
				       .first_child = from->first_child,
				       .next = from->next,
				       .extra = from->extra,
				       .divided = from->divided,
				       .sampled = from->sampled,
				       .everywhere = { from->everywhere[0], from->everywhere[1] } };

	for (int k = 0; k < 2; k++) {
		struct tree_value value = sum_of(t, t->values, i, parts[k], runs[k]);

		node.self[k] = value.insns;
		node.error[k] = value.error;
		node.doubt[k] = from->doubt[parts[k]->side];
		node.own_doubt[k] = from->own_doubt[parts[k]->side];
		node.calls[k] = value.times;
		node.seen[k] = value.seen;
		node.inlined[k] = from->inlined[parts[k]->side];
		node.nested[k] = from->nested[parts[k]->side];
		node.file[k] = from->file[parts[k]->side];
		node.from[k] = from->from[parts[k]->side];
		node.to[k] = from->to[parts[k]->side];
	}
	vec_push(pair, nodes, node);
}

static void add_lines(struct tree_pair *pair, const struct tree_part *const parts[2],
		      const double runs[2])
{
	const struct tree *t = pair->tree;

	pair->lines.index = hash_copy(&t->lines.index);
	for (uint32_t i = 0; i < t->lines.n_items; i++) {
		struct tree_line line = t->lines.items[i];

		for (int k = 0; k < 2; k++) {
			struct tree_value value = sum_of(t, t->line_values, i, parts[k], runs[k]);

			line.insns[k] = value.insns;
			line.times[k] = value.times;
		}
		vec_push(&pair->lines, items, line);
	}
}

void tree_pair_init_by_name(struct tree_pair *pair, const struct tree *tree,
			    const struct tree_part *a, const struct tree_part *b)
{
	const struct tree_part *const parts[] = { a, b };
	const double runs[] = { runs_of(tree, a), runs_of(tree, b) };

	*pair = (struct tree_pair){ .tree = tree, .index = hash_copy(&tree->index) };
	pair->nodes = alloc_array(tree->n_nodes, sizeof(*pair->nodes));
	pair->cap_nodes = tree->n_nodes;
	for (uint32_t i = 0; i < tree->n_nodes; i++)
		add_node(pair, i, parts, runs);
	add_lines(pair, parts, runs);
}

void tree_pair_init(struct tree_pair *pair, const struct tree *tree, const struct tree_part *a,
		    const struct tree_part *b)
{
	tree_pair_init_by_name(pair, tree, a, b);
	graft_all(pair);
	sum_up(pair);
	mark_sampled(pair);
	move_all(pair);
	graft_lines(pair);
	sort_lines(pair);
}

void tree_pair_deinit(struct tree_pair *pair)
{
	free(pair->nodes);
	free(pair->moves);
	free(pair->lines.items);
	hash_deinit(&pair->lines.index);
	hash_deinit(&pair->index);
	*pair = (struct tree_pair){};
}

uint32_t tree_pair_extra(const struct tree_pair *t, uint32_t node)
{
	const struct tree_key key = { t->nodes[node].parent, t->nodes[node].name, true };
	uint32_t found = HASH_NONE;

	if (t->nodes[node].divided)
		found = hash_find(&t->index, tree_key_hash(&key), is_node, t, &key);
	return found == HASH_NONE ? TREE_NONE : found;
}

uint32_t tree_pair_most(const struct tree_pair *t, uint32_t node, double all)
{
	for (uint32_t i = t->nodes[node].first_child; i != TREE_NONE; i = t->nodes[i].next) {
		const struct tree_pair_node *n = &t->nodes[i];
		double doubt = CHANCE_DEVIATIONS * hypot(n->doubt[0], n->doubt[1]);

		if (!(n->seen[0] && n->seen[1]) && n->one_sided - doubt >= MOST * all)
			return i;
	}
	return TREE_NONE;
}

bool tree_pair_is_below(const struct tree_pair *t, uint32_t node, uint32_t above)
{
	/* A caller has a lower index than its callees. */
	while (node > above)
		node = t->nodes[node].parent;
	return node == above;
}

uint32_t tree_pair_main_part(const struct tree_pair *t, uint32_t node, double delta)
{
	uint32_t best = TREE_NONE;
	double least = MOST;

	for (uint32_t i = node + 1; i < t->n_nodes; i++) {
		const struct tree_pair_node *n = &t->nodes[i];
		double change = n->total[1] - n->total[0], share = change / delta;

		if (!(share >= least) ||
		    !(fabs(change) > CHANCE_DEVIATIONS * hypot(n->doubt[0], n->doubt[1])) ||
		    !tree_pair_is_below(t, i, node))
			continue;
		best = i;
		least = n->seen[0] && n->seen[1] ? NEARLY_ALL * share : INFINITY;
	}
	return best;
}

double tree_pair_own(const struct tree_pair *t, uint32_t node, int side)
{
	double own = t->nodes[node].self[side];

	for (uint32_t i = t->nodes[node].first_child; i != TREE_NONE; i = t->nodes[i].next)
		if (t->nodes[i].sampled)
			own += t->nodes[i].total[side];
	return own;
}

double tree_pair_calls(const struct tree_pair *t, uint32_t node, int side)
{
	while (node && t->nodes[node].inlined[side] && !t->nodes[node].calls[side])
		node = t->nodes[node].parent;
	return node && !t->nodes[node].inlined[side] && !t->nodes[node].nested[side] &&
			       t->nodes[node].calls[side] > 0 ?
		       t->nodes[node].calls[side] :
		       NAN;
}
