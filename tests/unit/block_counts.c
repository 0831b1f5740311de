// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For tests/live/flow-counts.t: do the counts of a function's blocks follow from those of the blocks
 * that the plan chooses?
 *
 *	block_counts VMLINUX FUNCTION
 *
 * Prints "BLOCK ADDRESS" for each block that can be probed, and an empty line. Then reads
 * "BLOCK COUNT" for each, and says how many blocks there are, how many the plan counts, how many it
 * leaves unknown, how many counts differ from those deduced, by how much at most, and what contradiction
 * there is in all of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "symbol/blocks.h"
#include "symbol/kallsyms.h"
#include "symbol/kcore.h"

static struct symbol_flow *read_flow(const char *vmlinux, const char *name, uint64_t *stext)
{
	const struct symbol_sym *const *syms;
	struct symbol_image *img;
	struct symbol_kallsyms *ks;
	struct symbol_kcore *kcore;
	struct symbol_code *code;
	struct symbol_flow *flow = NULL;
	size_t n;

	if (symbol_image_open(vmlinux, &img) || symbol_kallsyms_load(SYMBOL_KALLSYMS_PATH, &ks) ||
	    symbol_kcore_open(SYMBOL_KCORE_PATH, &kcore))
		return NULL;
	*stext = symbol_kallsyms_stext(ks);
	syms = symbol_kallsyms_named(ks, name, &n);
	if (n && !symbol_code_create(img, kcore, *stext, &code)) {
		if (symbol_flow_of(code, syms[0]->addr - *stext, &flow))
			flow = NULL;
		symbol_code_destroy(code);
	}
	symbol_kcore_destroy(kcore);
	symbol_kallsyms_destroy(ks);
	symbol_image_destroy(img);
	return flow;
}

/* Every block, so that there is something to compare with. */
static void print_blocks(const struct symbol_flow *flow, uint64_t stext)
{
	uint32_t n, n_insns;
	const struct symbol_block *blocks = symbol_flow_blocks(flow, &n);
	const struct symbol_insn *insns = symbol_flow_insns(flow, &n_insns);

	for (uint32_t b = 0; b < n; b++) {
		uint32_t i = blocks[b].first_insn, end = i + blocks[b].n_insns;

		while (i < end && symbol_flow_place(flow, insns[i].addr, NULL, NULL))
			i++;
		if (blocks[b].reached && i < end)
			printf("%" PRIu32 " %" PRIx64 "\n", b, insns[i].addr + stext);
	}
	printf("\n");
	fflush(stdout);
}

static void compare(const struct symbol_block_plan *plan, const int64_t *all)
{
	uint32_t n = plan->graph.n_blocks, wrong = 0, unknown = 0;
	int64_t *chosen = alloc_array(n, sizeof(*chosen)), worst = 0;
	struct symbol_counts from_all, counts;

	for (uint32_t b = 0; b < n; b++)
		chosen[b] = SYMBOL_COUNT_UNKNOWN;
	for (uint32_t i = 0; i < plan->n_probes; i++)
		chosen[plan->probes[i].block] = all[plan->probes[i].block];
	symbol_blocks_solve(&plan->graph, all, SYMBOL_COUNT_UNKNOWN, &from_all);
	symbol_blocks_solve(&plan->graph, chosen, SYMBOL_COUNT_UNKNOWN, &counts);
	for (uint32_t b = 0; b < n; b++) {
		int64_t off;

		if (all[b] == SYMBOL_COUNT_UNKNOWN)
			continue;
		unknown += counts.blocks[b] == SYMBOL_COUNT_UNKNOWN;
		if (counts.blocks[b] == SYMBOL_COUNT_UNKNOWN || counts.blocks[b] == all[b])
			continue;
		off = counts.blocks[b] > all[b] ? counts.blocks[b] - all[b] :
						  all[b] - counts.blocks[b];
		worst = off > worst ? off : worst;
		wrong++;
		printf("# block %" PRIu32 ": counted %" PRId64 ", deduced %" PRId64 "\n", b, all[b],
		       counts.blocks[b]);
	}
	printf("blocks=%" PRIu32 " chosen=%" PRIu32 " unknown=%" PRIu32 " wrong=%" PRIu32
	       " worst=%" PRId64 " contradiction=%" PRIu64 " calls=%" PRId64 "\n",
	       plan->n_blocks, plan->n_probes, unknown, wrong, worst, from_all.residual,
	       counts.calls);
	symbol_counts_clear(&from_all);
	symbol_counts_clear(&counts);
	free(chosen);
}

int main(int argc, char **argv)
{
	struct symbol_block_plan plan;
	struct symbol_flow *flow;
	int64_t *all, count;
	uint64_t stext;
	uint32_t block;

	flow = argc == 3 ? read_flow(argv[1], argv[2], &stext) : NULL;
	if (!flow || symbol_blocks_plan(flow, 0, NULL, NULL, &plan))
		return 2;
	print_blocks(flow, stext);
	all = alloc_array(plan.graph.n_blocks, sizeof(*all));
	for (uint32_t b = 0; b < plan.graph.n_blocks; b++)
		all[b] = SYMBOL_COUNT_UNKNOWN;
	while (scanf("%" SCNu32 " %" SCNd64, &block, &count) == 2)
		if (block < plan.graph.n_blocks)
			all[block] = count;
	compare(&plan, all);
	free(all);
	symbol_block_plan_clear(&plan);
	symbol_flow_destroy(flow);
	return 0;
}
