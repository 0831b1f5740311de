// SPDX-License-Identifier: GPL-2.0-or-later
/* Read kallsyms, find symbols in it, and report which functions the kernel allows to probe. */
#include <errno.h>
#include <stdbool.h>

#include "test.h"
#include "kernel/image/kallsyms.h"
#include "kernel/image/tracing.h"
#include "kernel_fixture.h"

static const char listing[] = "0000000000000000 A fixed_percpu_data\n"
			      "ffffffff81000000 T startup_64\n"
			      "ffffffff81000000 T _stext\n"
			      "ffffffff81000000 T _text\n"
			      "ffffffff81000040 T first\n"
			      "ffffffff81000080 t twin\n"
			      "ffffffff810000c0 t helper.isra.0\n"
			      "ffffffff81000100 t helper.constprop.0.isra.0\n"
			      "ffffffff81000140 t helper.cold\n"
			      "ffffffff81000140 t aliased\n"
			      "ffffffff81000140 T Aliased\n"
			      "ffffffff81000180 t twin\n"
			      "ffffffff810001c0 W weak\n"
			      "ffffffff81000200 T __sched_text_start\n"
			      "ffffffff81000200 t allocate_slab\n"
			      "ffffffff81000400 T last\n"
			      "ffffffff81000500 T _etext\n"
			      "ffffffff81800000 D some_data\n"
			      "ffffffff81800008 T jiffies\n"
			      "ffffffff82000000 T _sinittext\n"
			      "ffffffff82000000 t setup_things\n"
			      "ffffffff82001000 T _einittext\n"
			      "ffffffff82100000 t crng_init\n"
			      "this is no symbol\n"
			      "\n"
			      "ffffffff8 T\n"
			      "zzzz T nothing\n"
			      "fffffffffffffffff T seventeen_digits\n"
			      "ffffffff81000440 T bad_module\tmod]\n"
			      "ffffffffc0001000 t twin\t[second]\n"
			      "ffffffffc0001100 t mod_end\t[second]\n"
			      "ffffffffc0000000 t mod_start\t[first]\n"
			      "ffffffffc0000040 t twin\t[first]\n"
			      "ffffffffc0100000 t bpf_prog_6deef7357e7b4530\t[bpf]\n"
			      "ffffffffc0102000 t bpf_prog_7deef7357e7b4530\t[bpf]\n"
			      "ffffffffc0200000 t cut_o";

static struct kernel_kallsyms *load(const char *text)
{
	struct kernel_kallsyms *ks;

	assert_int_equal(kernel_kallsyms_load(fixture_text("kallsyms", text), &ks), 0);
	assert_non_null(ks);
	return ks;
}

static const char *name_at(struct kernel_kallsyms *ks, uint64_t addr, uint64_t *offset)
{
	const struct kernel_sym *sym = kernel_kallsyms_covering(ks, addr, offset);

	return sym ? sym->name : "";
}

TEST(the_list_is_read)
{
	struct kernel_kallsyms *ks = load(listing);
	const struct kernel_sym *syms;
	size_t n;

	assert_int_equal(ks->stext, 0xffffffff81000000);
	syms = ks->syms;
	n = ks->n_syms;
	assert_int_equal(n, 25);
	for (size_t i = 1; i < n; i++)
		assert_true(syms[i - 1].addr <= syms[i].addr);
	assert_string_equal(syms[0].name, "startup_64");
	assert_string_equal(syms[n - 1].module, "bpf");
	kernel_kallsyms_destroy(ks);
	kernel_kallsyms_destroy(NULL);
}

TEST(all_symbols_of_a_name_are_found)
{
	struct kernel_kallsyms *ks = load(listing);
	const struct kernel_sym *const *named;
	size_t n;

	named = kernel_kallsyms_named(ks, "twin", &n);
	assert_int_equal(n, 4);
	assert_int_equal(named[0]->addr, 0xffffffff81000080);
	assert_null(named[0]->module);
	assert_int_equal(named[1]->addr, 0xffffffff81000180);
	assert_string_equal(named[2]->module, "first");
	assert_string_equal(named[3]->module, "second");
	named = kernel_kallsyms_named(ks, "weak", &n);
	assert_int_equal(n, 1);
	assert_int_equal(named[0]->type, 'W');
	/* Parts of names, data, incomplete lines and lines that cannot be parsed are not found. */
	assert_null(kernel_kallsyms_named(ks, "helper", &n));
	assert_int_equal(n, 0);
	assert_null(kernel_kallsyms_named(ks, "some_data", &n));
	assert_null(kernel_kallsyms_named(ks, "cut_o", &n));
	assert_null(kernel_kallsyms_named(ks, "bad_module", &n));
	assert_null(kernel_kallsyms_named(ks, "seventeen_digits", &n));
	assert_null(kernel_kallsyms_named(ks, "", &n));
	kernel_kallsyms_destroy(ks);
}

TEST(clones_are_found_by_their_function)
{
	struct kernel_kallsyms *ks = load(listing);
	const struct kernel_sym **clones;
	size_t n;

	clones = kernel_kallsyms_clones(ks, "helper", &n);
	assert_int_equal(n, 2);
	assert_string_equal(clones[0]->name, "helper.isra.0");
	assert_string_equal(clones[1]->name, "helper.constprop.0.isra.0");
	free(clones);
	clones = kernel_kallsyms_clones(ks, "twin", &n);
	assert_int_equal(n, 4);
	free(clones);
	clones = kernel_kallsyms_clones(ks, "nothing", &n);
	assert_int_equal(n, 0);
	free(clones);
	kernel_kallsyms_destroy(ks);
}

TEST(an_address_has_its_symbol)
{
	struct kernel_kallsyms *ks = load(listing);
	uint64_t offset = 99;

	assert_string_equal(name_at(ks, 0xffffffff81000041, &offset), "first");
	assert_int_equal(offset, 1);
	/* Marks of the linker script and local aliases have the lowest priority. */
	assert_string_equal(name_at(ks, 0xffffffff81000000, NULL), "startup_64");
	assert_string_equal(name_at(ks, 0xffffffff81000210, &offset), "allocate_slab");
	assert_int_equal(offset, 0x10);
	assert_string_equal(name_at(ks, 0xffffffff81000140, NULL), "Aliased");
	/* No symbol extends beyond the end of the text, or from one module into the next. */
	assert_string_equal(name_at(ks, 0xffffffff810004ff, NULL), "last");
	assert_string_equal(name_at(ks, 0xffffffff81ffffff, NULL), "");
	assert_string_equal(name_at(ks, 0xffffffffc000003f, NULL), "mod_start");
	assert_string_equal(name_at(ks, 0xffffffffc0080000, NULL), "");
	assert_string_equal(name_at(ks, 0xffffffffc0001100, NULL), "mod_end");
	/* A symbol of unknown length ends with its memory page. */
	assert_string_equal(name_at(ks, 0xffffffffc0001fff, NULL), "mod_end");
	assert_string_equal(name_at(ks, 0xffffffffc0002000, NULL), "");
	/* A BPF program's symbol ends with its memory page, because the next program may not be listed. */
	assert_string_equal(name_at(ks, 0xffffffffc0100fff, NULL), "bpf_prog_6deef7357e7b4530");
	assert_string_equal(name_at(ks, 0xffffffffc0101000, NULL), "");
	assert_string_equal(name_at(ks, 0, NULL), "");
	assert_string_equal(name_at(ks, UINT64_MAX, NULL), "");
	kernel_kallsyms_destroy(ks);
}

TEST(symbols_have_size_module_and_init)
{
	struct kernel_kallsyms *ks = load(listing);
	const struct kernel_sym *const *named;
	size_t n;

	named = kernel_kallsyms_named(ks, "first", &n);
	assert_int_equal(kernel_kallsyms_size(ks, named[0]), 0x40);
	assert_false(kernel_kallsyms_is_init(ks, named[0]));
	named = kernel_kallsyms_named(ks, "last", &n);
	assert_int_equal(kernel_kallsyms_size(ks, named[0]), 0x100);
	named = kernel_kallsyms_named(ks, "setup_things", &n);
	assert_true(kernel_kallsyms_is_init(ks, named[0]));
	named = kernel_kallsyms_named(ks, "mod_start", &n);
	assert_int_equal(kernel_kallsyms_size(ks, named[0]), 0x40);
	named = kernel_kallsyms_named(ks, "mod_end", &n);
	assert_int_equal(kernel_kallsyms_size(ks, named[0]), 0);
	/* Addresses are relative to the image or to the module's first symbol, in whatever order the file lists the symbols. */
	assert_int_equal(named[0]->addr - kernel_kallsyms_base(ks, named[0]), 0x100);
	named = kernel_kallsyms_named(ks, "twin", &n);
	assert_int_equal(kernel_kallsyms_base(ks, named[0]), 0xffffffff81000000);
	assert_int_equal(kernel_kallsyms_base(ks, named[2]), 0xffffffffc0000000);
	assert_int_equal(kernel_kallsyms_base(ks, named[3]), 0xffffffffc0001000);
	assert_true(kernel_kallsyms_in_image(ks, 0xffffffff81000000));
	assert_false(kernel_kallsyms_in_image(ks, 0xffffffff81000500));
	assert_false(kernel_kallsyms_in_image(ks, 0xffffffffc0000000));
	kernel_kallsyms_destroy(ks);
}

TEST(symbols_outside_of_code_are_variables)
{
	static const char *const names[] = { "some_data", "jiffies", "crng_init" };
	static const uint64_t addrs[] = { 0xffffffff81800000, 0xffffffff81800008,
					  0xffffffff82100000 };
	struct kernel_kallsyms *ks = load(listing);
	uint64_t offset;
	size_t n;

	for (int i = 0; i < 3; i++) {
		assert_true(kernel_kallsyms_variable(ks, names[i]) == addrs[i]);
		assert_string_equal(kernel_kallsyms_variable_at(ks, addrs[i] + 4, &offset),
				    names[i]);
		assert_int_equal(offset, 4);
		kernel_kallsyms_named(ks, names[i], &n);
		assert_int_equal(n, 0);
	}
	assert_true(kernel_kallsyms_variable(ks, "setup_things") == 0);
	kernel_kallsyms_destroy(ks);
}

TEST(near_names_are_suggested)
{
	struct kernel_kallsyms *ks = load(listing);
	const char *names[4];

	assert_int_equal(kernel_kallsyms_suggest(ks, "alocate_salb", names, 4), 1);
	assert_string_equal(names[0], "allocate_slab");
	/* Symbols that contain the name are suggested, each once. */
	assert_int_equal(kernel_kallsyms_suggest(ks, "_slab", names, 4), 1);
	assert_int_equal(kernel_kallsyms_suggest(ks, "twim", names, 4), 1);
	assert_string_equal(names[0], "twin");
	assert_int_equal(kernel_kallsyms_suggest(ks, "no_such_function", names, 4), 0);
	assert_int_equal(kernel_kallsyms_suggest(ks, "helper", names, 1), 1);
	assert_int_equal(kernel_kallsyms_suggest(ks, "", names, 4), 0);
	kernel_kallsyms_destroy(ks);
}

/*
 * A clone is reported under its function's name. A .part clone of a function that has a symbol too keeps its own name: the function
 * calls the clone, so under one name each call would count twice.
 */
TEST(a_clone_has_its_functions_name_if_it_is_the_only_one)
{
	struct kernel_kallsyms *ks = load("ffffffff81000000 T _stext\n"
					  "ffffffff81000010 t alone.part.0\n"
					  "ffffffff81000020 t split.part.0\n"
					  "ffffffff81000030 T split\n"
					  "ffffffff81000040 t split.constprop.0\n"
					  "ffffffff81000050 t split.part.0.isra.0\n"
					  "ffffffff81000060 T _etext\n");
	static const struct {
		const char *name;
		size_t length;
	} names[] = { { "alone.part.0", 5 },
		      { "split", 5 },
		      { "split.constprop.0", 5 },
		      { "split.part.0", 12 },
		      { "split.part.0.isra.0", 19 } };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(kernel_kallsyms_reported_len(ks, names[i].name), names[i].length);
	kernel_kallsyms_destroy(ks);
}

TEST(names_of_other_kernels_are_suggested_first)
{
	struct kernel_kallsyms *ks = load("ffffffff81000000 T _stext\n"
					  "ffffffff81000010 t kmem_cache_alias\n"
					  "ffffffff81000020 t kmem_cache_flags\n"
					  "ffffffff81000030 t kmem_cache_open\n"
					  "ffffffff81000040 t kmem_cache_size\n"
					  "ffffffff81000050 t __pfx_kmem_cache_alloc_noprof\n"
					  "ffffffff81000060 t kmem_cache_alloc_noprof\n"
					  "ffffffff81000070 t kmem_cache_alloc_bulk_noprof\n"
					  "ffffffff81000080 t do_mmap\n"
					  "ffffffff81000090 t __vma_link_rb\n"
					  "ffffffff810000a0 t cache\n"
					  "ffffffff810000b0 t __alloc\n"
					  "ffffffff810000c0 t dma_alloc_pages\n"
					  "ffffffff810000d0 t __alloc_pages_noprof\n");
	const char *names[4];

	assert_true(kernel_kallsyms_suggest(ks, "kmem_cache_alloc", names, 4) > 1);
	assert_string_equal(names[0], "kmem_cache_alloc_noprof");
	assert_int_equal(kernel_kallsyms_suggest(ks, "do_mmap_pgoff", names, 4), 1);
	assert_string_equal(names[0], "do_mmap");
	assert_int_equal(kernel_kallsyms_suggest(ks, "vma_link_rb", names, 4), 1);
	assert_string_equal(names[0], "__vma_link_rb");
	assert_int_equal(kernel_kallsyms_suggest(ks, "__vma_link", names, 1), 1);
	assert_int_equal(kernel_kallsyms_suggest(ks, "_", names, 4), 0);
	/* A symbol that contains the whole name comes first, whatever its length. These names are those of Linux 6.12. */
	assert_int_equal(kernel_kallsyms_suggest(ks, "__alloc_pages", names, 3), 3);
	assert_string_equal(names[0], "__alloc_pages_noprof");
	kernel_kallsyms_destroy(ks);
}

static void refused(const char *text, int err)
{
	struct kernel_kallsyms *ks;

	fixture_quiet();
	assert_int_equal(kernel_kallsyms_load(fixture_text("kallsyms", text), &ks), err);
	fixture_loud();
	assert_null(ks);
}

TEST(useless_lists_are_refused)
{
	struct kernel_kallsyms *ks;

	refused("0000000000000000 T _stext\n0000000000000000 T first\n", -EPERM);
	refused("", -EINVAL);
	refused("garbage\n\n\n", -EINVAL);
	refused("ffffffff81000000 T first\n", -EINVAL);
	refused("ffffffff81000000 T _stext", -EINVAL);
	fixture_quiet();
	assert_int_equal(kernel_kallsyms_load(fixture_path("missing"), &ks), -ENOENT);
	fixture_loud();
}

static enum kernel_answer is_ftrace(struct kernel_kallsyms *ks, struct kernel_tracing *t,
				    const char *name, size_t which)
{
	size_t n;
	const struct kernel_sym *const *named = kernel_kallsyms_named(ks, name, &n);

	assert_true(which < n);
	return kernel_tracing_is_ftrace(t, named[which]);
}

TEST(ftrace_locations_are_read_by_name)
{
	struct kernel_kallsyms *ks = load(listing);
	struct kernel_tracing *t;

	fixture_text("available_filter_functions", "first\ntwin\nAliased\ntwin [first]\n"
						   "mod_start [first]\nunknown\nlast [odd\nwea");
	assert_int_equal(kernel_tracing_load(ks, NULL, 0, fixture_dir, NULL, &t), 0);
	assert_true(kernel_tracing_ftrace_known(t));
	assert_false(kernel_tracing_blacklist_known(t));
	assert_int_equal(is_ftrace(ks, t, "first", 0), KERNEL_YES);
	/* The file lists "twin" once, but the image has two functions of this name. */
	assert_int_equal(is_ftrace(ks, t, "twin", 0), KERNEL_UNKNOWN);
	assert_int_equal(is_ftrace(ks, t, "twin", 1), KERNEL_UNKNOWN);
	assert_int_equal(is_ftrace(ks, t, "twin", 2), KERNEL_YES);
	assert_int_equal(is_ftrace(ks, t, "twin", 3), KERNEL_NO);
	assert_int_equal(is_ftrace(ks, t, "aliased", 0), KERNEL_YES);
	assert_int_equal(is_ftrace(ks, t, "last", 0), KERNEL_NO);
	assert_int_equal(is_ftrace(ks, t, "weak", 0), KERNEL_NO);
	assert_int_equal(kernel_tracing_is_blacklisted(t, 1), KERNEL_UNKNOWN);
	kernel_tracing_destroy(t);
	kernel_kallsyms_destroy(ks);
}

TEST(ftrace_locations_are_read_by_address)
{
	struct kernel_kallsyms *ks = load(listing);
	struct kernel_tracing *t;

	fixture_text("available_filter_functions", "weak\n");
	/* The ftrace location of "first" is after an endbr64. That of "allocate_slab" is not at the start of a function. */
	fixture_text("available_filter_functions_addrs", "ffffffff81000044 first\n"
							 "ffffffff81000180 twin\n"
							 "garbage\n"
							 "ffffffff81000300 allocate_slab\n");
	assert_int_equal(kernel_tracing_load(ks, NULL, 0, fixture_dir, NULL, &t), 0);
	assert_int_equal(is_ftrace(ks, t, "first", 0), KERNEL_YES);
	assert_int_equal(is_ftrace(ks, t, "twin", 0), KERNEL_NO);
	assert_int_equal(is_ftrace(ks, t, "twin", 1), KERNEL_YES);
	assert_int_equal(is_ftrace(ks, t, "allocate_slab", 0), KERNEL_NO);
	assert_int_equal(is_ftrace(ks, t, "weak", 0), KERNEL_NO);
	kernel_tracing_destroy(t);
	unlink(fixture_path("available_filter_functions_addrs"));
	unlink(fixture_path("available_filter_functions"));
	kernel_kallsyms_destroy(ks);
}

TEST(blacklisted_functions_are_known)
{
	struct kernel_kallsyms *ks = load(listing);
	struct kernel_tracing *t;
	const char *path = fixture_text("blacklist", "0xffffffff81000100-0xffffffff81000200\tb\n"
						     "0xffffffff81000000-0xffffffff81000040\ta\n"
						     "0xffffffff81000120-0xffffffff81000130\tin b\n"
						     "0x10\n0x20-\n0x9-0x8\tx\n");

	assert_int_equal(kernel_tracing_load(ks, NULL, 0, "/nonexistent", path, &t), 0);
	assert_false(kernel_tracing_ftrace_known(t));
	assert_int_equal(is_ftrace(ks, t, "first", 0), KERNEL_UNKNOWN);
	assert_true(kernel_tracing_blacklist_known(t));
	assert_int_equal(kernel_tracing_is_blacklisted(t, 0xffffffff80ffffff), KERNEL_NO);
	assert_int_equal(kernel_tracing_is_blacklisted(t, 0xffffffff81000000), KERNEL_YES);
	assert_int_equal(kernel_tracing_is_blacklisted(t, 0xffffffff8100003f), KERNEL_YES);
	assert_int_equal(kernel_tracing_is_blacklisted(t, 0xffffffff81000040), KERNEL_NO);
	assert_int_equal(kernel_tracing_is_blacklisted(t, 0xffffffff810001ff), KERNEL_YES);
	assert_int_equal(kernel_tracing_is_blacklisted(t, 0xffffffff81000200), KERNEL_NO);
	kernel_tracing_destroy(t);

	path = fixture_text("blacklist", "0x0000000000000000-0x0000000000000000\ta\n");
	assert_int_equal(kernel_tracing_load(ks, NULL, 0, NULL, path, &t), 0);
	assert_int_equal(kernel_tracing_is_blacklisted(t, 0), KERNEL_UNKNOWN);
	kernel_tracing_destroy(t);
	kernel_tracing_destroy(NULL);
	kernel_kallsyms_destroy(ks);
}

RUN_TESTS(fixture_setup, fixture_teardown)
