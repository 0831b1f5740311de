// SPDX-License-Identifier: GPL-2.0-or-later
/* What functions cost more by their place in the hash tables of kprobe.multi's links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/probe/multi.h"

/* The kernel's hash is the upper bits of the product with this, */
#define GOLDEN 0x61c8864680b583ebull

/* of which a table has these while it is filled. */
#define FILL_BITS 10

/* An address whose product is HASH in the upper bits, and N in the lowest. */
static uint64_t with_hash(uint64_t hash, uint64_t n)
{
	uint64_t inverse = 1;

	/* Each step doubles the bits that are right. */
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

/* Three functions have a table of two lists, each by the uppermost bit. */
static void passes_those_that_came_before(void **state)
{
	const uint64_t first = with_hash(1, 1), second = with_hash(1, 2), later = with_hash(2, 1);
	uint32_t hops[3];

	(void)state;
	/* Turned round twice, those of a list come in the order of linking; those of later lists first. */
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
	/* Four have four lists, and five too. */
	record_multi_hops(addrs, 4, hops);
	for (int i = 0; i < 4; i++)
		assert_int_equal(hops[i], 0);
	record_multi_hops(addrs, 5, hops);
	for (int i = 0; i < 3; i++)
		assert_int_equal(hops[i], 0);
	assert_int_equal(hops[3], 1);
	assert_int_equal(hops[4], 0);
}

/* A table has 4,096 lists at most. */
static void passes_more_in_large_links(void **state)
{
	enum {
		N = 16384
	};
	static uint64_t addrs[N];
	static uint32_t hops[N];
	uint32_t most = 0;

	(void)state;
	/* 16 in each of the 1,024 lists of the first table, and so in each fourth of the other's. */
	for (uint32_t i = 0; i < N; i++)
		addrs[i] = with_hash(i % 1024, i);
	record_multi_hops(addrs, N, hops);
	for (uint32_t i = 0; i < N; i++)
		most = hops[i] > most ? hops[i] : most;
	assert_int_equal(most, 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_nothing_alone),
		cmocka_unit_test(passes_those_that_came_before),
		cmocka_unit_test(passes_none_of_other_lists),
		cmocka_unit_test(passes_more_in_large_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
