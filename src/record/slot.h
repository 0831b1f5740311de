/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the kernel keeps its copies of probed instructions. It executes such a copy with a breakpoint behind
 * it, looks for a kprobe there too before it knows that one for its own, and takes the longer the more
 * kprobes share that address's list. The addresses are in no interface, but the copies can be read.
 */
#ifndef KPROTPERF_RECORD_SLOT_H
#define KPROTPERF_RECORD_SLOT_H

#include <stdint.h>

#define RECORD_INSN_MAX 15

struct record_slots;

struct record_slots *record_slots_create(void);
void record_slots_destroy(struct record_slots *slots); /* accepts NULL */

/* The instruction at ADDR as it is now, before a probe is put there; all zero where it cannot be read. */
void record_slots_read(struct record_slots *slots, uint64_t addr, uint8_t *text);

/* A probe at ADDR on the instruction TEXT. */
struct record_slot {
	uint64_t addr;
	const uint8_t *text;
	uint64_t
		behind; /* filled in: the breakpoint behind its copy; 0: there is none, or not known */
};

/* Finds those of the N probes, which must be there, in the order in which they were put there. */
void record_slots_find(struct record_slots *slots, struct record_slot *items, uint32_t n);

#endif
