// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/why/owner.h"

#include <fnmatch.h>

#include "base/alloc.h"
#include "catalogue/state.h"

/* A static key is named if the function that pays or one of so few of its callers tests it. */
#define NEAR_CALLERS 3

void why_switched_init(struct why_switched *s, const struct profile *baseline,
		       const struct profile *hardened)
{
	*s = (struct why_switched){};
	for (size_t i = 0; i < catalogue_size; i++) {
		const struct catalogue_protection *protection = &catalogue[i];

		if (catalogue_differs(protection, baseline, hardened))
			vec_push(s, items, protection);
		else if (catalogue_state(protection, baseline, false, NULL) == CATALOGUE_OFF)
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

/* Return the pattern that matches NAME, or NULL. */
static const char *listed_as(const struct catalogue_protection *protection, const char *name,
			     bool hosts)
{
	const struct catalogue_function *f = protection->functions;

	for (; f && f->name; f++)
		if ((hosts || f->code != CATALOGUE_HOST) && !fnmatch(f->name, name, 0))
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

/* Return whether PROTECTION lists PART's function, a callee with most of PART, or a caller. */
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

/* Return the node of the function that NODE is or is inlined into. */
static uint32_t function_of(const struct tree_pair *t, uint32_t node)
{
	while (t->nodes[node].inlined[1])
		node = t->nodes[node].parent;
	return node;
}

/* Return the static key that NODE's function tests. */
static const struct analyze_static_key *key_of(const struct analyze_static_keys *keys,
					       const struct tree_pair *t, uint32_t node,
					       const char **function)
{
	*function = t->nodes[function_of(t, node)].name;
	return analyze_static_keys_of(keys, *function);
}

/* Return the key that the function of sampled NODE tests, or a near caller. */
static const struct analyze_static_key *key_above(const struct analyze_static_keys *keys,
						  const struct tree_pair *t, uint32_t node,
						  const char **function)
{
	const struct analyze_static_key *key = NULL;

	for (int i = 0; i < NEAR_CALLERS && !key && t->nodes[node].sampled; i++) {
		key = key_of(keys, t, node, function);
		node = t->nodes[function_of(t, node)].parent;
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

	if (!key && part->kind == WHY_SELF && !t->tree->has_callers) {
		double delta = tree_pair_own(t, node, 1) - tree_pair_own(t, node, 0);
		uint32_t main = tree_pair_main_part(t, node, delta);

		return key_above(keys, t, main == TREE_NONE ? node : main, function);
	}
	if (!key && part->kind != WHY_SELF)
		key = key_of(keys, t, t->nodes[node].parent, function);
	while (!key && part->kind == WHY_NEW && (node = tree_pair_most(t, node, all)) != TREE_NONE)
		key = key_of(keys, t, node, function);
	return key;
}
