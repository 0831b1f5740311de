/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of code outside of the kernel's image: BPF programs, trampolines and modules, which come and go while a workload runs.
 * Each change begins an epoch with its own table of symbols. Each sample has the number of its epoch.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "kernel/image/kallsyms.h"
#include "record/target/symbols.h"

struct perf_buffer;
struct record_engine;

/* Addresses from START to END, without END. */
struct record_code_range {
	uint64_t start, end;
};

/* A BPF program or trampoline that was added during EPOCH. KS is a symbol table with its symbol only. */
struct record_code_report {
	struct kernel_kallsyms *ks;
	uint32_t epoch;
};

struct record_code {
	struct record_symbols *symbols;
	struct record_engine *engine;
	vec_of(struct kernel_kallsyms *, tables); /* by epoch; NULL: as in the epoch before */
	vec_of(struct record_code_range, own); /* machine code of this recording's programs */
	struct alloc_texts own_names; /* names of own trampolines, up to any suffix such as "_2" */
	struct perf_buffer *events; /* NULL: the kernel reports no changes of code */
	vec_of(struct record_code_report, reports); /* in the order of arrival */
	uint32_t n_read; /* number of entries of TABLES other than NULL */
	int map, uevents, timer;
	bool replaced; /* a program was loaded at the address of earlier code */
	bool changed, modules_changed; /* changes since the last table was read */
	bool module_missed; /* between two readings of tables, a module was loaded and removed */
	uint64_t due; /* clock_ns() before which no further table is read; TIMER expires then */
};

/* The code at an address. */
struct record_place {
	const struct kernel_kallsyms *ks;
	const struct kernel_sym *sym; /* NULL: unknown code */
	uint64_t offset; /* offset of the address in SYM, in bytes */
	bool own; /* SYM is a program or trampoline of this recording */
};

/* Begin the first epoch, after all probes are attached. C must be zero. SYMBOLS and E must outlive C. */
void record_code_begin(struct record_code *c, struct record_symbols *symbols,
		       struct record_engine *e);
void record_code_deinit(struct record_code *c); /* C may be all zero */

/* Return a descriptor to poll, which becomes readable when code may have changed. -1: the kernel does not report changes. */
int record_code_fd(const struct record_code *c);
/* Begin an epoch if code has changed. Unless NOW is true, the epoch may begin later, to save time of reading symbols. */
void record_code_look(struct record_code *c, bool now);

struct record_place record_code_at(const struct record_code *c, uint32_t epoch, uint64_t addr);
