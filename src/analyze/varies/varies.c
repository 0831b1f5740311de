// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/varies/varies.h"

#include <errno.h>
#include <math.h>
#include <Rmath.h>

#include "analyze/varies/tree.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/sorted.h"

/* ---- what comes of it ---- */

static const struct varies_law no_law = { NULL, NAN, NAN, { NAN, NAN } };

/* The line in the latency's and the value's own units. Its interval is that of least squares, as R's confint(lm()). */
static struct varies_law law_of(const struct varies_data *d, const struct varies_node *node)
{
	const struct varies_column *c = &d->columns[node->line.column];
	double first = varies_value(c, c->values[0]);
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
								compare_values(a->place, b->place));

/* The ranks; T becomes the tree over those that are selected, of all calls. */
static void rank(struct varies *v, struct varies_data *d, struct varies_tree *t)
{
	double p[VARIES_COLUMNS];
	uint32_t selected;

	varies_draw(d);
	selected = varies_select(d, p);
	for (uint32_t i = 0; i < d->n_columns; i++) {
		struct varies_rank *r = &v->ranks[i];

		r->p = p[i];
		r->is_selected = selected >> i & 1;
		v->n_selected += r->is_selected;
		r->alone = varies_fit(t, d, 1u << i);
		if (t->nodes[0].use == VARIES_LINE)
			r->law = law_of(d, t->nodes);
	}
	v->explained = varies_fit(t, d, selected);
	for (uint32_t i = 0; i < d->n_columns; i++)
		if (selected >> i & 1)
			v->ranks[i].given_others = fmax(
				0, v->explained - varies_validate(d, selected & ~(1u << i), NULL));
	sort_array(v->ranks, v->n_ranks, sizeof(*v->ranks), rank_compare);
}

static void analyze(struct varies *v, struct varies_data *d)
{
	scoped_free struct varies_tree *t = alloc_new(struct varies_tree);
	double equal = 0, all = varies_rest(&d->all);

	for (uint32_t i = 0; i < d->n_rows; i++)
		equal += varies_rest(&d->rows[i].sums);
	v->n_rows = d->n_rows;
	v->calls = d->all.n;
	v->mean = d->mean;
	v->deviation = sqrt(all / d->all.n);
	v->explained = v->equal = NAN;
	v->lost = d->lost;
	v->sampled = d->sampled;
	v->n_ranks = d->n_columns;
	v->ranks = alloc_array(d->n_columns, sizeof(*v->ranks));
	for (uint32_t i = 0; i < d->n_columns; i++)
		v->ranks[i] = (struct varies_rank){
			.variable = d->columns[i].variable,
			.place = i,
			.n_values = d->columns[i].n_values,
			.p = 1,
			.given_others = NAN,
			.law = no_law,
		};
	if (varies_data_tells(d)) {
		v->equal = equal / all;
		rank(v, d, t);
		parts_add(v, d, t, &(struct varies_part){ 0 }, 0, all);
	}
	v->steps = d->steps;
}

int varies_init(struct varies *v, const struct profile *p, const char *function)
{
	scoped(varies_data_deinit) struct varies_data d = { 0 };

	*v = (struct varies){ .function = function };
	if (!function)
		return 0;
	varies_data_read(&d, p, 0, function);
	if (d.n_rows) {
		varies_data_finish(&d, &v->differences);
		analyze(v, &d);
	} else {
		log_error("no values of '%s' were captured: record it with --context", function);
	}
	return v->n_rows ? 0 : -ENOENT;
}

void varies_deinit(struct varies *v)
{
	free(v->ranks);
	alloc_texts_free(&v->differences);
}
