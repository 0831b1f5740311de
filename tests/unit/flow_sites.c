// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints what symbol_flow says of each instruction of functions of the running kernel, for
 * tests/live/flow.t, which asks the kernel:
 *
 *	flow_sites VMLINUX EVERY FUNCTION...
 *
 * A line for every EVERYth instruction, and for each that cannot be probed: its address; "ok", "no",
 * or "harm" where the kernel would crash; "cheap" or "trap"; function and offset. Then one with what is wrong with the
 * function as a whole.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/flow.h"
#include "symbol/kallsyms.h"
#include "symbol/kcore.h"

static const char *word(enum symbol_probe_place place)
{
	if (place == SYMBOL_PLACE_HARMFUL)
		return "harm";
	return place == SYMBOL_PLACE_OK ? "ok" : "no";
}

static void print_function(const struct symbol_flow *flow, const char *name, uint64_t stext,
			   uint32_t every)
{
	uint32_t n, n_blocks, n_edges;
	const struct symbol_insn *insns = symbol_flow_insns(flow, &n);

	symbol_flow_blocks(flow, &n_blocks);
	symbol_flow_edges(flow, &n_edges);
	for (uint32_t i = 0; i < n; i++) {
		enum symbol_probe_place place = symbol_flow_place(flow, insns[i].addr, NULL, NULL);

		if (!(insns[i].flags & SYMBOL_INSN_REACHED) ||
		    (place == SYMBOL_PLACE_OK && i % every))
			continue;
		printf("%" PRIx64 " %s %s %s+0x%" PRIx64 "\n", insns[i].addr + stext, word(place),
		       symbol_flow_optimizes(flow, insns[i].addr) ? "cheap" : "trap", name,
		       insns[i].addr - symbol_flow_entry(flow));
		/* Within it there is never a place. */
		if (insns[i].len > 1 && !(i % every))
			printf("%" PRIx64 " no trap %s+0x%" PRIx64 "\n", insns[i].addr + stext + 1,
			       name, insns[i].addr + 1 - symbol_flow_entry(flow));
	}
	printf("# %s: problems %x, %" PRIu32 " instructions, %" PRIu32 " blocks, %" PRIu32
	       " edges\n",
	       name, symbol_flow_problems(flow), n, n_blocks, n_edges);
}

static int run(const struct symbol_code *code, const struct symbol_kallsyms *ks, char **names,
	       uint32_t every)
{
	uint64_t stext = symbol_kallsyms_stext(ks);
	int failed = 0;

	for (; *names; names++) {
		size_t n;
		const struct symbol_sym *const *syms = symbol_kallsyms_named(ks, *names, &n);
		struct symbol_flow *flow;
		int err = n ? symbol_flow_of(code, syms[0]->addr - stext, &flow) : -1;

		if (err) {
			printf("# %s: %s\n", *names, n ? strerror(-err) : "no such function");
			failed = 1;
			continue;
		}
		print_function(flow, *names, stext, every);
		symbol_flow_destroy(flow);
	}
	return failed;
}

int main(int argc, char **argv)
{
	struct symbol_image *img;
	struct symbol_kallsyms *ks;
	struct symbol_kcore *kcore;
	struct symbol_code *code;
	int status;

	if (argc < 4 || symbol_image_open(argv[1], &img) ||
	    symbol_kallsyms_load(SYMBOL_KALLSYMS_PATH, &ks))
		return 2;
	if (symbol_kcore_open(SYMBOL_KCORE_PATH, &kcore))
		printf("# no kcore\n");
	if (symbol_code_create(img, kcore, symbol_kallsyms_stext(ks), &code))
		return 2;
	status = run(code, ks, argv + 3, (uint32_t)atoi(argv[2]));
	symbol_code_destroy(code);
	symbol_kcore_destroy(kcore);
	symbol_kallsyms_destroy(ks);
	symbol_image_destroy(img);
	return status;
}
