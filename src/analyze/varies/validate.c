// SPDX-License-Identifier: GPL-2.0-or-later
/* Grow regression trees, and validate them with other calls: variables must explain more than chance would. */
#include "analyze/varies/validate.h"

#include <Rmath.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"

/* A split may separate a single value from all others only if the variable has at most this many values. */
#define CATEGORIES_MAX 8
/* Take the first of two equally good splits, so that rounding does not decide. */
#define BETTER(gain, than) ((gain) > (than) * (1 + 1e-9))

/* Try to split the calls ALL into two groups. SIDE has the first group's sums. If this split is better, replace *BEST. */
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
	/* A regression line needs three values. For two values, a condition is as good. */
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

	/* Add up the calls for the 256 values of each byte. These sums are enough to try splits by all bits of the byte. */
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

/* Replace *SPLIT and *LINE by the best split and regression line over COLUMN if these are better. ROWS are N indexes into SUMS. */
static void varies_column_try(struct varies_data *d, uint32_t column, const uint32_t *rows,
			      uint32_t n, const struct varies_sums *sums,
			      struct varies_split *split, struct varies_line *line)
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

/* Move the rows in the first group of split S to the front of ROWS. Return their number. */
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

/* Return how much the best regression line over one of COLUMNS decreases the squared errors of the N ROWS. */
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
 * Find NODE's best regression line and best split. Judge a split together with the best regression line in each of its groups.
 * Without these lines, the wrong split could win if a line fits only one group.
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

/* Grow the subtree of T that divides the N ROWS and starts at level DEPTH. Return the index of the subtree's top node. */
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

/* Grow an unpruned tree over COLUMNS (bits). SUMS has the sums over each row's calls. */
static void varies_tree_grow(struct varies_tree *t, struct varies_data *d, uint32_t columns,
			     const struct varies_sums *sums)
{
	t->n_nodes = 0;
	for (uint32_t i = 0; i < d->n_rows; i++)
		d->order[i] = i;
	grow(t, d, columns, sums, d->order, d->n_rows, 0);
}

/* Prune the subtree at node INDEX, and set USE of its nodes. Return its squared errors plus PRICE for each remaining leaf. */
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

/* Set USE of each node. A leaf costs COMPLEXITY times the root's squared errors. A leaf with a regression line costs double. */
static void varies_tree_prune(struct varies_tree *t, double complexity)
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

/* Return the latency that tree T predicts for ROW, minus the mean of all latencies. */
static double varies_tree_predict(const struct varies_tree *t, const struct varies_data *d,
				  uint32_t row)
{
	const struct varies_node *node = varies_tree_leaf(t, d, row);
	const struct varies_column *c = &d->columns[node->line.column];
	double mean = node->sums.n > 0 ? node->sums.sum / node->sums.n : 0;

	if (node->use == VARIES_LEAF || c->codes[row] == c->n_values)
		return mean;
	return mean + node->line.slope * (c->x[c->codes[row]] - node->line.mean_x);
}

/* Arbitrary seeds of the random numbers. They are fixed, so that a recording always gives the same figures. */
#define SEEDS 20061, 1984
/* Minimum number of sampled calls in a leaf. */
#define LEAF_LEAST 5
/* Maximum number of sampled calls. In so many calls, chance does not explain the fraction NEGLIGIBLE of the variance. */
#define CALLS_MAX 16384
/* Maximum number of selected variables. */
#define SELECTED_MAX 4
/* take_off() divides a variable's values into at most this many groups. If there are more values, a group is a range. */
#define BINS 16
/* If all permutations would process over STEPS_MAX rows, do only PERMUTATIONS_LEAST. These show p-values below ONE_PERCENT. */
#define STEPS_MAX          (1u << 27)
#define PERMUTATIONS_LEAST 199

static const double complexities[] = { 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003 };
#define N_COMPLEXITIES ARRAY_SIZE(complexities)

/*
 * Return an invented latency for ROW's call number I, since ROW has only sums, minimum and maximum. Call 0 gets the minimum, call
 * 1 the maximum, and others get mean + d and mean - d in turn. Then the sum and the sum of squares are (nearly) right.
 */
static double call_of(const struct varies_row *row, double i)
{
	double weight = row->sums.n / row->calls, n = row->calls - 2, mean, squares;

	if (row->calls < 2)
		return row->sums.sum / row->sums.n;
	if (i < 2)
		return i < 1 ? row->min : row->max;
	mean = (row->sums.sum / weight - row->min - row->max) / n;
	squares = row->sums.squares / weight - row->min * row->min - row->max * row->max;
	return mean + sqrt(fmax(0, squares / n - mean * mean)) * (fmod(i, 2) < 1 ? 1 : -1);
}

void varies_draw(struct varies_data *d)
{
	double all = 0, at, scale;

	set_seed(SEEDS);
	at = unif_rand();
	d->least = LEAF_LEAST;
	d->n_calls = 0;
	free(d->calls);
	free(d->number);
	free(d->folds);
	for (uint32_t i = 0; i < d->n_rows; i++)
		all += d->rows[i].sums.n;
	scale = fmin(1 / d->weight, CALLS_MAX / all);
	d->calls = alloc_array((size_t)(all * scale) + 2, sizeof(*d->calls));
	d->number = alloc_array(d->n_rows, sizeof(*d->number));
	d->folds = alloc_array((size_t)d->n_rows * VARIES_FOLDS, sizeof(*d->folds));
	for (uint32_t i = 0; i < d->n_rows; i++) {
		const struct varies_row *row = &d->rows[i];
		double next = at + row->sums.n * scale;

		d->number[i] = (uint32_t)(floor(next) - floor(at));
		for (uint32_t j = 0; j < d->number[i]; j++) {
			double y = call_of(row, scale < 1 ? floor(unif_rand() * row->calls) : j);
			size_t fold = (size_t)(unif_rand() * VARIES_FOLDS);

			varies_sums_add(&d->folds[i * VARIES_FOLDS + fold],
					&(struct varies_sums){ 1, y, y * y });
			d->calls[d->n_calls++] = y;
		}
		at = next;
	}
}

/* Return the sum of squared errors of PREDICTION over the calls in PART. */
static double missed(const struct varies_sums *part, double prediction)
{
	return part->squares - 2 * prediction * part->sum + prediction * prediction * part->n;
}

/*
 * Predict the calls in FOLD by trees that are grown from all other folds. Set LEFT[C] to the squared error of complexity number C.
 * Return the squared error without a tree. OTHERS is temporary memory for each row.
 */
static double validate_fold(struct varies_data *d, uint32_t columns, int fold,
			    struct varies_sums *others, double *left)
{
	scoped_free struct varies_tree *t = alloc_new(struct varies_tree);
	double all = 0;

	for (uint32_t i = 0; i < d->n_rows; i++) {
		others[i] = (struct varies_sums){ 0 };
		for (int f = 0; f < VARIES_FOLDS; f++)
			if (f != fold)
				varies_sums_add(&others[i], &d->folds[i * VARIES_FOLDS + f]);
	}
	varies_tree_grow(t, d, columns, others);
	for (size_t c = 0; c < N_COMPLEXITIES; c++) {
		varies_tree_prune(t, complexities[c]);
		left[c] = 0;
		for (uint32_t i = 0; i < d->n_rows; i++)
			left[c] += missed(&d->folds[i * VARIES_FOLDS + fold],
					  varies_tree_predict(t, d, i));
	}
	for (uint32_t i = 0; i < d->n_rows; i++)
		all += missed(&d->folds[i * VARIES_FOLDS + fold],
			      t->nodes[0].sums.sum / t->nodes[0].sums.n);
	d->steps += (N_COMPLEXITIES + VARIES_FOLDS) * d->n_rows;
	return all;
}

/* Return the index of the largest complexity whose error is above BEST's by at most one standard error of the difference. */
static size_t simplest(double (*left)[N_COMPLEXITIES], size_t best)
{
	for (size_t c = 0; c < best; c++) {
		double differences[VARIES_FOLDS];
		struct analyze_moments m;

		for (int f = 0; f < VARIES_FOLDS; f++)
			differences[f] = left[f][c] - left[f][best];
		m = analyze_moments_of(differences, VARIES_FOLDS);
		if (m.mean <= sqrt(m.variance / VARIES_FOLDS))
			return c;
	}
	return best;
}

double varies_validate(struct varies_data *d, uint32_t columns, double *complexity)
{
	double left[VARIES_FOLDS][N_COMPLEXITIES], sums[N_COMPLEXITIES] = { 0 }, all = 0;
	scoped_free struct varies_sums *others = alloc_array(d->n_rows, sizeof(*others));
	size_t best = 0;

	for (int f = 0; f < VARIES_FOLDS; f++) {
		all += validate_fold(d, columns, f, others, left[f]);
		for (size_t c = 0; c < N_COMPLEXITIES; c++)
			sums[c] += left[f][c];
	}
	for (size_t c = 1; c < N_COMPLEXITIES; c++)
		if (sums[c] < sums[best])
			best = c;
	best = simplest(left, best);
	if (complexity)
		*complexity = complexities[best];
	return all > 0 ? fmax(0, 1 - sums[best] / all) : 0;
}

double varies_fit(struct varies_tree *t, struct varies_data *d, uint32_t columns)
{
	scoped_free struct varies_sums *all = alloc_array(d->n_rows, sizeof(*all));
	double complexity, explained = varies_validate(d, columns, &complexity);

	for (uint32_t i = 0; i < d->n_rows; i++)
		all[i] = d->rows[i].sums;
	d->least *= d->weight;
	varies_tree_grow(t, d, columns, all);
	d->least /= d->weight;
	varies_tree_prune(t, complexity);
	return explained;
}

/* The state of a permutation test. */
struct shuffled {
	struct varies_data *d;
	double *calls; /* latencies, in the order of D's sampled calls */
	struct varies_sums *sums; /* indexed by row */
};

/* For each of COLUMNS, set GAINS to the squared errors that its best split or line removes. Return the largest gain. */
static double explain(struct shuffled *s, uint32_t columns, double *gains)
{
	struct varies_data *d = s->d;
	double most = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < d->n_rows; i++) {
		s->sums[i] = (struct varies_sums){ .n = d->number[i] };
		for (uint32_t j = 0; j < d->number[i]; j++, at++) {
			s->sums[i].sum += s->calls[at];
			s->sums[i].squares += s->calls[at] * s->calls[at];
		}
	}
	d->steps += at;
	for (uint32_t i = 0; i < d->n_rows; i++)
		d->order[i] = i;
	for (uint32_t i = 0; i < d->n_columns; i++) {
		struct varies_split split = { 0 };
		struct varies_line line = { 0 };

		if (!(columns >> i & 1))
			continue;
		varies_column_try(d, i, d->order, d->n_rows, s->sums, &split, &line);
		gains[i] = fmax(split.gain, line.gain);
		most = fmax(most, gains[i]);
	}
	return most;
}

static void shuffle(double *calls, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = (uint32_t)(unif_rand() * i);
		double call = calls[j];

		calls[j] = calls[i - 1];
		calls[i - 1] = call;
	}
}

/* Set P of each column to the fraction of shuffles in which any of COLUMNS gains as much as this column gains unshuffled. */
static void permute(struct shuffled *s, uint32_t columns, const double *gains, double *p)
{
	double *calls = s->calls, shuffled[VARIES_COLUMNS] = { 0 };
	uint64_t rounds = VARIES_PERMUTATIONS, before = s->d->steps;

	s->calls = alloc_array(s->d->n_calls, sizeof(*calls));
	memcpy(s->calls, calls, s->d->n_calls * sizeof(*calls));
	for (uint32_t i = 0; i < s->d->n_columns; i++)
		if (columns >> i & 1)
			p[i] = 1;
	for (uint64_t round = 0; round < rounds; round++) {
		double most;

		shuffle(s->calls, s->d->n_calls);
		most = explain(s, columns, shuffled);
		for (uint32_t i = 0; i < s->d->n_columns; i++)
			if (columns >> i & 1)
				p[i] += most >= gains[i] * (1 - 1e-12);
		if (!round && rounds * (s->d->steps - before) > STEPS_MAX)
			rounds = PERMUTATIONS_LEAST;
	}
	for (uint32_t i = 0; i < s->d->n_columns; i++)
		if (columns >> i & 1)
			p[i] /= (double)rounds + 1;
	free(s->calls);
	s->calls = calls;
}

struct cell {
	uint64_t key;
	uint32_t row;
};

/*
 * Subtract from the latencies the prediction from COLUMNS: first a tree's, then the mean of each combination of values (more than
 * BINS values are grouped as ranges). Otherwise a variable that only correlates with COLUMNS seems to explain latencies.
 */
static void take_off(struct shuffled *s, uint32_t columns)
{
	struct varies_data *d = s->d;
	scoped_free struct varies_tree *t = alloc_new(struct varies_tree);
	scoped_free struct cell *cells = alloc_array(d->n_rows, sizeof(*cells));
	scoped_free double *fit = alloc_array(d->n_rows, sizeof(*fit));
	uint32_t at = 0;

	varies_tree_grow(t, d, columns, s->sums);
	varies_tree_prune(t, complexities[N_COMPLEXITIES - 1]);
	for (uint32_t i = 0; i < d->n_rows; i++) {
		fit[i] = varies_tree_predict(t, d, i);
		cells[i].row = i;
		for (uint32_t c = 0; c < d->n_columns; c++) {
			uint64_t code = d->columns[c].codes[i], n = d->columns[c].n_values;

			if (columns >> c & 1)
				cells[i].key = cells[i].key * (BINS + 1) +
					       (n > BINS ? code * BINS / n : code);
		}
	}
	sort_array(cells, d->n_rows, sizeof(*cells), compare_u64);
	for_each_run(i, j, d->n_rows, cells[j].key == cells[i].key) {
		double n = 0, sum = 0;

		for (uint32_t k = i; k < j; k++) {
			n += d->number[cells[k].row];
			sum += s->sums[cells[k].row].sum -
			       d->number[cells[k].row] * fit[cells[k].row];
		}
		for (uint32_t k = i; k < j && n > 0; k++)
			fit[cells[k].row] += sum / n;
	}
	for (uint32_t i = 0; i < d->n_rows; i++)
		for (uint32_t j = 0; j < d->number[i]; j++)
			s->calls[at++] -= fit[i];
}

/* Return 1 plus the number of "->" and "." in COLUMN's name. Return 0 if COLUMN's values are names: users know names best. */
static int remoteness(const struct varies_data *d, uint32_t column)
{
	const struct profile_variable *v = d->columns[column].variable;
	int n = 1;

	for (const char *c = v->name; *c; c++)
		n += *c == '>' || *c == '.';
	return v->kind == PROFILE_VARIABLE_NAME ? 0 : n;
}

/* Among the COLUMNS with a gain of about MOST, return the column that users know best (with the smallest remoteness()). */
static uint32_t best_known(const struct varies_data *d, uint32_t columns, const double *gains,
			   double most)
{
	uint32_t best = VARIES_COLUMNS;

	for (uint32_t i = 0; i < d->n_columns; i++) {
		int nearer = best == VARIES_COLUMNS ? 1 : remoteness(d, best) - remoteness(d, i);

		if (columns >> i & 1 && !(gains[i] < (1 - ABOUT_EQUAL) * most) &&
		    (nearer > 0 || (!nearer && gains[i] > gains[best])))
			best = i;
	}
	return best;
}

uint32_t varies_select(struct varies_data *d, double *p)
{
	struct shuffled s = { .d = d };
	double gains[VARIES_COLUMNS] = { 0 }, least = 0;
	uint32_t all = (1u << d->n_columns) - 1, selected = 0;

	s.sums = alloc_array(d->n_rows, sizeof(*s.sums));
	s.calls = alloc_array(d->n_calls, sizeof(*s.calls));
	memcpy(s.calls, d->calls, d->n_calls * sizeof(*s.calls));
	for (uint32_t i = 0; i < d->n_calls; i++)
		least += NEGLIGIBLE * s.calls[i] * s.calls[i];
	for (int i = 0; i < SELECTED_MAX && selected != all; i++) {
		double most = explain(&s, all & ~selected, gains);
		uint32_t best = best_known(d, all & ~selected, gains, most);

		permute(&s, all & ~selected, gains, p);
		if (p[best] >= ONE_PERCENT || most < least)
			break;
		selected |= 1u << best;
		explain(&s, 0, gains);
		take_off(&s, selected);
	}
	free(s.calls);
	free(s.sums);
	return selected;
}
