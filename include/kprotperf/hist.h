/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The histogram's arithmetic, compiled both into the BPF programs and into user space, so that the
 * two cannot disagree about what a slot means.
 *
 * Log-linear, as in HdrHistogram: values below 16 have a slot each; above, each power of two is cut
 * into 16 slots, so a slot is at most 1/16 as wide as its lower bound. Values of 2^40 and more (18
 * minutes, in ns) share the last slot.
 */
#ifndef KPROTPERF_HIST_H
#define KPROTPERF_HIST_H

#define HIST_SUB_BITS  4
#define HIST_SUB       (1 << HIST_SUB_BITS)
#define HIST_MAX_BITS  40
#define HIST_SLOTS     ((HIST_MAX_BITS - HIST_SUB_BITS + 1) * HIST_SUB)
#define HIST_MAX_VALUE ((1ULL << HIST_MAX_BITS) - 1)

/* Position of the highest set bit, 0 to 63, without a branch: BPF has no count-leading-zeros. */
static inline __attribute__((always_inline)) unsigned int hist_log2(unsigned long long v)
{
	unsigned int r, shift;

	r = (v > 0xffffffffULL) << 5;
	v >>= r;
	shift = (v > 0xffff) << 4;
	v >>= shift;
	r |= shift;
	shift = (v > 0xff) << 3;
	v >>= shift;
	r |= shift;
	shift = (v > 0xf) << 2;
	v >>= shift;
	r |= shift;
	shift = (v > 0x3) << 1;
	v >>= shift;
	r |= shift;
	return r | (v >> 1);
}

/* The slot that counts V: 0 to HIST_SLOTS - 1, for any V. */
static inline __attribute__((always_inline)) unsigned int hist_slot(unsigned long long v)
{
	unsigned int shift;

	if (v > HIST_MAX_VALUE)
		v = HIST_MAX_VALUE;
	/* With bit 4 set, values below 16 get the shift of 16: none. */
	shift = hist_log2(v | HIST_SUB) - HIST_SUB_BITS;
	return (shift << HIST_SUB_BITS) + (unsigned int)(v >> shift);
}

/* The least value that SLOT counts. */
static inline __attribute__((always_inline)) unsigned long long hist_slot_low(unsigned int slot)
{
	unsigned int shift;

	if (slot < 2 * HIST_SUB)
		return slot;
	shift = slot / HIST_SUB - 1;
	return (unsigned long long)(slot % HIST_SUB + HIST_SUB) << shift;
}

/* The number of distinct values that SLOT counts. */
static inline __attribute__((always_inline)) unsigned long long hist_slot_width(unsigned int slot)
{
	return slot < 2 * HIST_SUB ? 1 : 1ULL << (slot / HIST_SUB - 1);
}

#endif
