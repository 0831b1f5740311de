// SPDX-License-Identifier: GPL-2.0-or-later

#include <math.h>
#include <string.h>

#include "analyze/why/why.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* Up to this many functions are reported one by one, each with its contexts and reasons. */
#define FEW 3

struct item {
	const char *name;
	const struct why_part *part;
};

define_compare(by_name, struct item,
	       compare_values(a->part->kind, b->part->kind) ?: strcmp(a->name, b->name));

/* Return the sum of N ITEMS, which are parts with the same kind and name. */
static struct why_spread sum_up(const struct why_causes *c, const struct item *items, uint32_t n)
{
	struct why_spread s = { .name = items[0].name, .most = items[0].part, .n_functions = n };
	double deviation[2] = {};

	for (uint32_t i = 0; i < n; i++) {
		const struct why_part *part = items[i].part;
		const struct why_cause *cause = &c->items[part->cause];

		s.delta += part->delta;
		s.rest += cause->delta - part->delta;
		s.significance.known += cause->significance.known;
		/* The causes may vary together, so add up their standard deviations. */
		for (int side = 0; side < 2; side++)
			deviation[side] += sqrt(cause->significance.squares[side]);
		if (fabs(part->delta) > fabs(s.most->delta))
			s.most = part;
	}
	for (int side = 0; side < 2; side++)
		s.significance.squares[side] = deviation[side] * deviation[side];
	return s;
}

struct why_spread why_spread_find(const struct why *w, const struct why_context *c)
{
	scoped_free struct item *items = alloc_array(c->causes.n_parts, sizeof(*items));
	struct why_spread best = {};
	uint32_t n = 0;

	vec_each(const struct why_part, part, &c->causes, parts)
		if (part->kind == WHY_NEW || part->kind == WHY_GONE)
			items[n++] =
				(struct item){ why_switched_name(&w->switched, part->name), part };
	sort_array(items, n, sizeof(*items), by_name);
	for_each_run(i, j, n, !by_name(&items[i], &items[j])) {
		struct why_spread s = sum_up(&c->causes, &items[i], j - i);

		/* Skip a change that is not the main change of its functions. */
		if (fabs(s.delta) > fabs(best.delta) && fabs(s.delta) > fabs(s.rest) &&
		    fabs(s.most->delta) <= LARGE_PART * fabs(s.delta) && s.n_functions > FEW)
			best = s;
	}
	if (best.most)
		why_judge(w, &best.significance, best.delta + best.rest);
	return best;
}

uint32_t why_spread_functions(const struct why_context *c, double share)
{
	double sum = 0;
	uint32_t n = 0;

	while (n < c->causes.n_items && fabs(sum) < share * fabs(c->causes.delta))
		sum += c->causes.items[n++].delta;
	return n;
}

const struct why_context *why_main_context(const struct why *w)
{
	const struct why_causes *c = &w->command.causes;
	uint32_t node = TREE_NONE;

	for (uint32_t i = 0; i < c->n_items && node == TREE_NONE; i++)
		if (why_is_named(&w->command, i))
			node = c->shares[c->items[i].first_share].context;
	vec_each(const struct why_context, of, w, contexts)
		if (node == TREE_NONE ? why_is_of_command(of->name) : of->node == node)
			return of;
	return w->contexts;
}

bool why_is_untimed(const struct why *w, const struct why_causes *c, const struct why_cause *cause)
{
	const struct why_share *share = &c->shares[cause->first_share];

	return !w->tree.has_callers && !strcmp(cause->name, w->pair.nodes[share->context].name);
}
