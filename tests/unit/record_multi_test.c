// SPDX-License-Identifier: GPL-2.0-or-later
/* The extra cost of functions by their position in the hash tables of kprobe.multi's links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "record/probe/multi.h"
#include "record/target/symbols.h"

/* The kernel's hash has the upper bits of the product with this, */
#define GOLDEN 0x61c8864680b583ebull

/* and a table is filled with this many of them. */
#define FILL_BITS 10

/* Return an address whose product has HASH in the upper bits, and N in the lowest. */
static uint64_t with_hash(uint64_t hash, uint64_t n)
{
	uint64_t inverse = 1;

	/* Each step doubles the number of correct bits. */
	for (int i = 0; i < 6; i++)
		inverse *= 2 - GOLDEN * inverse;
	return (hash << (64 - FILL_BITS) | n) * inverse;
}

static void passes_nothing_alone(void **state)
{
	const uint64_t addr = with_hash(1023, 1);
	uint32_t hops = 1;

	(void)state;
	record_multi_hops(&addr, 1, &hops);
	assert_int_equal(hops, 0);
}

/* Three functions get a table of two lists, chosen by the uppermost bit. */
static void passes_those_that_came_before(void **state)
{
	const uint64_t first = with_hash(1, 1), second = with_hash(1, 2), later = with_hash(2, 1);
	uint32_t hops[3];

	(void)state;
	/* Two reversals keep the order of linking within a list; functions from later lists come first. */
	record_multi_hops((uint64_t[]){ first, second, later }, 3, hops);
	assert_int_equal(hops[0], 1);
	assert_int_equal(hops[1], 2);
	assert_int_equal(hops[2], 0);
	record_multi_hops((uint64_t[]){ later, second, first }, 3, hops);
	assert_int_equal(hops[0], 0);
	assert_int_equal(hops[1], 1);
	assert_int_equal(hops[2], 2);
}

static void passes_none_of_other_lists(void **state)
{
	const uint64_t addrs[] = { with_hash(0, 1), with_hash(256, 1), with_hash(512, 1),
				   with_hash(768, 1), with_hash(769, 1) };
	uint32_t hops[5];

	(void)state;
	/* Four functions get four lists, and so do five. */
	record_multi_hops(addrs, 4, hops);
	for (int i = 0; i < 4; i++)
		assert_int_equal(hops[i], 0);
	record_multi_hops(addrs, 5, hops);
	for (int i = 0; i < 3; i++)
		assert_int_equal(hops[i], 0);
	assert_int_equal(hops[3], 1);
	assert_int_equal(hops[4], 0);
}

/* A table has at most 4,096 lists. */
static void passes_more_in_large_links(void **state)
{
	enum {
		N = 16384
	};
	static uint64_t addrs[N];
	static uint32_t hops[N];
	uint32_t most = 0;

	(void)state;
	/* The first table's 1,024 lists have 16 each, and so has every fourth list of the other table. */
	for (uint32_t i = 0; i < N; i++)
		addrs[i] = with_hash(i % 1024, i);
	record_multi_hops(addrs, N, hops);
	for (uint32_t i = 0; i < N; i++)
		most = hops[i] > most ? hops[i] : most;
	assert_int_equal(most, 15);
}

/* return_to_handler: after the instruction that gives the stack back, Linux 7.3's unwinder goes wrong. */
static void stack_is_given_back(void **state)
{
	const uint8_t code[] = {
		0x48, 0x83, 0xec, 0x08, /* sub $0x8,%rsp */
		0x48, 0x81, 0xec, 0xa8, 0x00, 0x00, 0x00, /* sub $0xa8,%rsp */
		0x48, 0x89, 0x44, 0x24, 0x50, /* mov %rax,0x50(%rsp) */
		0xe8, 0xf3, 0x12, 0x20, 0x00, /* call ftrace_return_to_handler */
		0x48, 0x81, 0xc4, 0xb0, 0x00, 0x00, 0x00, /* add $0xb0,%rsp */
		0xe8, 0x01, 0x00, 0x00, 0x00, /* call 1f */
		0xcc, /* int3 */
		0x48, 0x89, 0x3c, 0x24, /* 1: mov %rdi,(%rsp) */
		0xc3, /* ret */
	};
	struct decoder *decoder = decoder_create();

	(void)state;
	assert_int_equal(record_stack_given_back(decoder, code, sizeof(code)), 28);
	assert_int_equal(record_stack_given_back(decoder, code, 21), 0);
	assert_int_equal(record_stack_given_back(decoder, code, 0), 0);
	decoder_destroy(decoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_nothing_alone),
		cmocka_unit_test(passes_those_that_came_before),
		cmocka_unit_test(passes_none_of_other_lists),
		cmocka_unit_test(passes_more_in_large_links),
		cmocka_unit_test(stack_is_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
