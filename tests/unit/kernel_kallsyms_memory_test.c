// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the kernel's symbols from a made-up core file. */
#include <errno.h>

#include <bpf/btf.h>

#include "test.h"
#include "base/alloc.h"
#include "kernel/image/kallsyms.h"
#include "kernel/image/kcore.h"
#include "kernel_fixture.h"

#define BASE   0xffffffff81000000u /* start of the memory in the file, and of the kernel */
#define MODULE 0xffffffffc0100000u
#define STEXT  "\x80" /* the token that stands for "_stext" */

struct head {
	uint64_t next, prev;
};

/* These structs have the kernel's members in another order. */
struct ksym_of { /* like the kernel's struct bpf_ksym */
	uint64_t end, start;
	struct head lnode;
	char name[512];
};

struct tables_of { /* like the kernel's struct mod_kallsyms */
	uint64_t typetab, symtab, strtab;
	uint32_t num_symtab;
};

struct module_of {
	char name[56];
	uint64_t kallsyms;
	struct head list;
};

struct cache_of { /* like the kernel's struct kprobe_insn_cache */
	uint64_t size;
	struct head pages;
};

static struct {
	uint64_t base;
	uint32_t n;
	int32_t offsets[16];
	uint8_t names[512];
	char tokens[1024];
	uint16_t index[256];
	struct head modules, bpf, trampolines;
	struct cache_of insn, optinsn;
	struct ksym_of ksym;
	struct module_of module;
	struct tables_of tables;
	Elf64_Sym symtab[3];
	char typetab[3], strtab[600];
} memory;

static struct btf *btf;
static size_t n_names;
static bool has_base = true;

static void add_struct(const char *name, size_t size)
{
	btf__add_struct(btf, name, (uint32_t)size);
}

static void add_field(const char *name, size_t at)
{
	btf__add_field(btf, name, 1, (uint32_t)at * 8, 0);
}

static int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	btf = btf__new_empty();
	btf__add_int(btf, "unsigned long", 8, 0);
	add_struct("bpf_ksym", sizeof(struct ksym_of));
	add_field("start", offsetof(struct ksym_of, start));
	add_field("end", offsetof(struct ksym_of, end));
	add_field("lnode", offsetof(struct ksym_of, lnode));
	add_field("name", offsetof(struct ksym_of, name));
	add_struct("mod_kallsyms", sizeof(struct tables_of));
	add_field("typetab", offsetof(struct tables_of, typetab));
	add_field("symtab", offsetof(struct tables_of, symtab));
	add_field("strtab", offsetof(struct tables_of, strtab));
	add_field("num_symtab", offsetof(struct tables_of, num_symtab));
	add_struct("module", sizeof(struct module_of));
	add_field("name", offsetof(struct module_of, name));
	add_field("kallsyms", offsetof(struct module_of, kallsyms));
	add_field("list", offsetof(struct module_of, list));
	add_struct("kprobe_insn_cache", sizeof(struct cache_of));
	add_field("pages", offsetof(struct cache_of, pages));
	return 0;
}

static int teardown(void **state)
{
	btf__free(btf);
	return fixture_teardown(state);
}

static uint64_t at(const void *of_memory)
{
	return BASE + (uint64_t)((const char *)of_memory - (const char *)&memory);
}

/* Add a symbol to the image's table. NAME begins with the letter of its type, and may contain tokens. OFFSET is its table value. */
static void add_image(const char *name, int32_t offset)
{
	memory.offsets[memory.n++] = offset;
	memory.names[n_names++] = (uint8_t)strlen(name);
	memcpy(memory.names + n_names, name, strlen(name));
	n_names += strlen(name);
}

static void add_variable(const char *name, const void *of_memory)
{
	add_image(name, (int32_t)(BASE - 1 - at(of_memory)));
}

/* Fill the memory with the symbol tables of an SMP kernel, and with empty lists of modules and of generated code. */
static void fill(void)
{
	size_t used = 0;

	memset(&memory, 0, sizeof(memory));
	n_names = 0;
	memory.base = BASE;
	for (int i = 0; i < 256; i++) {
		memory.index[i] = (uint16_t)used;
		used += (size_t)sprintf(memory.tokens + used, "%s",
					i == 0x80 ? "_stext" : (char[]){ (char)i, 0 }) +
			1;
	}
	add_image("Aper_cpu", 0x40);
	add_image("T" STEXT, -1);
	add_image("tcopy" STEXT, -1 - 0x10);
	add_image("T_etext", -1 - 0x100000);
	add_variable("dmodules", &memory.modules);
	add_variable("dbpf_kallsyms", &memory.bpf);
	add_variable("dftrace_ops_trampoline_list", &memory.trampolines);
	add_variable("dkprobe_insn_slots", &memory.insn);
	add_variable("dkprobe_optinsn_slots", &memory.optinsn);
	memory.modules.next = at(&memory.modules);
	memory.bpf.next = at(&memory.bpf);
	memory.trampolines.next = at(&memory.trampolines);
	memory.insn.pages.next = at(&memory.insn.pages);
	memory.optinsn.pages.next = at(&memory.optinsn.pages);
}

static void load_module(void)
{
	memory.modules.next = at(&memory.module.list);
	memory.module = (struct module_of){ "nf_tables",
					    at(&memory.tables),
					    { .next = at(&memory.modules) } };
	memory.tables =
		(struct tables_of){ at(memory.typetab), at(memory.symtab), at(memory.strtab), 3 };
	memcpy(memory.strtab, "\0nft_do\0nft_end", 16);
	memcpy(memory.typetab, "Utt", 3);
	memory.symtab[1] = (Elf64_Sym){ .st_name = 1, .st_value = MODULE };
	memory.symtab[2] = (Elf64_Sym){ .st_name = 8, .st_value = MODULE + 0x80 };
}

/* Read all symbols into *KS. If IMAGE, which was read from the same memory, is not NULL, leave out the image's symbols. */
static int read_beside(const struct btf *with, const struct kernel_kallsyms *image,
		       struct kernel_kallsyms **ks)
{
	static const char *const symbols[] = { "kallsyms_names",        "kallsyms_num_syms",
					       "kallsyms_token_table",  "kallsyms_token_index",
					       "kallsyms_offsets",      "_stext",
					       "kallsyms_relative_base" };
	const void *const where[] = { memory.names,   &memory.n, memory.tokens, memory.index,
				      memory.offsets, &memory,   &memory.base };
	struct kernel_kcore *kcore;
	char *info = NULL;
	int err;

	for (size_t i = 0; i < sizeof(where) / sizeof(*where) - !has_base; i++)
		alloc_append(&info, "\nSYMBOL(%s)=%lx", symbols[i], at(where[i]));
	alloc_append(&info, "\n");
	assert_int_equal(
		kernel_kcore_open(fixture_core_info("kcore", BASE, &memory, sizeof(memory), info),
				  &kcore),
		0);
	free(info);
	err = image ? kernel_kallsyms_read_dynamic(kcore, with, image, ks) :
		      kernel_kallsyms_read(kcore, with, ks);
	kernel_kcore_destroy(kcore);
	return err;
}

static int read_it(const struct btf *with, struct kernel_kallsyms **ks)
{
	return read_beside(with, NULL, ks);
}

static void expect_symbol(const struct kernel_kallsyms *ks, uint64_t addr, const char *name,
			  const char *module)
{
	const struct kernel_sym *const *found;
	size_t n;

	found = kernel_kallsyms_named(ks, name, &n);
	assert_int_equal(n, 1);
	assert_int_equal(found[0]->addr, addr);
	assert_string_equal(found[0]->module ?: "", module);
}

TEST(reads_the_image)
{
	struct kernel_kallsyms *ks;

	fill();
	assert_int_equal(read_it(btf, &ks), 0);
	assert_int_equal(ks->n_syms, 3);
	assert_int_equal(ks->stext, BASE);
	assert_int_equal(ks->etext, BASE + 0x100000);
	expect_symbol(ks, BASE + 0x10, "copy_stext", "");
	assert_int_equal(kernel_kallsyms_variable(ks, "bpf_kallsyms"), at(&memory.bpf));
	assert_int_equal(kernel_kallsyms_variable(ks, "per_cpu"), 0);
	kernel_kallsyms_destroy(ks);
}

TEST(reads_offsets_from_the_base_up)
{
	struct kernel_kallsyms *ks;

	fill();
	for (uint32_t i = 1; i < memory.n; i++)
		memory.offsets[i] = -1 - memory.offsets[i];
	assert_int_equal(read_it(btf, &ks), 0);
	expect_symbol(ks, BASE + 0x10, "copy_stext", "");
	kernel_kallsyms_destroy(ks);
}

/* Since Linux 7.0, each offset is relative to its own address, and there is no kallsyms_relative_base. */
TEST(reads_offsets_from_their_own_places)
{
	struct kernel_kallsyms *ks;

	fill();
	for (uint32_t i = 1; i < memory.n; i++)
		memory.offsets[i] =
			(int32_t)(BASE - 1 - memory.offsets[i] - at(&memory.offsets[i]));
	has_base = false;
	assert_int_equal(read_it(btf, &ks), 0);
	has_base = true;
	expect_symbol(ks, BASE + 0x10, "copy_stext", "");
	kernel_kallsyms_destroy(ks);
}

TEST(reads_what_was_loaded)
{
	struct kernel_kallsyms *ks, *now;

	fill();
	load_module();
	memory.bpf.next = at(&memory.ksym.lnode);
	memory.ksym = (struct ksym_of){
		MODULE + 0x2100, MODULE + 0x2000, { .next = at(&memory.bpf) }, "bpf_prog_a"
	};
	assert_int_equal(read_it(btf, &ks), 0);
	expect_symbol(ks, MODULE, "nft_do", "nf_tables");
	expect_symbol(ks, MODULE + 0x80, "nft_end", "nf_tables");
	expect_symbol(ks, MODULE + 0x2000, "bpf_prog_a", "bpf");
	assert_int_equal(ks->n_syms, 6);
	/* The code after the BPF program has no symbol. */
	assert_non_null(kernel_kallsyms_covering(ks, MODULE + 0x20ff, NULL));
	assert_null(kernel_kallsyms_covering(ks, MODULE + 0x2100, NULL));
	memory.modules.next = at(&memory.modules);
	assert_int_equal(read_beside(btf, ks, &now), 0);
	expect_symbol(now, MODULE + 0x2000, "bpf_prog_a", "bpf");
	assert_int_equal(now->n_syms, 1);
	kernel_kallsyms_destroy(now);
	kernel_kallsyms_destroy(ks);
}

TEST(says_what_it_cannot_read)
{
	struct kernel_kallsyms *ks = NULL;

	fill();
	assert_int_equal(read_it(NULL, &ks), -ENOENT);
	memory.n = 0;
	assert_int_equal(read_it(btf, &ks), -EINVAL);
	memory.n = 1u << 31;
	assert_int_equal(read_it(btf, &ks), -EINVAL);
	fill();
	memory.names[0] = 0; /* an empty name */
	assert_int_equal(read_it(btf, &ks), -EINVAL);
	fill();
	memory.names[0] = 0xff; /* a name beyond the end of all names */
	memory.names[1] = 0x7f;
	assert_int_equal(read_it(btf, &ks), -EINVAL);
	fill();
	memory.index[3] = UINT16_MAX; /* an index beyond the tokens */
	assert_int_equal(read_it(btf, &ks), -EINVAL);
	fill();
	memory.base += 0x1000; /* _stext gets another address */
	assert_int_equal(read_it(btf, &ks), -EINVAL);
	fill();
	load_module();
	memory.module.list.next = at(&memory.module.list); /* a circular list */
	assert_int_equal(read_it(btf, &ks), -ELOOP);
	load_module();
	memory.module.kallsyms = 0; /* the module is not loaded yet */
	assert_int_equal(read_it(btf, &ks), -EINVAL);
	load_module();
	memory.symtab[2].st_name = 1u << 31;
	assert_int_equal(read_it(btf, &ks), -EINVAL);
	load_module();
	memory.tables.strtab = 0x1234;
	assert_int_equal(read_it(btf, &ks), -EFAULT);
	assert_null(ks);
}

RUN_TESTS(setup, teardown)
