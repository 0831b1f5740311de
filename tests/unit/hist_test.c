// SPDX-License-Identifier: GPL-2.0-or-later
/* Test the arithmetic of histogram slots, which BPF programs and user space share. */
#include "test.h"
#include "kprotperf/hist.h"

static void check_value(uint64_t v)
{
	unsigned int slot = hist_slot(v);
	uint64_t low, width;

	assert_in_range(slot, 0, HIST_SLOTS - 1);
	low = hist_slot_low(slot);
	width = hist_slot_width(slot);
	if (v > HIST_MAX_VALUE) {
		assert_int_equal(slot, HIST_SLOTS - 1);
		return;
	}
	if (v < low || v - low >= width)
		fail_msg("%llu is not in its slot %u: %llu, width %llu", (unsigned long long)v,
			 slot, (unsigned long long)low, (unsigned long long)width);
}

TEST(values_lie_in_their_slots)
{
	uint64_t v;

	for (v = 0; v < 1 << 20; v++) {
		check_value(v);
		if (v)
			assert_in_range(hist_slot(v) - hist_slot(v - 1), 0, 1);
	}
	for (v = 0; v < 2 * HIST_SUB; v++)
		assert_int_equal(hist_slot(v), v);
}

TEST(values_at_edges_of_octaves_lie_in_their_slots)
{
	int bit, sub, around;

	for (bit = HIST_SUB_BITS; bit < 64; bit++)
		for (sub = 0; sub < HIST_SUB; sub++)
			for (around = -2; around <= 2; around++)
				check_value((1ULL << bit) + ((uint64_t)sub << (bit - 4)) + around);
	check_value(UINT64_MAX);
	check_value(UINT64_MAX - 1);
}

TEST(slots_follow_each_other_without_gaps)
{
	uint64_t next = 0;
	unsigned int slot;

	for (slot = 0; slot < HIST_SLOTS; slot++) {
		uint64_t low = hist_slot_low(slot), width = hist_slot_width(slot);

		assert_int_equal(low, next);
		assert_int_equal(hist_slot(low), slot);
		assert_int_equal(hist_slot(low + width - 1), slot);
		if (low >= HIST_SUB)
			assert_true(width * HIST_SUB <= low);
		else
			assert_int_equal(width, 1);
		next = low + width;
	}
	assert_int_equal(next, HIST_MAX_VALUE + 1);
}

TEST(the_last_slot_takes_the_rest)
{
	assert_int_equal(hist_slot(HIST_MAX_VALUE), HIST_SLOTS - 1);
	assert_int_equal(hist_slot(HIST_MAX_VALUE + 1), HIST_SLOTS - 1);
	assert_int_equal(hist_slot(UINT64_MAX), HIST_SLOTS - 1);
	assert_int_equal(hist_slot(hist_slot_low(HIST_SLOTS - 1) - 1), HIST_SLOTS - 2);
}

RUN_TESTS(NULL, NULL)
