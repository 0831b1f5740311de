/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Histogram slots, the same in the BPF programs and user space.
 *
 * Log-linear like HdrHistogram: each value below 16 has a slot. Above, each power of two has 16 slots, so a slot is at most 1/16
 * as wide as its lower bound. Values of 2^40 and more (18 minutes in ns) share the last slot.
 */
#pragma once

#define HIST_SUB_BITS  4
#define HIST_SUB       (1 << HIST_SUB_BITS)
#define HIST_MAX_BITS  40
#define HIST_SLOTS     ((HIST_MAX_BITS - HIST_SUB_BITS + 1) * HIST_SUB)
#define HIST_MAX_VALUE ((1ULL << HIST_MAX_BITS) - 1)

/* Keep compilers from making conditional moves of these steps: BPF has no such instruction. */
#define HIST_STEP(v, shift, by)                              \
	do {                                                 \
		if ((v) >= 1ULL << ((by) + HIST_SUB_BITS)) { \
			(v) >>= (by);                        \
			(shift) += (by);                     \
			__asm__("" : "+r"(v));               \
		}                                            \
	} while (0)

/*
 * Return V's slot, from 0 to HIST_SLOTS - 1. Halving steps shift V right until it has HIST_SUB_BITS + 1 bits. A typical value
 * needs two or three branches, a third of the instructions of a logarithm without branches.
 */
static inline __attribute__((always_inline)) unsigned int hist_slot(unsigned long long v)
{
	unsigned int shift = 0;

	if (v >= 1ULL << 20) {
		if (v > HIST_MAX_VALUE)
			v = HIST_MAX_VALUE;
		HIST_STEP(v, shift, 32);
		HIST_STEP(v, shift, 16);
	}
	HIST_STEP(v, shift, 8);
	HIST_STEP(v, shift, 4);
	HIST_STEP(v, shift, 2);
	HIST_STEP(v, shift, 1);
	return (shift << HIST_SUB_BITS) + (unsigned int)v;
}

static inline __attribute__((always_inline)) unsigned long long hist_slot_low(unsigned int slot)
{
	unsigned int shift;

	if (slot < 2 * HIST_SUB)
		return slot;
	shift = slot / HIST_SUB - 1;
	return (unsigned long long)(slot % HIST_SUB + HIST_SUB) << shift;
}

static inline __attribute__((always_inline)) unsigned long long hist_slot_width(unsigned int slot)
{
	return slot < 2 * HIST_SUB ? 1 : 1ULL << (slot / HIST_SUB - 1);
}
