// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/varies/varies.h"

#include <Rmath.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/varies/validate.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/sorted.h"

static const struct varies_law no_law = { NULL, NAN, NAN, { NAN, NAN } };

/* Return NODE's regression line, in ticks. The interval of its slope is that of least squares, as in R's confint(lm()). */
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

/* Set the condition of PART, which is child number SIDE of the split S. */
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

/* Rank the variables. Grow T over the selected variables from all calls. */
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

/* Minimum number of captured calls to analyze. */
#define CALLS_LEAST (4 * VARIES_FOLDS)

/* A variable with fewer distinct values cannot be the start or end of an address range. */
#define VALUES_LEAST 8

const struct profile_variable varies_context = {
	.name = "context",
	.kind = PROFILE_VARIABLE_CONTEXT,
	.bytes = sizeof(uint64_t),
};

/* Return an array for P's SITES: true if the timed function is called FUNCTION. The caller frees the array. */
static bool *sites_of(const struct profile *p, const char *function)
{
	bool *is = alloc_array(p->n_sites, sizeof(*is));

	for (uint32_t i = 0; i < p->n_sites; i++)
		is[i] = profile_site_has_label(&p->sites[i], function);
	return is;
}

define_compare(row_compare, struct varies_row,
	       compare_values(a->absent, b->absent) ?:
		       memcmp(a->values, b->values, sizeof(a->values)));

static void row_add(void *to, void *from)
{
	struct varies_row *a = to, *b = from;

	a->calls += b->calls;
	varies_sums_add(&a->sums, &b->sums);
	for (int side = 0; side < 2; side++)
		varies_sums_add(&a->sides[side], &b->sides[side]);
	a->min = fmin(a->min, b->min);
	a->max = fmax(a->max, b->max);
}

/* A function's probe captures values. Value number I belongs to the column COLUMNS[I]. */
struct site_columns {
	uint32_t n, columns[PROFILE_VALUES_MAX];
};

/* Give each distinct variable a column, at most PROFILE_VALUES_MAX. Return an array indexed by site. The caller frees it. */
static struct site_columns *columns_find(struct varies_data *d, const struct profile *p,
					 const bool *is_of)
{
	struct site_columns *sites = alloc_array(p->n_sites, sizeof(*sites));

	vec_each(const struct profile_variable, v, p, variables) {
		uint32_t c = 0;

		if (!is_of[v->site])
			continue;
		while (c < d->n_columns && strcmp(d->columns[c].variable->name, v->name) != 0)
			c++;
		if (c == d->n_columns && c < PROFILE_VALUES_MAX)
			d->columns[d->n_columns++].variable = v;
		sites[v->site].columns[sites[v->site].n++] = c;
	}
	return sites;
}

/*
 * Return an array with the number of calls that one sampled call represents in each run. Calls without room in the table of
 * captures are lost, but a random sample of these is known. Add the numbers of lost and sampled calls to D->lost and D->sampled.
 */
static double *run_weights(struct varies_data *d, const struct profile *p, const bool *is_of)
{
	double *weights = alloc_array(p->n_runs, sizeof(*weights));
	scoped_free double *sampled = alloc_array(p->n_runs, sizeof(*sampled));

	for (uint32_t i = 0; i < p->n_cells; i++)
		if (is_of[p->cells[i].site])
			weights[p->cells[i].run] += (double)p->cells[i].stats.calls;
	vec_each(const struct profile_capture, c, p, captures) {
		if (!is_of[c->site])
			continue;
		if (c->sampled)
			sampled[c->run] += (double)c->calls;
		else
			weights[c->run] -= (double)c->calls;
	}
	for (uint32_t i = 0; i < p->n_runs; i++) {
		if (!(sampled[i] > 0))
			continue;
		weights[i] = fmax(1, weights[i] / sampled[i]);
		d->lost += weights[i] * sampled[i];
		d->sampled += sampled[i];
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

void varies_data_read(struct varies_data *d, const struct profile *p, uint32_t side,
		      const char *function)
{
	scoped_free bool *is_of = sites_of(p, function);
	scoped_free struct site_columns *sites = columns_find(d, p, is_of);
	scoped_free double *weights = run_weights(d, p, is_of);

	vec_each(const struct profile_capture, c, p, captures) {
		double weight = c->sampled ? weights[c->run] : 1;
		struct varies_row row;

		if (!is_of[c->site])
			continue;
		row = row_of(c, &sites[c->site], weight);
		row.context = profile_name_value(p->contexts[c->context].name);
		row.sides[side] = row.sums;
		vec_push(d, rows, row);
		d->weight = fmax(d->weight, weight);
	}
}

/* Subtract the mean of all latencies, so that sums of squares keep their precision. */
static void rows_center(struct varies_data *d)
{
	struct varies_sums *all = &d->all;

	for (uint32_t i = 0; i < d->n_rows; i++) {
		all->n += d->rows[i].sums.n;
		all->sum += d->rows[i].sums.sum;
	}
	d->mean = all->sum / all->n;
	all->sum = 0;
	vec_each(struct varies_row, row, d, rows) {
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
	uint64_t key; /* the value, with the sign bit inverted if signed, to sort as unsigned */
	uint32_t row;
};

void varies_column_free(struct varies_column *c)
{
	free(c->codes);
	free(c->values);
	free(c->x);
}

static void column_number(struct varies_data *d, uint32_t column)
{
	struct varies_column *c = &d->columns[column];
	uint64_t sign = c->variable->is_signed ? 1ull << 63 : 0;
	scoped_free struct value *values = alloc_array(d->n_rows, sizeof(*values));
	uint32_t n = 0;

	c->n_values = 0; /* a rejected difference may have used this column before */
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
}

/* Return the length of NAME without the last struct member. For example, "a->b" has the length of "a->". */
static size_t object_length(const char *name)
{
	const char *end = name + strlen(name);

	while (end > name && end[-1] != '.' && end[-1] != '>')
		end--;
	return (size_t)(end - name);
}

static bool is_place(const struct varies_column *c)
{
	return profile_variable_is_number(c->variable) && c->variable->bytes == sizeof(uint64_t) &&
	       c->variable->kind != PROFILE_VARIABLE_RETURN && c->n_values >= VALUES_LEAST;
}

/* Set column TO to END minus START in rows with both values. Return false if END is below START in a row. */
static bool subtract(struct varies_data *d, uint32_t end, uint32_t start, uint32_t to)
{
	vec_each(struct varies_row, row, d, rows) {
		bool is_known = !(row->absent & (1u << end | 1u << start));

		if (is_known && row->values[end] < row->values[start])
			return false;
		row->values[to] = is_known ? row->values[end] - row->values[start] : 0;
		row->absent = (row->absent & ~(1u << to)) | (uint32_t)!is_known << to;
	}
	return true;
}

static void difference_try(struct varies_data *d, uint32_t end, uint32_t start,
			   struct alloc_texts *kept)
{
	const struct profile_variable *a = d->columns[end].variable;
	const struct profile_variable *b = d->columns[start].variable;
	struct varies_column *c = &d->columns[d->n_columns];
	struct profile_variable *difference;
	size_t length = object_length(a->name);

	if (d->n_columns == VARIES_COLUMNS || length != object_length(b->name) ||
	    memcmp(a->name, b->name, length) != 0 || !subtract(d, end, start, d->n_columns))
		return;
	difference = alloc_new(struct profile_variable);
	*difference = *a;
	difference->name = alloc_keep(kept, alloc_printf("%s" VARIES_MINUS "%s", a->name, b->name));
	alloc_keep(kept, (char *)difference);
	c->variable = difference;
	column_number(d, d->n_columns);
	if (c->n_values > 1 && 2 * c->n_values <= d->columns[end].n_values &&
	    2 * c->n_values <= d->columns[start].n_values)
		d->n_columns++;
	else
		varies_column_free(c);
}

/*
 * Two variables may be the end and start of an address range: members of one object, or two arguments. Add their difference as a
 * variable. Skip a difference with over half as many values as one of both: a regression line over that one explains calls as
 * well.
 */
static void differences_add(struct varies_data *d, struct alloc_texts *kept)
{
	uint32_t n = d->n_columns;

	for (uint32_t end = 0; end < n; end++)
		for (uint32_t start = 0; is_place(&d->columns[end]) && start < n; start++)
			if (start != end && is_place(&d->columns[start]))
				difference_try(d, end, start, kept);
}

/* Add the context as the last column. If two columns explain the same, the first is preferred. */
static void context_add(struct varies_data *d)
{
	uint32_t column = d->n_columns;
	bool differs = false;

	for (uint32_t i = 0; i < d->n_rows; i++)
		differs |= d->rows[i].context != d->rows[0].context;
	for (uint32_t i = 0; i < column; i++)
		differs &= strcmp(d->columns[i].variable->name, varies_context.name) != 0;
	if (!differs)
		return;
	d->columns[d->n_columns++].variable = &varies_context;
	vec_each(struct varies_row, row, d, rows) {
		row->values[column] = row->context;
		row->absent &= ~(1u << column);
	}
}

void varies_data_finish(struct varies_data *d, struct alloc_texts *differences)
{
	uint32_t most = 0;

	context_add(d);
	vec_unite(d, rows, row_compare, row_add);
	rows_center(d);
	for (uint32_t i = 0; i < d->n_columns; i++)
		column_number(d, i);
	differences_add(d, differences);
	for (uint32_t i = 0; i < d->n_columns; i++)
		most = most > d->columns[i].n_values ? most : d->columns[i].n_values;
	d->by_code = alloc_array(most + 1, sizeof(*d->by_code));
	d->order = alloc_array(d->n_rows, sizeof(*d->order));
}

void varies_data_offset(struct varies_data *d, double offset)
{
	vec_each(struct varies_row, row, d, rows) {
		struct varies_sums second = row->sides[1];
		double shift = d->mean - (row->sides[0].n > 0 ? 0 : offset);

		second.squares += offset * (offset * second.n - 2 * second.sum);
		second.sum -= offset * second.n;
		row->sums = row->sides[0];
		varies_sums_add(&row->sums, &second);
		row->min += shift;
		row->max += shift;
	}
	rows_center(d);
}

bool varies_data_tells(const struct varies_data *d)
{
	double captured = 0;

	for (uint32_t i = 0; i < d->n_rows; i++)
		captured += d->rows[i].calls;
	/* Rounding gives equal times a small variance, which does not count. */
	return captured >= CALLS_LEAST &&
	       sqrt(varies_rest(&d->all) / d->all.n) > 1e-6 * fabs(d->mean);
}

void varies_data_deinit(struct varies_data *d)
{
	for (uint32_t i = 0; i < d->n_columns; i++)
		varies_column_free(&d->columns[i]);
	free(d->by_code);
	free(d->order);
	free(d->calls);
	free(d->number);
	free(d->folds);
	free(d->rows);
}
