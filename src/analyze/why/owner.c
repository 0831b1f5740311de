// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/why/why.h"

#include <string.h>

#include "base/alloc.h"
#include "catalogue/state.h"
#include "kernel/cfg/stop.h"
#include "kernel/image/name.h"
#include "profile/conditions.h"

/* Search the node with most of the change, and up to this many of its callers, for code that tests a static key. */
#define NEAR_CALLERS 3
/* Limit of steps down to the changed code, for malformed files. Real kernel stacks have fewer functions. */
#define MAX_STEPS 128

void why_switched_init(struct why_switched *s, const struct profile *baseline,
		       const struct profile *hardened)
{
	*s = (struct why_switched){};
	for (size_t i = 0; i < catalogue_size; i++) {
		const struct catalogue_protection *protection = &catalogue[i];

		if (catalogue_differs(protection, baseline, hardened))
			vec_push(s, items, protection);
		else if (catalogue_state(protection, baseline, false, NULL) == CATALOGUE_OFF &&
			 catalogue_state(protection, hardened, false, NULL) == CATALOGUE_OFF)
			vec_push(s, off, protection);
	}
}

void why_switched_deinit(struct why_switched *s)
{
	free(s->items);
	free(s->off);
	*s = (struct why_switched){};
}

static bool has(const struct catalogue_protection *const *items, uint32_t n,
		const struct catalogue_protection *protection)
{
	for (uint32_t i = 0; i < n; i++)
		if (items[i] == protection)
			return true;
	return false;
}

bool why_switched_has(const struct why_switched *s, const struct catalogue_protection *protection)
{
	return has(s->items, s->n_items, protection);
}

/* Return the pattern in PROTECTION that matches the function NAME, or NULL. If not HOSTS, skip functions with other work, too. */
static const char *listed_as(const struct catalogue_protection *protection, const char *name,
			     bool hosts)
{
	const struct catalogue_function *f = protection->functions;

	for (; f && f->name; f++)
		if ((hosts || f->code != CATALOGUE_HOST) && kernel_name_matches(f->name, name))
			return f->name;
	return NULL;
}

static bool lists(const struct catalogue_protection *protection, const char *name, bool hosts)
{
	return listed_as(protection, name, hosts) != NULL;
}

const char *why_switched_name(const struct why_switched *s, const char *name)
{
	const char *found = NULL;

	for (uint32_t i = 0; i < s->n_items && !found; i++)
		found = listed_as(s->items[i], name, false);
	return found ?: name;
}

/* Return whether PROTECTION lists PART's function, one of its callers, or a new callee with most of the new instructions. */
static bool lists_part(const struct catalogue_protection *protection, const struct tree_pair *t,
		       const struct why_part *part, bool switched)
{
	uint32_t node = part->node;
	double all = t->nodes[node].one_sided;

	if (lists(protection, t->nodes[node].name, switched) ||
	    (part->kind != WHY_SELF &&
	     lists(protection, t->nodes[t->nodes[node].parent].name, switched)))
		return true;
	for (uint32_t at = tree_pair_most(t, node, all); at != TREE_NONE;
	     at = tree_pair_most(t, at, all))
		if (part->kind == WHY_NEW && lists(protection, t->nodes[at].name, false))
			return true;
	for (uint32_t at = t->nodes[node].parent; t->nodes[at].parent != TREE_ROOT;
	     at = t->nodes[at].parent)
		if (lists(protection, t->nodes[at].name, false))
			return true;
	return false;
}

const struct catalogue_protection *why_owner(const struct why_switched *s,
					     const struct tree_pair *t, const struct why_part *part)
{
	for (uint32_t i = 0; i < s->n_items; i++)
		if (lists_part(s->items[i], t, part, true))
			return s->items[i];
	for (size_t i = 0; i < catalogue_size; i++)
		if (!has(s->off, s->n_off, &catalogue[i]) &&
		    lists_part(&catalogue[i], t, part, false))
			return &catalogue[i];
	return NULL;
}

/* Return the node of the function around NODE, or NODE itself if it is not inlined. */
static uint32_t function_of(const struct tree_pair *t, uint32_t node)
{
	while (t->nodes[node].inlined[1])
		node = t->nodes[node].parent;
	return node;
}

/* Return the static key that NODE's function tests, or NULL. Set *FUNCTION to the function's name. */
static const struct analyze_static_key *key_of(const struct analyze_static_keys *keys,
					       const struct tree_pair *t, uint32_t node,
					       const char **function)
{
	*function = t->nodes[function_of(t, node)].name;
	return analyze_static_keys_of(keys, *function);
}

/* Return the innermost node below NODE that has most of NODE's change DELTA. If there is none, return NODE. */
static uint32_t innermost_part(const struct tree_pair *t, uint32_t node, double delta)
{
	uint32_t part = tree_pair_main_part(t, node, delta);

	for (int step = 0; step < MAX_STEPS && part != TREE_NONE; step++) {
		node = part;
		delta = t->nodes[node].total[1] - t->nodes[node].total[0];
		part = tree_pair_main_part(t, node, delta);
	}
	return node;
}

/* Search the code with most of NODE's change, then its nearest callers, for a test of a static key. Return the key, or NULL. */
static const struct analyze_static_key *key_of_samples(const struct analyze_static_keys *keys,
						       const struct tree_pair *t, uint32_t node,
						       const char **function)
{
	double delta = tree_pair_own(t, node, 1) - tree_pair_own(t, node, 0);
	uint32_t part = tree_pair_main_part(t, node, delta), at = innermost_part(t, node, delta);
	const struct analyze_static_key *key = NULL;

	for (int left = NEAR_CALLERS; !key && left && t->nodes[at].sampled;
	     at = t->nodes[function_of(t, at)].parent) {
		key = key_of(keys, t, at, function);
		left -= !tree_pair_is_below(t, at, part);
	}
	return key;
}

const struct analyze_static_key *why_static_key(const struct analyze_static_keys *keys,
						const struct tree_pair *t,
						const struct why_part *part, const char **function)
{
	uint32_t node = part->node;
	double all = t->nodes[node].one_sided;
	const struct analyze_static_key *key = key_of(keys, t, node, function);

	if (!key && part->kind == WHY_SELF && !t->tree->has_callers)
		return key_of_samples(keys, t, node, function);
	if (!key && part->kind != WHY_SELF)
		key = key_of(keys, t, t->nodes[node].parent, function);
	while (!key && part->kind == WHY_NEW && (node = tree_pair_most(t, node, all)) != TREE_NONE)
		key = key_of(keys, t, node, function);
	return key;
}

static bool is_inlined(const struct tree_pair_node *node)
{
	return node->inlined[0] || node->inlined[1];
}

static bool calls(const struct profile_block *block, const char *callee)
{
	size_t n = block->callee ? kernel_name_base_len(block->callee) : 0;

	return n && n == strlen(callee) && !strncmp(block->callee, callee, n);
}

/* Return whether the location L is at line SITE, or if INLINED, in code of CALLEE that is inlined at line SITE. */
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

/* Return whether BLOCK ends with a call of CALLEE at line SITE, or if INLINED, has code of CALLEE that is inlined at line SITE. */
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

/* Return whether BLOCK executes NODE: by a call, or as inlined code. Unless SITE is NULL, accept only a call from line SITE. */
static bool executes(const struct profile *p, const struct profile_block *block,
		     const struct tree_pair_node *node, const struct tree_line *site)
{
	return (is_inlined(node) || calls(block, node->name)) &&
	       (!site || is_site(p, block, node->name, is_inlined(node), site));
}

/* Return P's condition for CALLER's call of NODE, or NULL. Unless SITE is NULL, accept only line SITE. The caller frees it. */
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
 * Set GUARD to the condition for calls of NODE. Unless SITE is NULL, accept only calls from line SITE. Ignore a condition that is
 * nearly always true in both kernels if it depends only on local variables of the caller, since it says nothing.
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
	const struct tree_line *site;
	double all = t->nodes[part->node].one_sided;

	if (part->kind != WHY_NEW && part->kind != WHY_OFTEN)
		return;
	site = tree_site_extra(t, part->node, 1);
	for (uint32_t at = part->node; at != TREE_NONE;
	     at = part->kind == WHY_NEW ? tree_pair_most(t, at, all) : TREE_NONE)
		if (!is_inlined(&t->nodes[at]) || site)
			find(guard, stops, p, t, at, site);
}

static void find_all(struct why_context *c, const struct why *w, const struct profile *p,
		     struct kernel_stops *stops)
{
	struct why_causes *causes = &c->causes;

	for (uint32_t k = 0; c->sureness && k < causes->n_items; k++)
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
