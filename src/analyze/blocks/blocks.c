// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/blocks/blocks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/figures/accounting.h"
#include "analyze/figures/chain.h"
#include "base/alloc.h"
#include "base/sorted.h"

static void add_block(struct analyze_blocks *out, const struct profile *p,
		      const struct profile_blocks *blocks, uint32_t b, const char *context,
		      uint64_t count, uint64_t calls)
{
	const struct profile_block *block = &blocks->items[b];
	const struct profile_location *location = &p->locations[block->location];
	const struct profile_site *site = &p->sites[blocks->site];
	int64_t offset = (int64_t)(block->addr - site->addr);
	struct analyze_block row = {
		.function = site->name,
		.context = context,
		.location = alloc_keep(&out->texts, analyze_chain_place(location)),
		.body = alloc_keep(&out->texts, analyze_chain_of(location)),
		.offset = (double)offset,
		.bytes = block->bytes,
		.insns = block->insns,
		.executions = count == PROFILE_NOT_COUNTED ? NAN : (double)count,
		.share = NAN,
	};

	row.place = alloc_keep(&out->texts,
			       alloc_printf("%c0x%" PRIx64, offset < 0 ? '-' : '+',
					    offset < 0 ? -(uint64_t)offset : (uint64_t)offset));
	row.per_call = calls ? row.executions / (double)calls : NAN;
	row.insns_per_call = row.per_call * row.insns;
	vec_push(out, rows, row);
}

static void add_function(struct analyze_blocks *out, const struct analyze_counted *c,
			 uint32_t index, uint32_t context)
{
	const struct profile *p = c->p;
	const struct profile_blocks *blocks = &p->blocks[index];
	scoped_free uint64_t *counts = alloc_array(blocks->n_items, sizeof(*counts));
	bool counted = profile_site_is_counted(p, &p->sites[blocks->site]);
	uint64_t calls;
	struct analyze_block_function f = {
		.function = p->sites[blocks->site].name,
		.context = context == ANALYZE_IN_ALL_CONTEXTS ? ANALYZE_ALL_CONTEXTS :
								p->contexts[context].name,
		.caveat = counted ? NULL : ANALYZE_CAVEAT_UNCOUNTED,
		.first = out->n_rows,
	};

	calls = analyze_counted_sum(c, index, context, counts, &f.residual);
	f.calls = counted ? (double)calls : NAN;
	for (uint32_t i = 0; !counted && i < blocks->n_items; i++)
		counts[i] = PROFILE_NOT_COUNTED;
	for (uint32_t i = 0; i < blocks->n_items; i++)
		if (blocks->items[i].reached)
			add_block(out, p, blocks, i, f.context, counts[i], calls);
	f.n = out->n_rows - f.first;
	f.blocks = f.n;
	for (uint32_t i = f.first; i < out->n_rows; i++) {
		if (isnan(out->rows[i].executions))
			f.unknown++;
		else
			f.insns_per_call += out->rows[i].insns_per_call;
	}
	if (f.unknown == f.n)
		f.insns_per_call = NAN;
	for (uint32_t i = f.first; i < out->n_rows && f.insns_per_call > 0; i++)
		out->rows[i].share = out->rows[i].insns_per_call / f.insns_per_call;
	vec_push(out, functions, f);
}

void analyze_blocks_init(struct analyze_blocks *out, const struct profile *p)
{
	scoped(analyze_counted_deinit) struct analyze_counted counted;

	memset(out, 0, sizeof(*out));
	out->clock = p->clock;
	analyze_counted_init(&counted, p);
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		add_function(out, &counted, i, ANALYZE_IN_ALL_CONTEXTS);
		for (uint32_t context = 0; context < p->n_contexts; context++)
			if (analyze_counted_has(&counted, i, context))
				add_function(out, &counted, i, context);
	}
}

void analyze_blocks_deinit(struct analyze_blocks *out)
{
	alloc_texts_free(&out->texts);
	free(out->rows);
	free(out->functions);
	memset(out, 0, sizeof(*out));
}

static int by_insns(const void *left, const void *right)
{
	const struct analyze_block *a = left, *b = right;
	double x = isnan(a->insns_per_call) ? -1 : a->insns_per_call;
	double y = isnan(b->insns_per_call) ? -1 : b->insns_per_call;

	return compare_values(y, x) ?: compare_values(a->offset, b->offset);
}

struct analyze_block *analyze_blocks_hottest(const struct analyze_blocks *blocks,
					     const struct analyze_block_function *function)
{
	struct analyze_block *rows = alloc_array(function->n, sizeof(*rows));

	if (function->n)
		memcpy(rows, &blocks->rows[function->first], function->n * sizeof(*rows));
	sort_array(rows, function->n, sizeof(*rows), by_insns);
	return rows;
}

void analyze_counted_init(struct analyze_counted *c, const struct profile *p)
{
	*c = (struct analyze_counted){ .p = p };
	for (uint32_t i = 0; i < p->n_block_counts; i++)
		grouped_add(&c->counts, p->block_counts[i].blocks, p->block_counts[i].context, i);
	grouped_sort(&c->counts);
}

void analyze_counted_deinit(struct analyze_counted *c)
{
	grouped_deinit(&c->counts);
}

bool analyze_counted_has(const struct analyze_counted *c, uint32_t blocks, uint32_t context)
{
	uint32_t n;

	grouped_find(&c->counts, blocks, context, &n);
	return n;
}

uint64_t analyze_counted_sum(const struct analyze_counted *c, uint32_t blocks, uint32_t context,
			     uint64_t *counts, double *residual)
{
	uint32_t n_items = c->p->blocks[blocks].n_items, n, i, b;
	const struct grouped_item *items = grouped_find(&c->counts, blocks, context, &n);
	uint64_t calls = 0, most = 0;

	memset(counts, 0, n_items * sizeof(*counts));
	for (i = 0; i < n; i++) {
		const struct profile_block_counts *one = &c->p->block_counts[items[i].item];

		calls += one->calls;
		most = one->residual > most ? one->residual : most;
		for (b = 0; b < n_items; b++)
			if (one->counts[b] == PROFILE_NOT_COUNTED ||
			    counts[b] == PROFILE_NOT_COUNTED)
				counts[b] = PROFILE_NOT_COUNTED;
			else
				counts[b] += one->counts[b];
	}
	if (residual)
		*residual = (double)most;
	return calls;
}
