// SPDX-License-Identifier: GPL-2.0-or-later
#include "tree/tree.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "tree/fill.h"

/* Limits for malformed files. The tree of a real recording has fewer nodes than the file has entries. */
#define MAX_NODES     (1u << 20)
#define NODES_OF_EACH 8
#define MAX_VALUES    (1u << 27)

static bool is_node(const void *ctx, uint32_t item, const void *key)
{
	const struct tree_node *node = &((const struct tree *)ctx)->nodes[item];
	const struct tree_key *k = key;

	return node->parent == k->parent && node->extra == k->extra && !strcmp(node->name, k->name);
}

static void add_node(struct tree *t, uint32_t parent, const char *name, bool extra)
{
	const struct tree_node node = { .name = name,
					.parent = parent,
					.first_child = TREE_NONE,
					.next = TREE_NONE,
					.extra = extra };

	vec_push(t, nodes, node);
	for (uint32_t i = 0; i < tree_columns(t); i++)
		vec_push(t, values, (struct tree_value){});
	if (t->n_nodes > 1) {
		t->nodes[t->n_nodes - 1].next = t->nodes[parent].first_child;
		t->nodes[parent].first_child = t->n_nodes - 1;
	}
}

uint32_t tree_key_hash(const struct tree_key *key)
{
	return hash_string(key->name) + key->parent * 2654435761u + key->extra;
}

uint32_t tree_find_or_add(struct tree *t, const struct tree_key *key)
{
	uint32_t found =
		hash_find_or_add(&t->index, tree_key_hash(key), is_node, t, key, t->n_nodes);

	if (found == t->n_nodes)
		add_node(t, key->parent, key->name, key->extra);
	return found;
}

uint32_t tree_find(const struct tree *t, const struct tree_key *key)
{
	uint32_t found = hash_find(&t->index, tree_key_hash(key), is_node, t, key);

	return found == HASH_NONE ? TREE_NONE : found;
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

void tree_extend(struct tree_node *node, const struct profile_frame *frame, int side)
{
	const char *file = node->file[side];

	if (!frame->line || !frame->file || (file && strcmp(file, frame->file) != 0))
		return;
	node->from[side] = !file || frame->line < node->from[side] ? frame->line : node->from[side];
	node->to[side] = frame->line > node->to[side] ? frame->line : node->to[side];
	node->file[side] = frame->file;
}

static void repetitions_init(struct tree *t, int side)
{
	const struct profile *p = t->p[side];
	struct analyze_repetitions r;

	analyze_repetitions_init(&r, p, PROFILE_RUN_PROBED);
	t->n_repetitions[side] = r.n < TREE_REPETITIONS ? r.n : TREE_REPETITIONS;
	t->repetition_of[side] = alloc_array(p->n_runs, sizeof(*t->repetition_of[side]));
	for (uint32_t i = 0; i < p->n_runs; i++) {
		uint32_t at = TREE_NONE;

		if (r.of_run[i] != ANALYZE_NO_REPETITION) {
			at = (uint32_t)((uint64_t)r.of_run[i] * t->n_repetitions[side] / r.n);
			t->runs[side][at]++;
			t->n_runs[side]++;
		}
		t->repetition_of[side][i] = at;
	}
	t->unit[side] = r.unit;
	analyze_repetitions_deinit(&r);
}

uint32_t tree_column(const struct tree *t, int side, uint32_t run)
{
	uint32_t repetition = t->repetition_of[side][run];

	return repetition == TREE_NONE ? TREE_NONE : repetition + tree_first_column(t, side);
}

double tree_sure_deviations(const struct tree *t)
{
	return CHANCE_DEVIATIONS * analyze_interval_widening(t->n_untimed);
}

struct tree_value *tree_value_of(struct tree *t, uint32_t node, uint32_t column)
{
	return &t->values[(size_t)node * tree_columns(t) + column];
}

struct tree_value *tree_line_value(struct tree *t, uint32_t node, const struct profile_frame *frame,
				   uint32_t column)
{
	const struct tree_line *line = tree_line_find(&t->lines, node, frame);

	while (t->n_line_values < (size_t)t->lines.n_items * tree_columns(t))
		vec_push(t, line_values, (struct tree_value){});
	return &t->line_values[(size_t)(line - t->lines.items) * tree_columns(t) + column];
}

/* In each repetition, mark the callers of executed nodes as executed. */
static void spread_seen(struct tree *t)
{
	for (uint32_t i = t->n_nodes; i-- > 1;)
		for (uint32_t c = 0; c < tree_columns(t); c++)
			tree_value_of(t, t->nodes[i].parent, c)->seen |=
				tree_value_of(t, i, c)->seen;
}

static const char *command_name(const struct profile *p)
{
	const char *path = p->n_args ? p->args[0] : "the command";

	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

/*
 * Return whether repetitions show how much recordings of one kernel differ. If the clock measures time, this needs several boots,
 * or recordings of both kernels in turn.
 */
static bool has_noise(const struct tree *t)
{
	if (!t->has_runs)
		return false;
	if (t->has_callers || t->p[0]->clock == PROFILE_CLOCK_INSN)
		return true;
	for (int side = 0; side < 2; side++)
		if (t->unit[side] == ANALYZE_UNIT_RUN)
			return false;
	return t->unit[0] == ANALYZE_UNIT_BOOT || analyze_recordings_alternate(t->p[0], t->p[1]);
}

void tree_init(struct tree *t, const struct profile *baseline, const struct profile *hardened)
{
	*t = (struct tree){ .p = { baseline, hardened }, .max_nodes = MAX_NODES };
	for (int side = 0; side < 2; side++) {
		repetitions_init(t, side);
		t->max_nodes += NODES_OF_EACH * ((uint64_t)t->p[side]->n_samples +
						 t->p[side]->n_edges + t->p[side]->n_cells);
	}
	t->has_callers = profile_is_exact(baseline);
	t->has_runs = t->n_repetitions[0] >= ANALYZE_MIN_REPETITIONS &&
		      t->n_repetitions[1] >= ANALYZE_MIN_REPETITIONS;
	t->has_noise = has_noise(t);
	if (t->max_nodes > MAX_VALUES / tree_columns(t))
		t->max_nodes = MAX_VALUES / tree_columns(t);
	add_node(t, TREE_ROOT, command_name(hardened), false);
	if (t->has_callers) {
		tree_fill_exact(t);
	} else {
		for (int side = 0; side < 2; side++) {
			tree_fill_probed(t, side);
			tree_fill_counted(t, side);
		}
		tree_fill_sampled(t);
	}
	spread_seen(t);
}

void tree_deinit(struct tree *t)
{
	free(t->nodes);
	free(t->repetition_of[0]);
	free(t->repetition_of[1]);
	free(t->values);
	free(t->lines.items);
	free(t->line_values);
	free(t->sites.items);
	free(t->loops);
	hash_deinit(&t->lines.index);
	hash_deinit(&t->sites.index);
	hash_deinit(&t->index);
	alloc_texts_free(&t->texts);
	*t = (struct tree){};
}
