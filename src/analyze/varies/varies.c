// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/varies/varies.h"

#include <errno.h>
#include <math.h>
#include <Rmath.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/varies/tree.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/sorted.h"

/* A leaf has so many of the captured calls at least. */
#define LEAF_LEAST 5
/* Fewer calls than that tell nothing. */
#define CALLS_LEAST (4 * VARIES_FOLDS)

static bool is_of(const struct profile *p, uint32_t site, const char *function)
{
	return p->sites[site].kind == PROFILE_SITE_FUNCTION &&
	       !strcmp(p->sites[site].name, function);
}

/* ---- rows ---- */

define_compare(row_compare, struct varies_row,
	       compare_values(a->absent, b->absent) ?:
		       memcmp(a->values, b->values, sizeof(a->values)));

static void row_add(void *to, void *from)
{
	struct varies_row *a = to, *b = from;

	a->calls += b->calls;
	varies_sums_add(&a->sums, &b->sums);
	a->min = fmin(a->min, b->min);
	a->max = fmax(a->max, b->max);
}

/* Which columns a site's values are. */
struct site_columns {
	uint32_t n, columns[PROFILE_VALUES_MAX];
};

/* The function's variables, by name; beyond PROFILE_VALUES_MAX they are left out. For free(). */
static struct site_columns *columns_find(struct varies_data *d, const struct profile *p,
					 const char *function)
{
	struct site_columns *sites = alloc_array(p->n_sites, sizeof(*sites));

	for (uint32_t i = 0; i < p->n_variables; i++) {
		const struct profile_variable *v = &p->variables[i];
		uint32_t c = 0;

		if (!is_of(p, v->site, function))
			continue;
		while (c < d->n_columns && strcmp(d->columns[c].variable->name, v->name) != 0)
			c++;
		if (c == d->n_columns && c < PROFILE_VALUES_MAX)
			d->columns[d->n_columns++].variable = v;
		sites[v->site].columns[sites[v->site].n++] = c;
	}
	return sites;
}

/* How many calls each sampled one stands for, by run. */
static double *run_weights(struct varies *v, const struct profile *p, const char *function)
{
	double *weights = alloc_array(p->n_runs, sizeof(*weights));

	for (uint32_t i = 0; i < p->n_captures; i++) {
		const struct profile_capture *c = &p->captures[i];

		if (!c->sampled)
			continue;
		weights[c->run] += (double)c->calls;
		if (is_of(p, c->site, function))
			v->sampled += (double)c->calls;
	}
	for (uint32_t i = 0; i < p->n_runs; i++) {
		uint64_t lost = p->runs[i].losses[PROFILE_LOSS_CAPTURES_FULL];

		lost = lost == PROFILE_NOT_COUNTED ? 0 : lost;
		v->lost += (double)lost;
		weights[i] = fmax(1, weights[i] > 0 ? (double)lost / weights[i] : 1);
	}
	return weights;
}

static struct varies_row row_of(const struct profile_capture *c, const struct site_columns *site,
				double weight)
{
	struct varies_row row = {
		.absent = UINT32_MAX,
		.calls = (double)c->calls,
		.sums = { weight * (double)c->calls, weight * (double)c->time, weight * c->sumsq },
		.min = (double)c->min,
		.max = (double)c->max,
	};

	for (uint32_t i = 0; i < site->n; i++) {
		if (site->columns[i] == PROFILE_VALUES_MAX || c->absent >> i & 1)
			continue;
		row.values[site->columns[i]] = c->values[i];
		row.absent &= ~(1u << site->columns[i]);
	}
	return row;
}

static void rows_read(struct varies_data *d, struct varies *v, const struct profile *p,
		      const char *function)
{
	struct site_columns *sites = columns_find(d, p, function);
	double *weights = run_weights(v, p, function);

	for (uint32_t i = 0; i < p->n_captures; i++) {
		const struct profile_capture *c = &p->captures[i];
		double weight = c->sampled ? weights[c->run] : 1;

		if (!is_of(p, c->site, function))
			continue;
		vec_push(d, rows, row_of(c, &sites[c->site], weight));
		d->weight = fmax(d->weight, weight);
	}
	vec_unite(d, rows, row_compare, row_add);
	free(sites);
	free(weights);
}

/* Takes the mean of all off, so that sums of squares lose no digits. */
static void rows_center(struct varies_data *d, struct varies_sums *all)
{
	*all = (struct varies_sums){ 0 };
	for (uint32_t i = 0; i < d->n_rows; i++) {
		all->n += d->rows[i].sums.n;
		all->sum += d->rows[i].sums.sum;
	}
	d->mean = all->sum / all->n;
	all->sum = 0;
	for (uint32_t i = 0; i < d->n_rows; i++) {
		struct varies_row *row = &d->rows[i];
		double mean = row->sums.sum / row->sums.n;
		double within = row->calls > 1 ? fmax(0, varies_rest(&row->sums)) : 0;

		row->min -= d->mean;
		row->max -= d->mean;
		mean -= d->mean;
		row->sums.sum = row->sums.n * mean;
		row->sums.squares = within + row->sums.n * mean * mean;
		all->sum += row->sums.sum;
		all->squares += row->sums.squares;
	}
}

struct value {
	uint64_t key; /* in the order of what it means */
	uint32_t row;
};

static void column_number(struct varies_data *d, uint32_t column)
{
	struct varies_column *c = &d->columns[column];
	uint64_t sign = c->variable->is_signed ? 1ull << 63 : 0;
	struct value *values = alloc_array(d->n_rows, sizeof(*values));
	uint32_t n = 0;

	c->codes = alloc_array(d->n_rows, sizeof(*c->codes));
	c->values = alloc_array(d->n_rows, sizeof(*c->values));
	c->x = alloc_array(d->n_rows, sizeof(*c->x));
	for (uint32_t i = 0; i < d->n_rows; i++)
		if (!(d->rows[i].absent >> column & 1))
			values[n++] = (struct value){ d->rows[i].values[column] ^ sign, i };
	sort_array(values, n, sizeof(*values), compare_u64);
	for_each_run(i, j, n, values[j].key == values[i].key) {
		c->values[c->n_values] = values[i].key ^ sign;
		c->x[c->n_values] = (double)(values[i].key - values[0].key);
		for (uint32_t k = i; k < j; k++)
			c->codes[values[k].row] = c->n_values;
		c->n_values++;
	}
	for (uint32_t i = 0; i < d->n_rows; i++)
		if (d->rows[i].absent >> column & 1)
			c->codes[i] = c->n_values;
	free(values);
}

static void data_deinit(struct varies_data *d)
{
	for (uint32_t i = 0; i < d->n_columns; i++) {
		free(d->columns[i].codes);
		free(d->columns[i].values);
		free(d->columns[i].x);
	}
	free(d->by_code);
	free(d->order);
	free(d->calls);
	free(d->number);
	free(d->folds);
	free(d->rows);
}

/* ---- what comes of it ---- */

static const struct varies_law no_law = { NULL, NAN, NAN, { NAN, NAN } };

/* The line in the latency's and the value's own units. Its interval is that of least squares, as R's confint(lm()). */
static struct varies_law law_of(const struct varies_data *d, const struct varies_node *node)
{
	const struct varies_column *c = &d->columns[node->line.column];
	double first =
		c->variable->is_signed ? (double)(int64_t)c->values[0] : (double)c->values[0];
	double df = node->sums.n - 2, slope = node->line.slope, half;

	half = qt(0.5 + ANALYZE_CONFIDENCE / 2, df, 1, 0) *
	       sqrt(fmax(0, varies_rest(&node->sums) - node->line.gain) / df /
		    node->line.squares_x);
	return (struct varies_law){ c->variable,
				    slope,
				    d->mean + node->sums.sum / node->sums.n -
					    slope * (first + node->line.mean_x),
				    { slope - half, slope + half } };
}

static double node_mean(const struct varies_data *d, const struct varies_node *node)
{
	return d->mean + node->sums.sum / node->sums.n;
}

/* The condition of one SIDE of the split. */
static void part_condition(struct varies_part *part, const struct varies_data *d,
			   const struct varies_split *s, uint32_t side)
{
	static const enum varies_op other[] = {
		[VARIES_AT_MOST] = VARIES_AT_LEAST,
		[VARIES_EQUAL] = VARIES_NOT_EQUAL,
		[VARIES_BIT] = VARIES_NO_BIT,
		[VARIES_UNKNOWN] = VARIES_KNOWN,
	};
	const struct varies_column *c = &d->columns[s->column];
	uint32_t code = s->code;

	part->variable = c->variable;
	part->op = side ? other[s->op] : s->op;
	if (side && s->op == VARIES_AT_MOST)
		code++;
	if (side && s->op == VARIES_EQUAL && c->n_values == 2) {
		part->op = VARIES_EQUAL;
		code = !code;
	}
	if (s->op == VARIES_BIT)
		part->value = 1ull << s->code;
	else if (s->op != VARIES_UNKNOWN)
		part->value = c->values[code];
}

static void parts_add(struct varies *v, const struct varies_data *d, const struct varies_tree *t,
		      const struct varies_part *condition, uint32_t index, double all)
{
	const struct varies_node *node = &t->nodes[index];
	struct varies_part *part = &v->parts[v->n_parts++], below[2] = { 0 };
	double rest = varies_rest(&node->sums), explained = 0;
	uint32_t slow;

	*part = *condition;
	part->calls = node->sums.n;
	part->mean = node_mean(d, node);
	part->law = no_law;
	part->is_split = node->use == VARIES_SPLIT;
	if (node->use == VARIES_LINE) {
		part->law = law_of(d, node);
		explained = node->line.gain;
	} else if (part->is_split) {
		explained = node->split.gain;
	}
	part->explained = node->use == VARIES_LEAF ? NAN : explained / all;
	part->unexplained = part->is_split ? NAN : fmax(0, rest - explained) / all;
	if (!part->is_split)
		return;
	slow = node_mean(d, &t->nodes[node->child[1]]) > node_mean(d, &t->nodes[node->child[0]]);
	below[0].depth = below[1].depth = condition->depth + 1;
	part_condition(&below[0], d, &node->split, slow);
	part_condition(&below[1], d, &node->split, !slow);
	parts_add(v, d, t, &below[0], node->child[slow], all);
	parts_add(v, d, t, &below[1], node->child[!slow], all);
}

define_compare(rank_compare, struct varies_rank,
	       compare_values(b->is_selected, a->is_selected) ?:
		       compare_values(b->alone, a->alone)     ?:
		       compare_values(a->variable, b->variable));

/* The ranks; T becomes the tree over those that are selected, of all calls. */
static void rank(struct varies *v, struct varies_data *d, struct varies_tree *t)
{
	struct varies_sums *all = alloc_array(d->n_rows, sizeof(*all));
	double p[PROFILE_VALUES_MAX], complexity, of_all;
	uint32_t selected;

	for (uint32_t i = 0; i < d->n_rows; i++)
		all[i] = d->rows[i].sums;
	varies_draw(d);
	d->least = LEAF_LEAST;
	selected = varies_select(d, p);
	v->explained = varies_validate(d, selected, &of_all);
	for (uint32_t i = 0; i < d->n_columns; i++) {
		struct varies_rank *r = &v->ranks[i];

		r->p = p[i];
		r->is_selected = selected >> i & 1;
		v->n_selected += r->is_selected;
		if (r->is_selected)
			r->given_others = fmax(
				0, v->explained - varies_validate(d, selected & ~(1u << i), NULL));
		r->alone = varies_validate(d, 1u << i, &complexity);
		varies_tree_grow(t, d, 1u << i, all);
		varies_tree_prune(t, complexity);
		if (t->nodes[0].use == VARIES_LINE)
			r->law = law_of(d, t->nodes);
	}
	d->least = LEAF_LEAST * d->weight;
	varies_tree_grow(t, d, selected, all);
	varies_tree_prune(t, of_all);
	sort_array(v->ranks, v->n_ranks, sizeof(*v->ranks), rank_compare);
	free(all);
}

static void analyze(struct varies *v, struct varies_data *d)
{
	struct varies_tree *t = alloc_new(struct varies_tree);
	struct varies_sums all;
	double equal = 0, captured = 0;
	uint32_t most = 0;

	rows_center(d, &all);
	for (uint32_t i = 0; i < d->n_rows; i++) {
		equal += varies_rest(&d->rows[i].sums);
		captured += d->rows[i].calls;
	}
	v->n_rows = d->n_rows;
	v->calls = all.n;
	v->mean = d->mean;
	v->deviation = sqrt(varies_rest(&all) / all.n);
	v->explained = v->equal = NAN;
	v->n_ranks = d->n_columns;
	v->ranks = alloc_array(d->n_columns, sizeof(*v->ranks));
	for (uint32_t i = 0; i < d->n_columns; i++) {
		column_number(d, i);
		most = most > d->columns[i].n_values ? most : d->columns[i].n_values;
		v->ranks[i] = (struct varies_rank){
			.variable = d->columns[i].variable,
			.n_values = d->columns[i].n_values,
			.p = 1,
			.given_others = NAN,
			.law = no_law,
		};
	}
	d->by_code = alloc_array(most + 1, sizeof(*d->by_code));
	d->order = alloc_array(d->n_rows, sizeof(*d->order));
	/* Rounding leaves of equal times what is no variance. */
	if (captured >= CALLS_LEAST && v->deviation > 1e-6 * fabs(v->mean)) {
		v->equal = equal / varies_rest(&all);
		rank(v, d, t);
		parts_add(v, d, t, &(struct varies_part){ 0 }, 0, varies_rest(&all));
	}
	v->steps = d->steps;
	free(t);
}

int varies_init(struct varies *v, const struct profile *p, const char *function)
{
	struct varies_data d = { 0 };

	*v = (struct varies){ .function = function };
	if (!function)
		return 0;
	rows_read(&d, v, p, function);
	if (d.n_rows)
		analyze(v, &d);
	else
		log_error("no values of '%s' were captured: record it with --context", function);
	data_deinit(&d);
	return d.n_rows ? 0 : -ENOENT;
}

void varies_deinit(struct varies *v)
{
	free(v->ranks);
}
