// SPDX-License-Identifier: GPL-2.0-or-later
#include "exact/code.h"

#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "profile/resolve.h"

/* The function that begins at ADDR, as a block's callee; NULL: none does that tells what is called. */
static const char *callee_at(const struct kernel_kallsyms *ks, uint64_t addr)
{
	uint64_t offset = 0;
	const struct kernel_sym *sym = addr ? kernel_kallsyms_covering(ks, addr, &offset) : NULL;
	enum arch_symbol kind = sym ? arch_symbol_of_name(sym->name) : ARCH_SYMBOL_ORDINARY;

	if (!sym || offset || kind == ARCH_SYMBOL_RETURN_THUNK ||
	    kind == ARCH_SYMBOL_INDIRECT_THUNK || strstr(sym->name, ".cold"))
		return NULL;
	return sym->name;
}

void exact_code_add(struct exact_code *c, struct profile *p, const struct kernel_kallsyms *ks,
		    uint32_t local, const struct profile_block *piece, struct exact_way way)
{
	struct profile_block item = *piece;

	while (c->n_ways <= local) {
		vec_push(c, ways, (struct exact_way){});
		vec_push(&c->list, items, (struct profile_block){});
	}
	item.location = profile_location_at(p, ks, piece->addr);
	item.addr = p->locations[item.location].addr;
	item.callee = profile_intern(p, callee_at(ks, way.target));
	/* From here on the target is relative, as item.addr is. */
	way.target += way.target ? item.addr - piece->addr : 0;
	c->list.items[local] = item;
	c->ways[local] = way;
}

/* A piece by its address. */
struct start {
	uint64_t addr;
	uint32_t piece;
};

static void lead_to(struct exact_code *c, uint32_t from, const struct start *starts, uint64_t addr)
{
	const struct start *to =
		search_array(&addr, starts, c->list.n_items, sizeof(*starts), compare_u64);

	if (addr && to)
		vec_push(&c->list, arcs, ((struct profile_arc){ from, to->piece }));
}

/* Connect the pieces; code that was not executed leads nowhere. */
static void connect(struct exact_code *c, uint64_t entry)
{
	uint32_t n = c->list.n_items;
	scoped_free struct start *starts = alloc_array(n, sizeof(*starts));

	for (uint32_t i = 0; i < n; i++)
		starts[i] = (struct start){ c->list.items[i].addr, i };
	sort_array(starts, n, sizeof(*starts), compare_u64);
	c->list.entry = starts[0].piece;
	for (uint32_t i = 0; i < n; i++) {
		const struct profile_block *piece = &c->list.items[i];

		if (piece->addr == entry)
			c->list.entry = i;
		if (c->ways[i].falls)
			lead_to(c, i, starts, piece->addr + piece->bytes);
		lead_to(c, i, starts, c->ways[i].target);
	}
}

struct profile_block_counts *exact_code_counts(struct exact_code *c, struct profile *p,
					       uint32_t site, uint32_t context)
{
	if (!c->number) {
		connect(c, p->sites[site].addr);
		c->list.site = site;
		c->number = profile_blocks_add(p, &c->list) + 1;
	}
	return profile_block_counts(p, 0, c->number - 1, context);
}

void exact_code_deinit(struct exact_code *c)
{
	if (!c->number) {
		free(c->list.items);
		free(c->list.arcs);
	}
	free(c->ways);
}
