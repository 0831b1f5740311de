// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/why/why.h"

#include <math.h>
#include <string.h>

#include "analyze/diff/diff.h"

/* Time a caller only if it is called at most this often per call of the innermost function, since probes take time. */
#define CALLS_MOST 2

/* Return how often all callers call NAME per run, in the kernel with more of these calls. */
static double calls_of(const struct tree_pair *t, const char *name)
{
	double calls[2] = {};

	vec_each(const struct tree_pair_node, node, t, nodes)
		if (!strcmp(node->name, name))
			for (int side = 0; side < 2; side++)
				calls[side] += node->calls[side];
	return fmax(calls[0], calls[1]);
}

uint32_t why_probed_functions(const struct tree_pair *t, const struct why_context *c,
			      const char *names[WHY_PROBED])
{
	const struct why_part *part;
	uint32_t node, n = 0;
	double most = INFINITY;

	if (!c->sureness || !c->causes.n_items || !why_is_named(c, 0))
		return 0;
	part = &c->causes.parts[c->causes.items[0].first_part];
	node = part->kind == WHY_SELF ? part->node : t->nodes[part->node].parent;
	for (; n < WHY_PROBED && t->nodes[node].parent; node = t->nodes[node].parent) {
		const struct tree_pair_node *f = &t->nodes[node];
		double calls = calls_of(t, f->name);

		if (f->inlined[0] || f->inlined[1] || calls > most)
			continue;
		if (!n && calls > 0)
			most = CALLS_MOST * calls;
		names[n++] = f->name;
	}
	return n;
}

static const struct analyze_diff_row *find_row(const struct analyze_diff_rows *rows,
					       const char *name, const char *context)
{
	vec_each(const struct analyze_diff_row, row, rows, rows)
		if (!strcmp(row->name, name) && (!context || !strcmp(row->context, context)))
			return row;
	return NULL;
}

/* Add the noise MORE, which is independent of *NOISE, to *NOISE. NAN means unknown. */
static void add_noise(double *noise, double more)
{
	if (!isnan(more))
		*noise = isnan(*noise) ? more : hypot(*noise, more);
}

/* Compare PAIR. Set CHECK->context[WHICH] to C's change, and CHECK->functions[WHICH] to that of the first of NAMES with a row. */
static int compare(struct why_check *check, const struct why_context *c,
		   const struct profile *const pair[2], int which, const char *const *names,
		   uint32_t n)
{
	const struct analyze_options options = { .time = ANALYZE_TIME_ONCPU };
	const struct analyze_diff_row *row;
	struct analyze_diff diff;
	int err = analyze_diff_init(&diff, pair[0], pair[1], &options);

	if (err)
		return err;
	row = find_row(&diff.syscalls, c->name, NULL);
	if (row) {
		check->context[which] = row->delta;
		if (which)
			add_noise(&check->context_noise, row->change.plus_minus);
	}
	for (uint32_t i = 0; i < n && isnan(check->functions[which]); i++) {
		row = find_row(&diff.functions, names[i], c->name);
		if (!row)
			continue;
		check->function = names[i];
		check->functions[which] = row->delta_total;
		if (which)
			add_noise(&check->function_noise,
				  row->change.plus_minus *
					  fmax(row->sides[0].calls, row->sides[1].calls));
	}
	analyze_diff_deinit(&diff);
	return 0;
}

int why_check_init(struct why_check *check, const struct tree_pair *t, const struct why_context *c,
		   const struct profile *const exact[2], const struct profile *const probed[2])
{
	const char *names[WHY_PROBED];
	uint32_t n = why_probed_functions(t, c, names);
	int err;

	*check = (struct why_check){ .context = { NAN, NAN }, .functions = { NAN, NAN } };
	check->context_noise = check->function_noise = NAN;
	if (c->calls[0] > 0)
		check->context_noise = why_significance_noise(&c->significance) / c->calls[0];
	if (n)
		check->function_noise = why_significance_noise(&c->causes.items[0].significance);
	err = compare(check, c, probed, 1, names, n);
	return err ?: compare(check, c, exact, 0, &check->function, !!check->function);
}
