// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the kernel's ftrace locations from a made-up core file. */
#include <errno.h>

#include <bpf/btf.h>

#include "test.h"
#include "base/alloc.h"
#include "kernel/image/tracing.h"
#include "kernel/image/kcore.h"
#include "kernel/image/kallsyms.h"
#include "kernel_fixture.h"

#define BASE 0xffffffff81000000u /* start of the memory in the file */

struct page_of { /* like the kernel's struct ftrace_page, with members in another order */
	uint64_t records, next;
	int32_t index, order;
};

struct record_of { /* like the kernel's struct dyn_ftrace */
	uint64_t flags, ip;
};

static struct {
	uint64_t first;
	struct page_of pages[2];
	struct record_of records[4];
} memory;

static struct btf *btf;

static int setup(void **state)
{
	int number, small;

	if (fixture_setup(state))
		return -1;
	btf = btf__new_empty();
	number = btf__add_int(btf, "unsigned long", 8, 0);
	small = btf__add_int(btf, "int", 4, 0);
	btf__add_struct(btf, "ftrace_page", sizeof(struct page_of));
	btf__add_field(btf, "records", number, offsetof(struct page_of, records) * 8, 0);
	btf__add_field(btf, "next", number, offsetof(struct page_of, next) * 8, 0);
	btf__add_field(btf, "index", small, offsetof(struct page_of, index) * 8, 0);
	btf__add_struct(btf, "dyn_ftrace", sizeof(struct record_of));
	btf__add_field(btf, "ip", number, offsetof(struct record_of, ip) * 8, 0);
	return 0;
}

static int teardown(void **state)
{
	btf__free(btf);
	return fixture_teardown(state);
}

static uint64_t at(const void *of_memory)
{
	return BASE + ((const char *)of_memory - (const char *)&memory);
}

static void fill(void)
{
	memory.first = at(&memory.pages[1]);
	memory.pages[1] = (struct page_of){ at(&memory.records[0]), at(&memory.pages[0]), 2, 0 };
	memory.pages[0] = (struct page_of){ at(&memory.records[2]), 0, 1, 0 };
	for (int i = 0; i < 4; i++)
		memory.records[i] = (struct record_of){ .ip = 1000 + i };
}

/* Read the ftrace locations from MEMORY, with LINE in kallsyms. */
static int read_it(const struct btf *with, const char *line, uint64_t **addrs, size_t *n)
{
	struct kernel_kallsyms *ks;
	struct kernel_kcore *kcore;
	char *text = alloc_printf("ffffffff81000000 T _stext\n%s", line);
	int err;

	assert_int_equal(
		kernel_kcore_open(fixture_core("kcore", BASE, &memory, sizeof(memory)), &kcore), 0);
	assert_int_equal(kernel_kallsyms_load(fixture_text("kallsyms", text), &ks), 0);
	err = kernel_ftrace_read(kcore, with, ks, addrs, n);
	kernel_kallsyms_destroy(ks);
	kernel_kcore_destroy(kcore);
	free(text);
	return err;
}

#define START "ffffffff81000000 b ftrace_pages_start\n"

TEST(reads_pages_as_full_as_they_are)
{
	uint64_t *addrs;
	size_t n;

	fill();
	assert_int_equal(read_it(btf, START, &addrs, &n), 0);
	assert_int_equal(n, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(addrs[i], 1000 + i);
	free(addrs);
}

TEST(says_what_it_cannot_read)
{
	struct btf *empty = btf__new_empty();
	uint64_t *addrs;
	size_t n;

	fill();
	assert_int_equal(read_it(btf, "", &addrs, &n), -ENOENT);
	assert_int_equal(read_it(empty, START, &addrs, &n), -ENOENT);
	memory.pages[0].next = memory.first;
	assert_int_equal(read_it(btf, START, &addrs, &n), -ELOOP);
	memory.pages[0].next = 0x1234;
	assert_int_equal(read_it(btf, START, &addrs, &n), -EFAULT);
	memory.pages[0].index = -1;
	assert_int_equal(read_it(btf, START, &addrs, &n), -EINVAL);
	memory.first = 0;
	assert_int_equal(read_it(btf, START, &addrs, &n), -ENOENT);
	assert_int_equal(n, 0);
	btf__free(empty);
}

RUN_TESTS(setup, teardown)
