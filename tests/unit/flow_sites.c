// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Print what kernel_flow says about instructions of functions of the running kernel. tests/live/flow.t compares this with the
 * kernel's own behaviour.
 *
 *  flow_sites VMLINUX EVERY FUNCTION...
 *
 * Each EVERYth instruction, and each that cannot be probed, has a line: its address; "ok", "no", or "harm" (the kernel would
 * crash); "cheap" or "trap"; function and offset. Another line has the function's problems.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/code/flow_function.h"
#include "kernel/image/kallsyms.h"
#include "kernel/image/kcore.h"

static const char *word(enum kernel_probe_place place)
{
	if (place == KERNEL_PLACE_HARMFUL)
		return "harm";
	return place == KERNEL_PLACE_OK ? "ok" : "no";
}

static void print_function(const struct kernel_flow *flow, const char *name, uint64_t stext,
			   uint32_t every)
{
	const struct kernel_insn *insns = flow->insns;

	for (uint32_t i = 0; i < flow->n_insns; i++) {
		enum kernel_probe_place place = kernel_flow_place(flow, insns[i].addr, NULL, NULL);

		if (!(insns[i].flags & KERNEL_INSN_REACHED) ||
		    (place == KERNEL_PLACE_OK && i % every))
			continue;
		printf("%" PRIx64 " %s %s %s+0x%" PRIx64 "\n", insns[i].addr + stext, word(place),
		       kernel_flow_optimizes(flow, insns[i].addr) ? "cheap" : "trap", name,
		       insns[i].addr - flow->entry);
		/* An address inside an instruction cannot be probed. */
		if (insns[i].len > 1 && !(i % every))
			printf("%" PRIx64 " no trap %s+0x%" PRIx64 "\n", insns[i].addr + stext + 1,
			       name, insns[i].addr + 1 - flow->entry);
	}
	printf("# %s: problems %x, %" PRIu32 " instructions, %" PRIu32 " blocks, %" PRIu32
	       " edges\n",
	       name, flow->problems, flow->n_insns, flow->n_blocks, flow->n_edges);
}

static int run(const struct kernel_code *code, const struct kernel_kallsyms *ks, char **names,
	       uint32_t every)
{
	uint64_t stext = ks->stext;
	int failed = 0;

	for (; *names; names++) {
		size_t n;
		const struct kernel_sym *const *syms = kernel_kallsyms_named(ks, *names, &n);
		struct kernel_flow *flow;
		int err = n ? kernel_flow_of(code, syms[0]->addr - stext, &flow) : -1;

		if (err) {
			printf("# %s: %s\n", *names, n ? strerror(-err) : "no such function");
			failed = 1;
			continue;
		}
		print_function(flow, *names, stext, every);
		kernel_flow_destroy(flow);
	}
	return failed;
}

int main(int argc, char **argv)
{
	struct kernel_image *img;
	struct kernel_kallsyms *ks;
	struct kernel_kcore *kcore;
	struct kernel_live live;
	struct kernel_code *code;
	int status;

	if (argc < 4 || kernel_image_open(argv[1], &img) ||
	    kernel_kallsyms_load(KERNEL_KALLSYMS_PATH, &ks))
		return 2;
	if (kernel_kcore_open(KERNEL_KCORE_PATH, &kcore))
		printf("# no kcore\n");
	live = (struct kernel_live){ .kcore = kcore, .base = ks->stext };
	if (kernel_code_create(img, &live, &code))
		return 2;
	status = run(code, ks, argv + 3, (uint32_t)atoi(argv[2]));
	kernel_code_destroy(code);
	kernel_kcore_destroy(kcore);
	kernel_kallsyms_destroy(ks);
	kernel_image_destroy(img);
	return status;
}
