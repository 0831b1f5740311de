// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void profile_blocks_destroy(struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->n_blocks; i++) {
		free(p->blocks[i].items);
		free(p->blocks[i].arcs);
	}
	for (i = 0; i < p->n_block_counts; i++)
		free(p->block_counts[i].counts);
	free(p->blocks);
	free(p->paths);
	free(p->turns);
	free(p->block_counts);
}

uint32_t profile_blocks_add(struct profile *p, const struct profile_blocks *blocks)
{
	vec_push(p, blocks, *blocks);
	return p->n_blocks - 1;
}

const struct profile_blocks *profile_blocks_of(const struct profile *p, uint32_t site)
{
	uint32_t i;

	for (i = 0; i < p->n_blocks; i++)
		if (p->blocks[i].site == site)
			return &p->blocks[i];
	return NULL;
}

struct profile_block_counts *profile_block_counts(struct profile *p, uint32_t run, uint32_t blocks,
						  uint32_t context)
{
	struct profile_block_counts counts = { .run = run, .blocks = blocks, .context = context };
	uint32_t i;

	/* A few functions in a few contexts; those of the same run lie together at the end. */
	for (i = p->n_block_counts; i-- > 0;) {
		struct profile_block_counts *c = &p->block_counts[i];

		if (c->run == run && c->blocks == blocks && c->context == context)
			return c;
	}
	counts.counts = alloc_array(p->blocks[blocks].n_items, sizeof(*counts.counts));
	vec_push(p, block_counts, counts);
	return &p->block_counts[p->n_block_counts - 1];
}

bool profile_has_block_counts(const struct profile *p, uint32_t blocks, uint32_t context)
{
	uint32_t i;

	for (i = 0; i < p->n_block_counts; i++)
		if (p->block_counts[i].blocks == blocks && p->block_counts[i].context == context)
			return true;
	return false;
}

uint64_t profile_block_counts_sum(const struct profile *p, const struct profile_blocks *blocks,
				  uint32_t context, uint64_t *counts)
{
	uint64_t calls = 0;
	uint32_t i, b;

	memset(counts, 0, blocks->n_items * sizeof(*counts));
	for (i = 0; i < p->n_block_counts; i++) {
		const struct profile_block_counts *c = &p->block_counts[i];

		if (&p->blocks[c->blocks] != blocks ||
		    (context != PROFILE_ALL_CONTEXTS && c->context != context))
			continue;
		calls += c->calls;
		for (b = 0; b < blocks->n_items; b++)
			if (c->counts[b] == PROFILE_NOT_COUNTED || counts[b] == PROFILE_NOT_COUNTED)
				counts[b] = PROFILE_NOT_COUNTED;
			else
				counts[b] += c->counts[b];
	}
	return calls;
}

static bool same_blocks(const struct profile_blocks *a, const struct profile_blocks *b)
{
	uint32_t i;

	if (a->n_items != b->n_items || a->entry != b->entry)
		return false;
	for (i = 0; i < a->n_items; i++)
		if (a->items[i].addr != b->items[i].addr ||
		    a->items[i].bytes != b->items[i].bytes ||
		    a->items[i].insns != b->items[i].insns || a->items[i].bit != b->items[i].bit ||
		    a->items[i].counter != b->items[i].counter)
			return false;
	return a->n_arcs == b->n_arcs &&
	       (!a->n_arcs || !memcmp(a->arcs, b->arcs, a->n_arcs * sizeof(*a->arcs)));
}

uint32_t profile_blocks_map(struct profile *dst, const struct profile_blocks *blocks, uint32_t site,
			    const uint32_t *locations)
{
	struct profile_blocks copy = { .site = site, .entry = blocks->entry };
	uint32_t i;

	for (i = 0; i < dst->n_blocks; i++)
		if (dst->blocks[i].site == site && same_blocks(&dst->blocks[i], blocks))
			return i;
	for (i = 0; i < blocks->n_items; i++) {
		struct profile_block item = blocks->items[i];

		item.location = locations[item.location];
		item.callee = profile_intern(dst, item.callee);
		vec_push(&copy, items, item);
	}
	for (i = 0; i < blocks->n_arcs; i++)
		vec_push(&copy, arcs, blocks->arcs[i]);
	return profile_blocks_add(dst, &copy);
}
