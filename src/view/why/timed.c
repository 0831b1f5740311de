// SPDX-License-Identifier: GPL-2.0-or-later
/* `kprotperf why` on recordings with probes: the sentence on a cause. The cause is a function or context, timed or sampled. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "output/number.h"
#include "view/names.h"
#include "view/page/page.h"
#include "view/why.h"

/* Calls of a function per run, and its self time, for each recording. */
struct timed {
	double calls[2], self[2];
};

static struct timed timed_of(const struct why *w, const struct why_context *c, const char *name)
{
	struct timed timed = {};

	for (uint32_t i = 1; i < w->pair.n_nodes; i++) {
		const struct tree_pair_node *n = &w->pair.nodes[i];

		if (n->sampled || strcmp(n->name, name) != 0 ||
		    !tree_pair_is_below(&w->pair, i, c->node))
			continue;
		for (int side = 0; side < 2; side++) {
			timed.calls[side] += n->calls[side];
			timed.self[side] += tree_pair_own(&w->pair, i, side);
		}
	}
	return timed;
}

static bool is_timed(const struct profile *p, const char *name)
{
	vec_each(const struct profile_site, site, p, sites)
		if (!strcmp(site->name, name))
			return true;
	return false;
}

bool view_why_has_functions(const struct why *w)
{
	return w->p[0]->n_sites > 1 || w->p[1]->n_sites > 1;
}

bool view_why_is_unopened(const struct why *w, const struct why_context *c)
{
	if (w->tree.has_callers || view_why_has_functions(w))
		return false;
	for (uint32_t i = 0; i < c->causes.n_items; i++) {
		const struct why_cause *cause = &c->causes.items[i];

		if (why_is_named(c, i) &&
		    w->pair.nodes[c->causes.parts[cause->first_part].node].sampled)
			return false;
	}
	return true;
}

/*
 * Append ", called 74,512 times per run instead of 360", ", called on the hardened side only, 360 times per run" or ", not timed
 * on the baseline side". Append nothing if the numbers of calls are nearly equal.
 */
static void append_calls(char **text, const struct why *w, const char *name,
			 const struct timed *timed, bool is_context)
{
	const double *calls = timed->calls;
	int side = calls[1] > 0;

	if (!is_context && !is_timed(w->p[!side], name)) {
		alloc_append(text, ", not timed on the %s side", side ? "baseline" : "hardened");
		return;
	}
	if (fabs(calls[1] - calls[0]) < ONE_PERCENT * fmax(calls[0], calls[1]))
		return;
	alloc_append(text, ", called ");
	if (calls[!side] > 0)
		view_why_append_calls(text, calls);
	else
		alloc_append(text, "on the %s side only, %s %s per run",
			     side ? "hardened" : "baseline",
			     view_why_number(OUTPUT_COUNT, calls[side]),
			     plural(calls[side], "time", "times"));
}

/* Append " (inlined into ___slab_alloc, +346 instructions per call)". LONGER is the change of the time per call; 0: omit it. */
static void append_figures(char **text, const struct why *w, const struct why_cause *cause,
			   double longer)
{
	if (cause->function)
		view_append(text, " (inlined into %s", cause->function);
	if (longer != 0)
		alloc_append(text, "%s%s per call", cause->function ? ", " : " (",
			     output_amount(OUTPUT_DELTA, longer, w->p[0]->clock));
	if (cause->function || longer != 0)
		alloc_append(text, ")");
}

/* Return the tree node of the timed function NAME in CONTEXT, or TREE_NONE. */
static uint32_t find_function(const struct tree_pair *t, uint32_t context, const char *name)
{
	uint32_t i = t->nodes[context].first_child;

	while (i != TREE_NONE && strcmp(t->nodes[i].name, name) != 0)
		i = t->nodes[i].next;
	return i;
}

/* Append ", nearly all of that in shuffle_freelist (estimated from samples)". MAIN is the context with most of CAUSE's change. */
static void append_part(char **text, const struct why *w, const struct why_cause *cause,
			const struct why_share *main)
{
	const struct tree_pair_node *n = w->pair.nodes;
	uint32_t function = find_function(&w->pair, main->context, cause->name);
	uint32_t part = function == TREE_NONE ?
				TREE_NONE :
				tree_pair_main_part(&w->pair, function, main->delta);
	double share;

	if (part == TREE_NONE)
		return;
	share = (n[part].total[1] - n[part].total[0]) / main->delta;
	if (n[part].sampled && share > MORE_THAN_ALL)
		return;
	view_append(text, ", %s of that in %s (%s)",
		    share > MORE_THAN_ALL ? "more than all" :
		    share >= NEARLY_ALL   ? "nearly all" :
					    "most",
		    n[part].name, n[part].sampled ? "estimated from samples" : "inlined");
}

char *view_why_timed(const struct why *w, const struct why_context *c,
		     const struct why_cause *cause)
{
	const struct why_share *main = &c->causes.shares[cause->first_share];
	struct timed timed = timed_of(w, c, cause->name);
	double longer = timed.self[1] / timed.calls[1] - timed.self[0] / timed.calls[0];
	bool is_context = why_is_untimed(w, &c->causes, cause);
	char *text = NULL;

	view_append(&text, "%s%s", cause->name,
		    is_context && view_why_has_functions(w) ? " outside of timed functions" : "");
	append_figures(&text, w, cause,
		       fabs(longer * timed.calls[1]) >= WORTH_A_WORD * fabs(cause->delta) ? longer :
											    0);
	append_calls(&text, w, cause->name, &timed, is_context);
	alloc_append(&text, ": ");
	view_why_append_change(&text, w, c, cause->delta);
	if (!is_context)
		append_part(&text, w, cause, main);
	return text;
}

char *view_why_sampled(const struct why *w, const struct why_context *c,
		       const struct why_cause *cause, const struct why_part *part)
{
	double error = CHANCE_DEVIATIONS * sqrt(cause->significance.doubts);
	char *text = NULL;

	view_append(&text, "%s", cause->name);
	view_why_append_where(&text, w, c, cause, part->node);
	alloc_append(&text, ", estimated from samples: ");
	view_why_append_change(&text, w, c, cause->delta);
	alloc_append(&text, ", \u00b1%s", output_number(OUTPUT_TIME, error, w->p[0]->clock));
	view_append(&text, "; record with --func=%s to time it", cause->function ?: cause->name);
	return text;
}
