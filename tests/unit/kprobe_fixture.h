/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up table of kprobes, for the tests of its readers. Include after cmocka.h. */
#pragma once

#include <bpf/btf.h>

#include "base/alloc.h"
#include "kernel/image/kallsyms.h"
#include "record/probe/kprobe_table.h"
#include "kernel/image/kcore.h"
#include "kernel_fixture.h"

#define BASE   0xffffffff81000000u /* start of the memory in the file */
#define TABLE  (BASE + 0x100)
#define PROBES (BASE + 0x800)
#define COPIES (PROBES + sizeof(memory.probes))
#define AGGR   0xffffffff81fff000u
#define GOLDEN 0x61c8864680b583ebull

struct insn_of { /* arch_specific_insn */
	uint64_t before, insn;
};

struct probe_of { /* kprobe, with its members in another order than the kernel's */
	uint64_t flags, addr, next, pprev, pre_handler;
	struct insn_of ainsn;
};

static struct {
	uint8_t before[0x100];
	uint64_t lists[RECORD_KPROBE_LISTS];
	uint8_t between[0x500];
	struct probe_of probes[8];
	uint8_t copies[8][16]; /* copies of instructions */
} memory;

static struct kernel_kcore *kcore;
static struct btf *btf;
static struct kernel_kallsyms *ks;

fixture_fn void write_core(void)
{
	kernel_kcore_destroy(kcore);
	assert_int_equal(
		kernel_kcore_open(fixture_core("kcore", BASE, &memory, sizeof(memory)), &kcore), 0);
}

fixture_fn int setup(void **state)
{
	int number, node, insn;

	if (fixture_setup(state))
		return -1;
	btf = btf__new_empty();
	number = btf__add_int(btf, "unsigned long", 8, 0);
	node = btf__add_struct(btf, "hlist_node", 16);
	btf__add_field(btf, "next", number, 0, 0);
	btf__add_field(btf, "pprev", number, 64, 0);
	insn = btf__add_struct(btf, "arch_specific_insn", sizeof(struct insn_of));
	btf__add_field(btf, "insn", number, offsetof(struct insn_of, insn) * 8, 0);
	btf__add_struct(btf, "kprobe", sizeof(struct probe_of));
	btf__add_field(btf, "flags", number, offsetof(struct probe_of, flags) * 8, 0);
	btf__add_field(btf, "addr", number, offsetof(struct probe_of, addr) * 8, 0);
	btf__add_field(btf, "hlist", node, offsetof(struct probe_of, next) * 8, 0);
	btf__add_field(btf, "pre_handler", number, offsetof(struct probe_of, pre_handler) * 8, 0);
	btf__add_field(btf, "ainsn", insn, offsetof(struct probe_of, ainsn) * 8, 0);
	return 0;
}

fixture_fn int teardown(void **state)
{
	btf__free(btf);
	kernel_kallsyms_destroy(ks);
	kernel_kcore_destroy(kcore);
	return fixture_teardown(state);
}

/* Return the Nth address that belongs to the hash list LIST. */
fixture_fn uint64_t in_list(uint32_t list, int n)
{
	uint64_t addr = BASE;

	while (addr * GOLDEN >> 58 != list || n--)
		addr++;
	return addr;
}

fixture_fn uint64_t at_probe(int i)
{
	return PROBES + (uint64_t)i * sizeof(struct probe_of) + offsetof(struct probe_of, next);
}

/* Return the symbols LINES of a kernel. Valid until the next call. */
fixture_fn const struct kernel_kallsyms *symbols_of(const char *lines)
{
	char *text = alloc_printf("ffffffff81000000 T _stext\n%s", lines);

	kernel_kallsyms_destroy(ks);
	assert_int_equal(kernel_kallsyms_load(fixture_text("kallsyms", text), &ks), 0);
	free(text);
	return ks;
}

fixture_fn const struct kernel_kallsyms *symbols(void)
{
	return symbols_of("ffffffff81fff000 t __pfx_aggr_pre_handler\n"
			  "ffffffff81000200 b kprobe_table_of_others\n"
			  "ffffffff81000100 b kprobe_table\n"
			  "ffffffff81fff000 t aggr_pre_handler\n");
}
