// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/why/guard.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/cfg/stop.h"
#include "kernel/image/name.h"
#include "profile/conditions.h"

static bool is_inlined(const struct tree_pair_node *node)
{
	return node->inlined[0] || node->inlined[1];
}

static bool calls(const struct profile_block *block, const char *callee)
{
	size_t n = block->callee ? kernel_name_base_len(block->callee) : 0;

	return n && n == strlen(callee) && !strncmp(block->callee, callee, n);
}

/* Return whether CALLEE is called from SITE at L, or is inlined there. */
static bool is_at(const struct profile_location *l, const char *callee, bool inlined,
		  const struct tree_line *site)
{
	for (uint32_t k = inlined; k < l->n_frames; k++) {
		if (l->frames[k].line == site->number && same_text(l->frames[k].file, site->file) &&
		    (!inlined || !strcmp(l->frames[k - 1].name, callee)))
			return true;
		if (!inlined)
			break;
	}
	return false;
}

/* Return whether BLOCK is at SITE, and calls CALLEE at its end or is in its body. */
static bool is_site(const struct profile *p, const struct profile_block *block, const char *callee,
		    bool inlined, const struct tree_line *site)
{
	if (inlined)
		return is_at(&p->locations[block->location], callee, inlined, site);
	vec_each(const struct profile_location, l, p, locations)
		if (l->addr == block->addr + block->bytes - 1 && !l->module)
			return is_at(l, callee, inlined, site);
	return false;
}

/* Return whether BLOCK executes NODE's function, at SITE if that is not NULL. */
static bool executes(const struct profile *p, const struct profile_block *block,
		     const struct tree_pair_node *node, const struct tree_line *site)
{
	return (is_inlined(node) || calls(block, node->name)) &&
	       (!site || is_site(p, block, node->name, is_inlined(node), site));
}

/* Return the condition on which P's CALLER calls NODE, at SITE if that is not NULL, for free(); NULL: not known. */
static char *condition(struct kernel_stops *stops, const struct profile *p, const char *caller,
		       const struct tree_pair_node *node, const struct tree_line *site,
		       bool *of_object)
{
	vec_each(const struct profile_blocks, blocks, p, blocks) {
		struct kernel_stop_block *places;
		struct kernel_graph graph;
		struct kernel_loops loops;
		uint32_t at = 0;
		char *text;

		if (strcmp(p->sites[blocks->site].name, caller) != 0)
			continue;
		while (at < blocks->n_items && !executes(p, &blocks->items[at], node, site))
			at++;
		if (at == blocks->n_items)
			continue;
		graph = profile_blocks_graph(blocks);
		places = alloc_array(blocks->n_items, sizeof(*places));
		for (uint32_t b = 0; b < blocks->n_items; b++)
			places[b] = (struct kernel_stop_block){ blocks->items[b].addr,
								blocks->items[b].bytes };
		kernel_loops_find(&graph, &loops);
		text = kernel_stop_guard(stops,
					 &(struct kernel_stop_function){ &graph, &loops, places },
					 at, of_object);
		kernel_loops_clear(&loops);
		kernel_graph_clear(&graph);
		free(places);
		return text;
	}
	return NULL;
}

/*
 * Find the guard of the call of NODE, at SITE if that is not NULL. A condition on the function's own variables says something
 * if it does not always hold, or did not.
 */
static void find(struct why_guard *guard, struct kernel_stops *stops, const struct profile *p,
		 const struct tree_pair *t, uint32_t node, const struct tree_line *site)
{
	const double *times = site ? site->times : t->nodes[node].calls;
	uint32_t caller = t->nodes[node].parent;
	bool of_object = false, always = true;
	char *text;

	while (is_inlined(&t->nodes[caller]))
		caller = t->nodes[caller].parent;
	text = condition(stops, p, t->nodes[caller].name, &t->nodes[node], site, &of_object);
	for (int side = 0; side < 2; side++)
		always &= !(times[side] > 0 &&
			    times[side] < NEARLY_ALL * tree_pair_calls(t, caller, side));
	if (!text || (always && !of_object)) {
		free(text);
		return;
	}
	free(guard->condition);
	*guard = (struct why_guard){ t->nodes[caller].name, t->nodes[node].name, text };
}

static void find_of_part(struct why_guard *guard, struct kernel_stops *stops,
			 const struct profile *p, const struct tree_pair *t,
			 const struct why_part *part)
{
	const struct tree_line *site = NULL;
	double all = t->nodes[part->node].one_sided;

	if (part->kind != WHY_NEW && part->kind != WHY_OFTEN)
		return;
	if (t->nodes[part->node].divided)
		site = tree_site_apart(t, part->node, 1);
	for (uint32_t at = part->node; at != TREE_NONE;
	     at = part->kind == WHY_NEW ? tree_pair_most(t, at, all) : TREE_NONE)
		if (!is_inlined(&t->nodes[at]) || site)
			find(guard, stops, p, t, at, site);
}

static void find_all(struct why_context *c, const struct why *w, const struct profile *p,
		     struct kernel_stops *stops)
{
	struct why_causes *causes = &c->causes;

	for (uint32_t k = 0; c->told && k < causes->n_items; k++)
		if (why_is_named(c, k))
			find_of_part(&causes->items[k].guard, stops, p, &w->pair,
				     &causes->parts[causes->items[k].first_part]);
}

void why_guards_find(struct why *w, const struct profile *p, struct kernel_image *img)
{
	struct kernel_stops *stops = kernel_stops_create(img);

	for (uint32_t i = 0; i < w->n_contexts && stops; i++)
		find_all(&w->contexts[i], w, p, stops);
	if (stops)
		find_all(&w->command, w, p, stops);
	kernel_stops_destroy(stops);
}
