/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code outside of the kernel's image: BPF programs, trampolines and modules, which come and go while a workload runs. Each
 * change begins an epoch, which has its own table of symbols. Each sample has the number of its epoch.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "kernel/image/kallsyms.h"
#include "record/target/symbols.h"

struct perf_buffer;
struct record_engine;

/* Addresses from START up to END. */
struct record_code_range {
	uint64_t start, end;
};

/* A BPF program or trampoline that was added during EPOCH. KS has its symbol and no other. */
struct record_code_report {
	struct kernel_kallsyms *ks;
	uint32_t epoch;
};

struct record_code {
	struct record_symbols *symbols;
	struct record_engine *engine;
	vec_of(struct kernel_kallsyms *, tables); /* indexed by epoch; NULL: same as before */
	vec_of(struct record_code_range, own); /* code of this recording's programs */
	vec_of(char *, own_names); /* names of its trampolines, up to any "_" suffix */
	struct perf_buffer *events; /* NULL: the kernel reports no changes */
	vec_of(struct record_code_report, reports); /* sorted by arrival */
	uint32_t n_read; /* number of TABLES that are not NULL */
	int map, uevents, timer;
	bool replaced; /* a reported program took the place of other code */
	bool changed, modules_changed; /* changes since the last table was read */
	bool module_missed; /* a module was added and removed between two tables */
	uint64_t due; /* when the next table may be read, clock_ns(); TIMER wakes then */
};

/* The code at an address. */
struct record_place {
	const struct kernel_kallsyms *ks;
	const struct kernel_sym *sym; /* NULL: unknown */
	uint64_t offset; /* offset of the address in SYM */
	bool own; /* it is a program or trampoline of this recording */
};

/* Begin the first epoch, when all probes are attached. C is zero. SYMBOLS and E must outlive it. */
void record_code_begin(struct record_code *c, struct record_symbols *symbols,
		       struct record_engine *e);
void record_code_deinit(struct record_code *c); /* accepts one that is zero */

/* Return a descriptor to poll: after input, code may have changed. -1: the kernel does not report changes. */
int record_code_fd(const struct record_code *c);
/* Begin an epoch if code has changed. Unless NOW, this may be postponed to limit the time of reading symbols. */
void record_code_look(struct record_code *c, bool now);

struct record_place record_code_at(const struct record_code *c, uint32_t epoch, uint64_t addr);
