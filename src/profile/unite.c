// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cut pieces of executed code (address ranges), which may overlap and differ between boots, into basic blocks that do not overlap.
 * A block begins or ends wherever a piece begins or ends.
 */
#include "profile/unite.h"

#include "base/alloc.h"
#include "base/sorted.h"
#include "profile/layout.h"

#define UNKNOWN UINT32_MAX

/*
 * Limits for malicious files, in which all pieces may overlap: average number of blocks per piece (merged recordings have 1.1),
 * and passes over all blocks (merged recordings need two).
 */
#define PIECE_BLOCKS 16
#define PASSES_MAX   256

static uint64_t end_of(const struct profile_block *b)
{
	return b->addr + b->bytes;
}

/* Return the index of the first block that begins at or after ADDR. */
static uint32_t seek(const struct profile_blocks *blocks, uint64_t addr)
{
	return bisect(blocks->n_items, i, blocks->items[i].addr < addr);
}

/* Loop over the indices K of the blocks inside PIECE. An empty PIECE has none. */
#define for_each_within(k, blocks, piece)                                                  \
	for (uint32_t k = seek(blocks, (piece)->addr), end_ = seek(blocks, end_of(piece)); \
	     k < end_; k++)

/* Append LIST's pieces of code, and the arcs between them, to ALL. */
static void append(struct profile_blocks *all, const struct profile_blocks *list)
{
	uint32_t first = all->n_items;

	for (uint32_t i = 0; i < list->n_items; i++)
		vec_push(all, items, list->items[i]);
	for (uint32_t i = 0; i < list->n_arcs; i++) {
		struct profile_arc arc = list->arcs[i];

		arc.from += first;
		arc.to += arc.to < PROFILE_ARC_ANY ? first : 0;
		vec_push(all, arcs, arc);
	}
	all->site = list->site;
	all->entry = first + list->entry;
}

/* Cut ALL's pieces of code into blocks. Set only the addresses of the blocks. */
static void cut(struct profile_blocks *out, const struct profile_blocks *all)
{
	scoped_free uint64_t *bounds = alloc_array(2 * (size_t)all->n_items, sizeof(*bounds));
	/* For each bound: number of pieces that begin at the bound, less those that end at it. */
	int32_t *more = alloc_array(2 * (size_t)all->n_items, sizeof(*more)), covering = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->n_items; i++) {
		bounds[n++] = all->items[i].addr;
		bounds[n++] = end_of(&all->items[i]);
	}
	n = (uint32_t)unite_array(bounds, n, sizeof(*bounds), compare_u64, NULL);
	for (uint32_t i = 0; i < all->n_items; i++) {
		if (end_of(&all->items[i]) < all->items[i].addr)
			continue;
		more[bisect(n, j, bounds[j] < all->items[i].addr)]++;
		more[bisect(n, j, bounds[j] < end_of(&all->items[i]))]--;
	}
	for (uint32_t i = 0; i + 1 < n; i++) {
		struct profile_block block = { .addr = bounds[i],
					       .bytes = (uint32_t)(bounds[i + 1] - bounds[i]),
					       .insns = UNKNOWN,
					       .location = UNKNOWN,
					       .reached = true };

		covering += more[i];
		if (covering)
			vec_push(out, items, block);
	}
	free(more);
}

/* Count the blocks in each piece of code, and return the sum over all pieces. */
static uint64_t covered(const struct profile_blocks *out, const struct profile_blocks *all)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < all->n_items; i++)
		n += seek(out, end_of(&all->items[i])) - seek(out, all->items[i].addr);
	return n;
}

/*
 * If only one block of PIECE has an unknown number of instructions, set this number. If FORCE, and several are unknown, the last
 * block gets all remaining instructions. Return whether a number was set.
 */
static bool tell_insns(struct profile_blocks *out, const struct profile_block *piece, bool force)
{
	uint32_t known = 0, unknown = 0, last = 0;

	for_each_within(k, out, piece)
	{
		if (out->items[k].insns != UNKNOWN) {
			known += out->items[k].insns;
			continue;
		}
		unknown++;
		last = k;
	}
	if (!unknown || (unknown > 1 && !force))
		return false;
	for_each_within(k, out, piece) if (out->items[k].insns == UNKNOWN) out->items[k].insns =
		k == last && piece->insns > known ? piece->insns - known : 0;
	return true;
}

static void describe(struct profile_blocks *out, const struct profile_blocks *all)
{
	bool changed = true;

	vec_each(const struct profile_block, piece, all, items) {
		uint32_t first = seek(out, piece->addr), end = seek(out, end_of(piece));

		if (first == end)
			continue;
		for (uint32_t k = first; k < end; k++)
			if (out->items[k].location == UNKNOWN)
				out->items[k].location = piece->location;
		out->items[first].location = piece->location;
		if (piece->callee)
			out->items[end - 1].callee = piece->callee;
	}
	for (int pass = 0; changed && pass < PASSES_MAX; pass++) {
		changed = false;
		for (uint32_t i = 0; i < all->n_items; i++)
			changed |= tell_insns(out, &all->items[i], false);
	}
	for (uint32_t i = 0; i < all->n_items; i++)
		tell_insns(out, &all->items[i], true);
}

define_compare(by_ends, struct profile_arc,
	       compare_values(a->from, b->from) ?: compare_values(a->to, b->to));

static void connect(struct profile_blocks *out, const struct profile_blocks *all)
{
	for (uint32_t i = 0; i < all->n_items; i++)
		for (uint32_t k = seek(out, all->items[i].addr) + 1;
		     k < seek(out, end_of(&all->items[i])); k++)
			vec_push(out, arcs, ((struct profile_arc){ k - 1, k }));
	for (uint32_t i = 0; i < all->n_arcs; i++) {
		struct profile_arc arc = all->arcs[i];
		uint32_t end = seek(out, end_of(&all->items[arc.from]));

		if (arc.to < PROFILE_ARC_ANY)
			arc.to = seek(out, all->items[arc.to].addr);
		/* A forged file may have empty pieces of code. */
		if (!end || arc.to == out->n_items)
			continue;
		arc.from = end - 1;
		vec_push(out, arcs, arc);
	}
	vec_unite(out, arcs, by_ends, NULL);
	out->site = all->site;
	out->entry = seek(out, all->items[all->entry].addr);
}

/* Unite ALL's pieces of code into blocks. Return false if there are none or too many. */
static bool unite(struct profile_blocks *out, const struct profile_blocks *all)
{
	*out = (struct profile_blocks){ 0 };
	if (!all->n_items)
		return false;
	cut(out, all);
	if (!out->n_items || out->n_items > BLOCKS_MAX ||
	    covered(out, all) > PIECE_BLOCKS * (uint64_t)all->n_items)
		return false;
	describe(out, all);
	connect(out, all);
	return out->entry < out->n_items;
}

static void add_counts(struct profile *p, uint32_t blocks, const struct profile_block *pieces,
		       const struct profile_block_counts *from)
{
	struct profile_block_counts *to = profile_block_counts(p, from->run, blocks, from->context);

	to->calls += from->calls;
	for (uint32_t i = 0; i < from->n_counts; i++)
		for_each_within(k, &p->blocks[blocks], &pieces[i]) to->counts[k] += from->counts[i];
}

/* ---- interrupts ---- */

/*
 * Return an array, which the caller frees: element K is true if only an interrupt separates blocks K - 1 and K. Then a piece
 * covers both, K - 1 has no callee, K - 1 leads only to K, K follows only K - 1, and both have equal counts in all N COUNTS.
 */
static bool *find_cuts(const struct profile_blocks *blocks, const struct profile_blocks *pieces,
		       const struct profile_block_counts *counts, uint32_t n)
{
	bool *cuts = alloc_array(blocks->n_items + 1, sizeof(*cuts));

	vec_each(const struct profile_block, piece, pieces, items) {
		uint32_t first = seek(blocks, piece->addr), end = seek(blocks, end_of(piece));

		for (uint32_t k = first + 1; k < end; k++)
			cuts[k] = !blocks->items[k - 1].callee;
	}
	vec_each(const struct profile_arc, arc, blocks, arcs) {
		if (arc->to == arc->from + 1)
			continue;
		cuts[arc->from + 1] = false;
		if (arc->to < PROFILE_ARC_ANY)
			cuts[arc->to] = false;
	}
	cuts[blocks->entry] = false;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 1; k < blocks->n_items; k++)
			cuts[k] &= counts[i].counts[k] == counts[i].counts[k - 1];
	return cuts;
}

/* Join blocks that an interrupt cut, so that a compare and its jump are in one block. COUNTS are the N counts of BLOCKS. */
static void join(struct profile_blocks *blocks, const struct profile_blocks *pieces,
		 struct profile_block_counts *counts, uint32_t n)
{
	scoped_free bool *cuts = find_cuts(blocks, pieces, counts, n);
	scoped_free uint32_t *places = alloc_array(blocks->n_items, sizeof(*places));
	uint32_t n_items = 0, n_arcs = 0;

	for (uint32_t k = 0; k < blocks->n_items; k++) {
		const struct profile_block *b = &blocks->items[k];

		if (cuts[k]) {
			blocks->items[n_items - 1].bytes += b->bytes;
			blocks->items[n_items - 1].insns += b->insns;
			blocks->items[n_items - 1].callee = b->callee;
		} else {
			blocks->items[n_items++] = *b;
		}
		places[k] = n_items - 1;
	}
	for (uint32_t i = 0; i < blocks->n_arcs; i++) {
		struct profile_arc arc = blocks->arcs[i];

		if (arc.to < PROFILE_ARC_ANY && cuts[arc.to])
			continue;
		arc.from = places[arc.from];
		arc.to = arc.to < PROFILE_ARC_ANY ? places[arc.to] : arc.to;
		blocks->arcs[n_arcs++] = arc;
	}
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < blocks->n_items; k++)
			counts[i].counts[places[k]] = counts[i].counts[k];
		counts[i].n_counts = n_items;
	}
	blocks->entry = places[blocks->entry];
	blocks->n_items = n_items;
	blocks->n_arcs = n_arcs;
}

/* Lists that were moved out of P. */
struct parts {
	struct profile_blocks *lists;
	struct profile_block_counts *counts;
	uint32_t n_lists, n_counts;
	struct pointers lists_of; /* LISTS by site */
	struct part {
		uint32_t site, context, counts;
	} * parts; /* for each of COUNTS, sorted */
	uint64_t n_blocks, n_shown; /* blocks and counts moved back into P */
};

struct function {
	uint32_t site;
	double insns; /* instructions executed in the function */
};

define_compare(by_insns, struct function,
	       compare_values(b->insns, a->insns) ?: compare_values(a->site, b->site));

define_compare(by_site, struct profile_blocks, compare_values(a->site, b->site));

define_compare(by_place, struct part,
	       compare_values(a->site, b->site)               ?:
		       compare_values(a->context, b->context) ?:
								compare_values(a->counts, b->counts));

static void take(struct parts *from, struct profile *p)
{
	from->lists = p->blocks;
	from->counts = p->block_counts;
	from->n_lists = p->n_blocks;
	from->n_counts = p->n_block_counts;
	p->blocks = NULL;
	p->block_counts = NULL;
	p->n_blocks = p->cap_blocks = p->n_block_counts = p->cap_block_counts = 0;
	hash_deinit(&p->lookup->of[SECTION_BLOCK_COUNTS]);
	from->lists_of = pointers_sort(from->lists, from->n_lists, sizeof(*from->lists), by_site);
	from->parts = alloc_array(from->n_counts, sizeof(*from->parts));
	for (uint32_t i = 0; i < from->n_counts; i++)
		from->parts[i] = (struct part){ from->lists[from->counts[i].blocks].site,
						from->counts[i].context, i };
	sort_array(from->parts, from->n_counts, sizeof(*from->parts), by_place);
}

/* Return all N_SITES functions, the most executed first. The caller frees the array. */
static struct function *rank(const struct parts *from, uint32_t n_sites)
{
	struct function *functions = alloc_array(n_sites, sizeof(*functions));

	for (uint32_t i = 0; i < n_sites; i++)
		functions[i].site = i;
	vec_each(const struct profile_block_counts, c, from, counts) {
		const struct profile_blocks *list = &from->lists[c->blocks];

		for (uint32_t k = 0; k < c->n_counts; k++)
			functions[list->site].insns += (double)c->counts[k] * list->items[k].insns;
	}
	sort_array(functions, n_sites, sizeof(*functions), by_insns);
	return functions;
}

/* Move SITE's blocks and counts into P, if P's limits allow. */
static void put(struct profile *p, struct parts *from, uint32_t site)
{
	uint32_t n_counts = 0, n_contexts = 0, number, before = p->n_block_counts,
		 *first = alloc_array(from->n_lists, sizeof(*first));
	uint32_t at = bisect(from->n_counts, i, from->parts[i].site < site);
	const struct profile_blocks key = { .site = site };
	const struct part *parts = from->parts + at;
	struct profile_blocks all = { 0 }, out;
	size_t n;
	const void *const *lists = pointers_find(&from->lists_of, &key, &n);
	bool fits;

	for (size_t i = 0; i < n; i++) {
		const struct profile_blocks *list = lists[i];

		first[list - from->lists] = all.n_items;
		append(&all, list);
	}
	for (; at < from->n_counts && from->parts[at].site == site; at++, n_counts++)
		n_contexts += !n_counts || parts[n_counts].context != parts[n_counts - 1].context;
	fits = unite(&out, &all);
	from->n_blocks += out.n_items;
	from->n_shown += (uint64_t)out.n_items * n_contexts;
	if (!fits || p->n_blocks == FUNCTIONS_MAX || from->n_blocks > ALL_BLOCKS_MAX ||
	    from->n_shown > ALL_COUNTS_MAX) {
		free(out.items);
		free(out.arcs);
		n_counts = 0;
	}
	number = n_counts ? profile_blocks_add(p, &out) : 0;
	for (uint32_t i = 0; i < n_counts; i++) {
		const struct profile_block_counts *c = &from->counts[parts[i].counts];

		add_counts(p, number, &all.items[first[c->blocks]], c);
	}
	if (n_counts)
		join(&p->blocks[number], &all, p->block_counts + before,
		     p->n_block_counts - before);
	free(all.items);
	free(all.arcs);
	free(first);
}

void profile_blocks_unite(struct profile *p)
{
	struct parts from = {};
	scoped_free struct function *functions;

	take(&from, p);
	functions = rank(&from, p->n_sites);
	for (uint32_t i = 0; i < p->n_sites && functions[i].insns > 0; i++)
		put(p, &from, functions[i].site);
	for (uint32_t i = 0; i < from.n_lists; i++) {
		free(from.lists[i].items);
		free(from.lists[i].arcs);
	}
	for (uint32_t i = 0; i < from.n_counts; i++)
		free(from.counts[i].counts);
	free(from.lists);
	free(from.counts);
	free(from.lists_of.items);
	free(from.parts);
}
