// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/varies/tree.h"

#include <string.h>

/* With so few values each may be one side of a split. */
#define CATEGORIES_MAX 8
/* The first of two equally good splits is taken: rounding must not decide. */
#define BETTER(gain, than) ((gain) > (than) * (1 + 1e-9))

/* Takes the split with SIDE of ALL on its first side where it is better. */
static void split_try(const struct varies_data *d, struct varies_split *best, uint32_t column,
		      enum varies_op op, uint32_t code, const struct varies_sums *side,
		      const struct varies_sums *all)
{
	double n = all->n - side->n, sum = all->sum - side->sum, gain;

	if (side->n < d->least || n < d->least)
		return;
	gain = side->sum * side->sum / side->n + sum * sum / n - all->sum * all->sum / all->n;
	if (BETTER(gain, best->gain))
		*best = (struct varies_split){ gain, column, op, code };
}

static void line_try(const struct varies_column *c, uint32_t column,
		     const struct varies_sums *by_code, const struct varies_sums *all,
		     struct varies_line *best)
{
	double x = 0, xx = 0, xy = 0, mean_x, gain;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_values; i++) {
		n += by_code[i].n > 0;
		x += by_code[i].n * c->x[i];
		xy += by_code[i].sum * c->x[i];
	}
	/* Two values are one condition. */
	if (n < 3 || by_code[c->n_values].n > 0)
		return;
	mean_x = x / all->n;
	for (uint32_t i = 0; i < c->n_values; i++)
		xx += by_code[i].n * (c->x[i] - mean_x) * (c->x[i] - mean_x);
	xy -= mean_x * all->sum;
	gain = xx > 0 ? xy * xy / xx : 0;
	if (BETTER(gain, best->gain))
		*best = (struct varies_line){ gain, column, xy / xx, mean_x, xx };
}

static void bits_try(struct varies_data *d, uint32_t column, const struct varies_sums *all,
		     struct varies_split *best)
{
	const struct varies_column *c = &d->columns[column];

	/* By what each byte is, of which there are few. */
	for (uint32_t shift = 0; shift < 8u * c->variable->bytes; shift += 8) {
		struct varies_sums by_byte[256] = { 0 };

		for (uint32_t i = 0; i < c->n_values; i++)
			varies_sums_add(&by_byte[c->values[i] >> shift & 0xff], &d->by_code[i]);
		for (uint32_t bit = 0; bit < 8; bit++) {
			struct varies_sums side = { 0 };

			for (uint32_t i = 0; i < 256; i++)
				if (i >> bit & 1)
					varies_sums_add(&side, &by_byte[i]);
			split_try(d, best, column, VARIES_BIT, shift + bit, &side, all);
		}
		d->steps += 2048 + c->n_values;
	}
}

void varies_column_try(struct varies_data *d, uint32_t column, const uint32_t *rows, uint32_t n,
		       const struct varies_sums *sums, struct varies_split *split,
		       struct varies_line *line)
{
	const struct varies_column *c = &d->columns[column];
	struct varies_sums all = { 0 }, side = { 0 }, *by_code = d->by_code;
	bool is_number = profile_variable_is_number(c->variable);
	bool is_name = profile_variable_is_name(c->variable);

	memset(by_code, 0, (c->n_values + 1) * sizeof(*by_code));
	for (uint32_t i = 0; i < n; i++)
		varies_sums_add(&by_code[c->codes[rows[i]]], &sums[rows[i]]);
	for (uint32_t i = 0; i <= c->n_values; i++)
		varies_sums_add(&all, &by_code[i]);
	d->steps += n + c->n_values;
	if (c->variable->is_flags)
		bits_try(d, column, &all, split);
	else if (is_number)
		line_try(c, column, by_code, &all, line);
	for (uint32_t i = 0; i + 1 < c->n_values && c->n_values > 2 && is_number; i++) {
		varies_sums_add(&side, &by_code[i]);
		if (by_code[i].n > 0)
			split_try(d, split, column, VARIES_AT_MOST, i, &side, &all);
	}
	for (uint32_t i = 0; i < c->n_values && (is_name || c->n_values <= CATEGORIES_MAX); i++)
		split_try(d, split, column, VARIES_EQUAL, i, &by_code[i], &all);
	split_try(d, split, column, VARIES_UNKNOWN, c->n_values, &by_code[c->n_values], &all);
}

static bool is_first_side(const struct varies_split *s, const struct varies_data *d, uint32_t row)
{
	const struct varies_column *c = &d->columns[s->column];
	uint32_t code = c->codes[row];

	switch (s->op) {
	case VARIES_AT_MOST:
		return code <= s->code;
	case VARIES_BIT:
		return code < c->n_values && c->values[code] >> s->code & 1;
	default:
		return code == s->code;
	}
}

/* Puts those of the N rows that are on the first side of S first; returns how many. */
static uint32_t partition(const struct varies_split *s, const struct varies_data *d, uint32_t *rows,
			  uint32_t n)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < n; i++)
		if (is_first_side(s, d, rows[i])) {
			uint32_t row = rows[i];

			rows[i] = rows[first];
			rows[first++] = row;
		}
	return first;
}

/* Return how much the best line over one of the COLUMNS explains of N rows. */
static double line_gain(struct varies_data *d, uint32_t columns, const struct varies_sums *sums,
			const uint32_t *rows, uint32_t n)
{
	struct varies_line line = { 0 };

	for (uint32_t i = 0; i < d->n_columns; i++) {
		struct varies_split none = { 0 };

		if (columns >> i & 1 && profile_variable_is_number(d->columns[i].variable))
			varies_column_try(d, i, rows, n, sums, &none, &line);
	}
	return line.gain;
}

/*
 * NODE's best split and line. Of the columns' splits the best is the one that takes most off with the lines on both sides: where
 * a line holds on one side alone, a split along the line itself would take more off than the one that tells the sides apart.
 */
static void node_try(struct varies_node *node, struct varies_data *d, uint32_t columns,
		     const struct varies_sums *sums, uint32_t *rows, uint32_t n)
{
	double best = 0;

	for (uint32_t i = 0; i < d->n_columns; i++) {
		struct varies_split split = { 0 };
		uint32_t first;
		double gain;

		if (!(columns >> i & 1))
			continue;
		varies_column_try(d, i, rows, n, sums, &split, &node->line);
		if (!(split.gain > 0))
			continue;
		first = partition(&split, d, rows, n);
		gain = split.gain + line_gain(d, columns, sums, rows, first) +
		       line_gain(d, columns, sums, rows + first, n - first);
		if (BETTER(gain, best)) {
			best = gain;
			node->split = split;
		}
	}
}

/* Grow a tree of N rows from FIRST on in the order. Return the node. */
static uint32_t grow(struct varies_tree *t, struct varies_data *d, uint32_t columns,
		     const struct varies_sums *sums, uint32_t *rows, uint32_t n, uint32_t depth)
{
	uint32_t index = t->n_nodes++, first;
	struct varies_node *node = &t->nodes[index];

	*node = (struct varies_node){ 0 };
	for (uint32_t i = 0; i < n; i++)
		varies_sums_add(&node->sums, &sums[rows[i]]);
	node_try(node, d, columns, sums, rows, n);
	if (depth == VARIES_DEPTH || !(node->split.gain > 0))
		return index;
	first = partition(&node->split, d, rows, n);
	node->child[0] = grow(t, d, columns, sums, rows, first, depth + 1);
	node->child[1] = grow(t, d, columns, sums, rows + first, n - first, depth + 1);
	return index;
}

void varies_tree_grow(struct varies_tree *t, struct varies_data *d, uint32_t columns,
		      const struct varies_sums *sums)
{
	t->n_nodes = 0;
	for (uint32_t i = 0; i < d->n_rows; i++)
		d->order[i] = i;
	grow(t, d, columns, sums, d->order, d->n_rows, 0);
}

/* Returns what the node and all below cost. */
static double prune(struct varies_tree *t, uint32_t index, double price)
{
	struct varies_node *node = &t->nodes[index];
	double leaf = varies_rest(&node->sums), best = leaf + price;
	double line = leaf - node->line.gain + 2 * price, split;

	node->use = VARIES_LEAF;
	if (node->line.gain > 0 && line < best) {
		node->use = VARIES_LINE;
		best = line;
	}
	if (!node->child[0])
		return best;
	split = prune(t, node->child[0], price) + prune(t, node->child[1], price);
	if (split < best) {
		node->use = VARIES_SPLIT;
		best = split;
	}
	return best;
}

void varies_tree_prune(struct varies_tree *t, double complexity)
{
	prune(t, 0, complexity * varies_rest(&t->nodes[0].sums));
}

const struct varies_node *varies_tree_leaf(const struct varies_tree *t, const struct varies_data *d,
					   uint32_t row)
{
	const struct varies_node *node = t->nodes;

	while (node->use == VARIES_SPLIT)
		node = &t->nodes[node->child[!is_first_side(&node->split, d, row)]];
	return node;
}

double varies_tree_predict(const struct varies_tree *t, const struct varies_data *d, uint32_t row)
{
	const struct varies_node *node = varies_tree_leaf(t, d, row);
	const struct varies_column *c = &d->columns[node->line.column];
	double mean = node->sums.n > 0 ? node->sums.sum / node->sums.n : 0;

	if (node->use == VARIES_LEAF || c->codes[row] == c->n_values)
		return mean;
	return mean + node->line.slope * (c->x[c->codes[row]] - node->line.mean_x);
}
