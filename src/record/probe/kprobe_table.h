/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's kprobes as its own table has them, read from its memory. What a hit costs depends on that, and
 * no interface tells it all: how many others of its list are looked at before, and where the copy of the
 * instruction is (with a second breakpoint behind it, for which a list is looked through too). For icount: by mean
 * numbers instead, clone read 2.8 % too long with all bodies of allocate_slab timed, and bodies in loops up to 60
 * instructions per call off.
 */
#pragma once

#include <stdint.h>

#include "base/alloc.h"

struct btf;
struct kernel_kallsyms;
struct kernel_kcore;

/* The kernel's kprobe_table. */
#define RECORD_KPROBE_LISTS 64

/* What one step through a list costs, in instructions: a load, a comparison, and their branches. */
#define RECORD_KPROBE_HOP_INSNS 5

struct record_kprobe {
	uint64_t addr;
	uint64_t copy; /* the instruction, where the kernel executes it */
};

/* Where struct kprobe has what is read, in bytes. */
struct record_kprobe_layout {
	uint32_t size, next, addr, pre_handler, copy, flags;
};

struct record_kprobe_table {
	const struct kernel_kcore *kcore;
	uint64_t lists; /* the address of the kernel's table */
	uint64_t aggregate; /* and of the handler of those prepared */
	struct record_kprobe_layout layout;
	vec_of(struct record_kprobe, items); /* list by list, as the kernel looks at them */
};

/* Finds the table of the kernel whose symbols KS are, to be read from KCORE, which must outlive T. -errno, not reported. */
int record_kprobe_table_open(struct record_kprobe_table *t, const struct kernel_kcore *kcore,
			     const struct btf *btf, const struct kernel_kallsyms *ks);
void record_kprobe_table_clear(struct record_kprobe_table *t);

/* Reads it, anew. -errno, not reported: then it is empty. */
int record_kprobe_table_read(struct record_kprobe_table *t);

/* The kprobe at ADDR; NULL: there is none. */
const struct record_kprobe *record_kprobe_table_at(const struct record_kprobe_table *t,
						   uint64_t addr);
/* How many come before the one at ADDR in its list; where there is none, all of that list. */
uint32_t record_kprobe_table_before(const struct record_kprobe_table *t, uint64_t addr);

/* The same for N at ADDRS to be probed in this order, with no others there, into HOPS. */
void record_kprobe_hops(const uint64_t *addrs, uint32_t n, uint32_t *hops);
