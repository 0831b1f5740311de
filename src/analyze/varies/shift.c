// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Split the change of a function's mean time between two profiles into two parts: one since calls have other values of captured
 * variables, one since calls with equal values take another time. One tree for both profiles groups the calls. This is the
 * decomposition of Oaxaca, "Male-Female Wage Differentials in Urban Labor Markets", International Economic Review 14 (1973), and
 * Blinder, Journal of Human Resources 8 (1973), in two parts, weighted by means of both profiles (Reimers, The Review of Economics
 * and Statistics 65 (1983)).
 */
#include "analyze/varies/varies.h"

#include <math.h>

#include "analyze/varies/validate.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* Sums over each profile's calls in a leaf. TIME: times minus the mean of all times. X: the variable of the regression line. */
struct leaf {
	struct {
		double n, time, x, xx, xy;
	} sides[2];
};

static bool is_on_both(const struct leaf *l)
{
	return l->sides[0].n > 0 && l->sides[1].n > 0;
}

/* Fit a line with one slope but a constant per profile. Return the slope. One constant would mix in the change of cost. */
static double slope_of(const struct leaf *l, const struct varies_node *node)
{
	double xx = 0, xy = 0;

	for (int side = 0; side < 2 && node->use == VARIES_LINE; side++) {
		double n = l->sides[side].n, x = l->sides[side].x;

		xx += n > 0 ? l->sides[side].xx - x * x / n : 0;
		xy += n > 0 ? l->sides[side].xy - x * l->sides[side].time / n : 0;
	}
	return xx > 0 ? xy / xx : node->line.slope;
}

/* In leaf L, set *TIME to the change of the mean time, and *LINE to the part that the regression line predicts from mean X. */
static void leaf_differs(const struct leaf *l, const struct varies_node *node, double *time,
			 double *line)
{
	*time = l->sides[1].time / l->sides[1].n - l->sides[0].time / l->sides[0].n;
	*line = slope_of(l, node) * (l->sides[1].x / l->sides[1].n - l->sides[0].x / l->sides[0].n);
}

/*
 * In the leaf NODE, return the part of the change that exists because calls have other values. A profile without calls in the leaf
 * gets the other profile's mean time, corrected by OFFSET, the second profile's extra time of calls with equal values.
 */
static double by_values(const struct leaf *l, const struct varies_node *node,
			const struct varies_side *sides, double offset)
{
	double share[2], mean[2], time, line = 0;

	for (int side = 0; side < 2; side++) {
		int known = l->sides[side].n > 0 ? side : !side;

		share[side] = l->sides[side].n / sides[side].calls;
		mean[side] = l->sides[known].time / l->sides[known].n + offset * (side - known);
	}
	if (is_on_both(l))
		leaf_differs(l, node, &time, &line);
	return (share[1] - share[0]) * (mean[0] + mean[1]) / 2 + (share[0] + share[1]) / 2 * line;
}

/* Add up the calls of D in each leaf of T. The index into LEAVES is the number of the leaf's node in T. */
static void leaves_sum(struct leaf *leaves, const struct varies_tree *t,
		       const struct varies_data *d)
{
	for (uint32_t i = 0; i < d->n_rows; i++) {
		const struct varies_node *node = varies_tree_leaf(t, d, i);
		const struct varies_column *c = &d->columns[node->line.column];
		struct leaf *leaf = &leaves[node - t->nodes];
		double x = node->use == VARIES_LINE && c->codes[i] < c->n_values ?
				   c->x[c->codes[i]] :
				   0;

		for (int side = 0; side < 2; side++) {
			double n = d->rows[i].sides[side].n;
			double time = d->rows[i].sides[side].sum - n * d->mean;

			leaf->sides[side].n += n;
			leaf->sides[side].time += time;
			leaf->sides[side].x += n * x;
			leaf->sides[side].xx += n * x * x;
			leaf->sides[side].xy += time * x;
		}
	}
}

/* Return the second profile's extra ticks per call with equal values. Return 0 if no leaf has calls of both profiles. */
static double offset_of(const struct varies_tree *t, const struct varies_data *d)
{
	struct leaf leaves[VARIES_NODES] = { 0 };
	double sum = 0, weights = 0;

	leaves_sum(leaves, t, d);
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		double time, line, weight;

		if (!is_on_both(&leaves[i]))
			continue;
		weight = 1 / (1 / leaves[i].sides[0].n + 1 / leaves[i].sides[1].n);
		leaf_differs(&leaves[i], &t->nodes[i], &time, &line);
		sum += weight * (time - line);
		weights += weight;
	}
	return weights > 0 ? sum / weights : 0;
}

/* Set ROW's calls and mean times of both profiles. Also set the mean values of variable C, unless C is NULL. */
static void sides_sum(struct varies_shift *row, const struct varies_data *d,
		      const struct varies_column *c)
{
	for (int side = 0; side < 2; side++) {
		double n = 0, time = 0, value = 0;

		for (uint32_t i = 0; i < d->n_rows; i++) {
			n += d->rows[i].sides[side].n;
			time += d->rows[i].sides[side].sum;
			/* A row of D without calls in this profile may lack the value of C. */
			if (c && d->rows[i].sides[side].n > 0)
				value += d->rows[i].sides[side].n *
					 (c->codes[i] < c->n_values ?
						  varies_value(c, c->values[c->codes[i]]) :
						  NAN);
		}
		row->sides[side] = (struct varies_side){ n, time / n, NAN };
		if (c && profile_variable_is_number(c->variable))
			row->sides[side].value = value / n;
	}
	row->delta = row->sides[1].mean - row->sides[0].mean;
}

define_compare(shift_compare, struct varies_shift,
	       compare_values(fabs(b->by_values), fabs(a->by_values)));

/* Explain the times by a tree over COLUMNS (bits). Add the result as a row for variable C, or for all COLUMNS if C is NULL. */
static void add_row(struct varies_shifts *s, const char *function, struct varies_data *d,
		    uint32_t columns, const struct varies_column *c, double offset)
{
	scoped_free struct varies_tree *t = alloc_new(struct varies_tree);
	struct leaf leaves[VARIES_NODES] = { 0 };
	struct varies_shift row = { .function = function,
				    .variable = c ? c->variable->name : NULL };

	varies_fit(t, d, columns);
	sides_sum(&row, d, c);
	leaves_sum(leaves, t, d);
	for (uint32_t i = 0; i < t->n_nodes; i++)
		if (leaves[i].sides[0].n + leaves[i].sides[1].n > 0)
			row.by_values += by_values(&leaves[i], &t->nodes[i], row.sides, offset);
	row.by_cost = row.delta - row.by_values;
	vec_push(s, rows, row);
}

/* Return whether the ranges of C's values in both profiles overlap. If not, effects of C and of the kernel look the same. */
static bool overlaps(const struct varies_data *d, const struct varies_column *c)
{
	uint32_t first[2] = { UINT32_MAX, UINT32_MAX }, last[2] = { 0 };

	for (uint32_t i = 0; i < d->n_rows; i++)
		for (int side = 0; side < 2; side++) {
			if (!(d->rows[i].sides[side].n > 0))
				continue;
			first[side] = first[side] < c->codes[i] ? first[side] : c->codes[i];
			last[side] = last[side] > c->codes[i] ? last[side] : c->codes[i];
		}
	return first[0] <= last[1] && first[1] <= last[0];
}

static void drop_apart(struct varies_data *d)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < d->n_columns; i++)
		if (overlaps(d, &d->columns[i]))
			d->columns[kept++] = d->columns[i];
		else
			varies_column_free(&d->columns[i]);
	d->n_columns = kept;
}

/* Set *OFFSET as offset_of() does, and subtract it from the second profile's times. Return the columns that explain the rest. */
static uint32_t select_within(struct varies_data *d, double *offset)
{
	scoped_free struct varies_tree *t = alloc_new(struct varies_tree);
	double chances[VARIES_COLUMNS];

	varies_draw(d);
	varies_fit(t, d, varies_select(d, chances));
	*offset = offset_of(t, d);
	varies_data_offset(d, *offset);
	varies_draw(d);
	return varies_select(d, chances);
}

static void add_function(struct varies_shifts *s, const struct profile *const p[2],
			 const char *function)
{
	scoped(varies_data_deinit) struct varies_data d = { 0 };
	uint32_t selected, first = s->n_rows;
	double offset;

	for (uint32_t side = 0; side < 2; side++)
		varies_data_read(&d, p[side], side, function);
	varies_data_finish(&d, &s->texts);
	if (!profile_same_kernel(p[0], p[1]))
		drop_apart(&d);
	if (varies_data_tells(&d)) {
		selected = select_within(&d, &offset);
		add_row(s, function, &d, selected, NULL, offset);
		for (uint32_t i = 0; i < d.n_columns; i++)
			if (selected >> i & 1)
				add_row(s, function, &d, 1u << i, &d.columns[i], offset);
		sort_array(&s->rows[first + 1], s->n_rows - first - 1, sizeof(*s->rows),
			   shift_compare);
	}
}

struct function {
	const char *name;
	double calls[2], time[2];
};

struct functions {
	vec_of(struct function, rows);
};

/* Add P's functions with captured calls to F. NAMES owns the names of the functions. */
static void functions_add(struct functions *f, const struct profile *p, int side,
			  struct alloc_texts *names)
{
	scoped_free struct function *of = alloc_array(p->n_sites, sizeof(*of));

	for (uint32_t i = 0; i < p->n_captures; i++) {
		of[p->captures[i].site].calls[side] += (double)p->captures[i].calls;
		of[p->captures[i].site].time[side] += (double)p->captures[i].time;
	}
	for (uint32_t i = 0; i < p->n_sites; i++) {
		if (!(of[i].calls[side] > 0))
			continue;
		of[i].name = alloc_keep(names, profile_site_label(&p->sites[i]));
		vec_push(f, rows, of[i]);
	}
}

define_compare(name_compare, struct function, compare_text(a->name, b->name));

static void function_add(void *to, void *from)
{
	struct function *a = to, *b = from;

	for (int side = 0; side < 2; side++) {
		a->calls[side] += b->calls[side];
		a->time[side] += b->time[side];
	}
}

define_compare(change_compare, struct function,
	       compare_values(fabs(b->time[1] - b->time[0]), fabs(a->time[1] - a->time[0])));

void varies_shifts_init(struct varies_shifts *s, const struct profile *a, const struct profile *b)
{
	const struct profile *const p[2] = { a, b };
	struct functions f = { 0 };
	uint32_t left = VARIES_SHIFTED_MAX;

	*s = (struct varies_shifts){ 0 };
	functions_add(&f, a, 0, &s->texts);
	functions_add(&f, b, 1, &s->texts);
	vec_unite(&f, rows, name_compare, function_add);
	sort_array(f.rows, f.n_rows, sizeof(*f.rows), change_compare);
	for (uint32_t i = 0; i < f.n_rows && left; i++) {
		const struct function *row = &f.rows[i];
		double before = row->time[0] / row->calls[0], after = row->time[1] / row->calls[1];

		/* The difference is NAN if only one profile has calls. */
		if (!(fabs(after - before) > NEGLIGIBLE * fabs(before)))
			continue;
		add_function(s, p, f.rows[i].name);
		left--;
	}
	free(f.rows);
}

void varies_shifts_deinit(struct varies_shifts *s)
{
	free(s->rows);
	alloc_texts_free(&s->texts);
}
