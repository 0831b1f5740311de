// SPDX-License-Identifier: GPL-2.0-or-later
/* The context that has most of the command's change, or all of it. */
#include <math.h>
#include <string.h>

#include "analyze/why/why.h"

/* Return how much of the command's cause I is in the context NODE. */
static double in_context(const struct why *w, uint32_t i, uint32_t node)
{
	const struct why_causes *c = &w->command.causes;

	for (uint32_t k = 0; k < c->items[i].n_shares; k++)
		if (c->shares[c->items[i].first_share + k].context == node)
			return c->shares[c->items[i].first_share + k].delta;
	return 0;
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

/* Return whether C explains the command's CAUSE: by its own number of calls, or by a cause that is to be named. */
static bool names(const struct why *w, const struct why_context *c, const struct why_cause *cause)
{
	if (!strcmp(cause->name, w->command.name))
		return c->told &&
		       (why_is_called_otherwise(c) || c->total[0] == 0 || c->total[1] == 0);
	for (uint32_t i = 0; i < c->causes.n_items; i++)
		if (!strcmp(c->causes.items[i].name, cause->name))
			return c->told && why_is_named(c, i);
	return false;
}

/* Return whether C has nearly all of the command's change, or that change is not known to be one. */
static bool has_all(const struct why *w, const struct why_context *c)
{
	double share = c->delta / w->command.delta;

	return w->command.changed < WHY_SURE || (share >= NEARLY_ALL && share <= 1 / NEARLY_ALL);
}

const struct why_context *why_only_context(const struct why *w)
{
	const struct why_context *c = why_main_context(w);
	bool any = false;

	if (!c || c->moved != 0 || !has_all(w, c))
		return NULL;
	for (uint32_t i = 0; i < w->command.causes.n_items; i++) {
		if (!why_is_named(&w->command, i))
			continue;
		any = true;
		if (fabs(in_context(w, i, c->node)) <
			    NEARLY_ALL * fabs(w->command.causes.items[i].delta) ||
		    !names(w, c, &w->command.causes.items[i]))
			return NULL;
	}
	return any || fabs(c->delta) >= NEARLY_ALL * fabs(w->command.delta) ? c : NULL;
}
