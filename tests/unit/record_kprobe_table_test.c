// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the kernel's table of kprobes from a made-up core file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kprobe_fixture.h"

/* Two probes in one list, three in another. The last one of each has no others in its own list. */
static void fill(void)
{
	static const uint32_t list[] = { 5, 5, 63, 63, 63 };
	static const uint64_t next[] = { 1, 0, 3, 4, 0 };

	memset(&memory, 0, sizeof(memory));
	for (int i = 0; i < 5; i++)
		memory.probes[i] = (struct probe_of){
			.addr = in_list(list[i], i),
			.next = next[i] ? at_probe((int)next[i]) : 0,
			.ainsn.insn = 0xffffffffc0000000 + i * 15,
		};
	memory.lists[5] = at_probe(0);
	memory.lists[63] = at_probe(2);
	memory.probes[1].pre_handler = AGGR;
	memory.probes[3].pre_handler = AGGR;
	memory.probes[3].flags = 4 | 16; /* taken by the optimizer, and on a function's entry */
	write_core();
}

static void reads_lists_in_their_order(void **state)
{
	struct record_kprobe_table t;
	const struct record_kprobe *k;

	(void)state;
	fill();
	assert_int_equal(record_kprobe_table_open(&t, kcore, btf, symbols()), 0);
	assert_int_equal(t.lists, TABLE);
	assert_int_equal(record_kprobe_table_read(&t), 0);
	assert_int_equal(t.n_items, 5);
	for (int i = 0; i < 5; i++)
		assert_int_equal(t.items[i].addr, memory.probes[i].addr);
	assert_int_equal(record_kprobe_table_before(&t, memory.probes[0].addr), 0);
	assert_int_equal(record_kprobe_table_before(&t, memory.probes[1].addr), 1);
	assert_int_equal(record_kprobe_table_before(&t, memory.probes[4].addr), 2);
	/* An address without a probe is searched to the end of its list. */
	assert_int_equal(record_kprobe_table_before(&t, in_list(63, 9)), 3);
	assert_int_equal(record_kprobe_table_before(&t, in_list(5, 9)), 2);
	assert_int_equal(record_kprobe_table_before(&t, in_list(6, 0)), 0);
	k = record_kprobe_table_at(&t, memory.probes[1].addr);
	assert_int_equal(k->copy, 0xffffffffc000000f);
	assert_null(record_kprobe_table_at(&t, BASE));
	record_kprobe_table_clear(&t);
}

/* The optimizer's copy of a probe stays a while after the last probe is gone. */
static void leaves_out_what_goes(void **state)
{
	struct record_kprobe_table t;

	(void)state;
	fill();
	memory.probes[2].flags = 2; /* another tool's, disabled */
	memory.probes[3].flags = 2 | 4;
	write_core();
	assert_int_equal(record_kprobe_table_open(&t, kcore, btf, symbols()), 0);
	assert_int_equal(record_kprobe_table_read(&t), 0);
	assert_int_equal(t.n_items, 4);
	assert_non_null(record_kprobe_table_at(&t, memory.probes[2].addr));
	assert_null(record_kprobe_table_at(&t, memory.probes[3].addr));
	assert_int_equal(record_kprobe_table_before(&t, memory.probes[4].addr), 1);
	record_kprobe_table_clear(&t);
}

/* A list that changes while it is read may lead anywhere, also in a circle. */
static void damage_leaves_it_empty(void **state)
{
	struct record_kprobe_table t;

	(void)state;
	fill();
	memory.probes[4].next = 0x1234;
	write_core();
	assert_int_equal(record_kprobe_table_open(&t, kcore, btf, symbols()), 0);
	assert_int_equal(record_kprobe_table_read(&t), -EFAULT);
	assert_int_equal(t.n_items, 0);
	memory.probes[4].next = at_probe(2);
	write_core();
	t.kcore = kcore;
	assert_int_equal(record_kprobe_table_read(&t), -ELOOP);
	assert_int_equal(t.n_items, 0);
	record_kprobe_table_clear(&t);
}

/* A kernel without KALLSYMS_ALL hides the table's address, and one without BTF its layout. */
static void does_without(void **state)
{
	struct btf *empty = btf__new_empty();
	struct record_kprobe_table t;

	(void)state;
	fill();
	assert_int_equal(
		record_kprobe_table_open(&t, kcore, btf,
					 symbols_of("ffffffff81fff000 t aggr_pre_handler\n")),
		-ENOENT);
	assert_int_equal(record_kprobe_table_open(&t, kcore, empty, symbols()), -ENOENT);
	assert_int_equal(record_kprobe_table_read(&t), -ENOENT);
	record_kprobe_table_clear(&t);
	btf__free(empty);
}

static void foretells_what_comes_later_first(void **state)
{
	const uint64_t addrs[] = { in_list(7, 0), in_list(8, 0), in_list(7, 1), in_list(7, 2) };
	uint32_t hops[4];

	(void)state;
	record_kprobe_hops(addrs, 4, hops);
	assert_int_equal(hops[0], 2);
	assert_int_equal(hops[1], 0);
	assert_int_equal(hops[2], 1);
	assert_int_equal(hops[3], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_lists_in_their_order),
		cmocka_unit_test(leaves_out_what_goes),
		cmocka_unit_test(damage_leaves_it_empty),
		cmocka_unit_test(does_without),
		cmocka_unit_test(foretells_what_comes_later_first),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
