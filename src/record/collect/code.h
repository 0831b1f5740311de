/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code outside of the kernel's image: BPF programs, trampolines and modules, which come and go while a workload runs. Each
 * change begins an epoch, which samples have, and has a table of symbols.
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

/* A BPF program or trampoline came during EPOCH. Its only symbol is in KS. */
struct record_code_report {
	struct kernel_kallsyms *ks;
	uint32_t epoch;
};

struct record_code {
	struct record_symbols *symbols;
	struct record_engine *engine;
	vec_of(struct kernel_kallsyms *, tables); /* by epoch; NULL: that of the epoch before */
	vec_of(struct record_code_range, own); /* this recording's programs */
	vec_of(char *, own_names); /* of its trampolines, or how they begin */
	struct perf_buffer *events; /* NULL: the kernel reports no changes */
	vec_of(struct record_code_report, reports); /* as they came */
	uint32_t n_read; /* of TABLES */
	int map, uevents, timer;
	bool replaced; /* an address got another name than it had in the last table */
	bool changed, modules_changed; /* since the last table */
	bool module_missed; /* one has come and gone between two tables */
	uint64_t due; /* when the next table may be read, clock_ns(); TIMER wakes then */
};

/* The code at an address. */
struct record_place {
	const struct kernel_kallsyms *ks;
	const struct kernel_sym *sym; /* NULL: unknown */
	uint64_t offset; /* in SYM */
	bool own; /* of a program or trampoline of this recording */
};

/* All probes are attached. C is zero; SYMBOLS and E outlive it. */
void record_code_begin(struct record_code *c, struct record_symbols *symbols,
		       struct record_engine *e);
void record_code_deinit(struct record_code *c); /* accepts one that is zero */

/* To be polled for input: then code has changed, maybe. -1: nothing tells. */
int record_code_fd(const struct record_code *c);
/* Begins an epoch if code has changed; unless NOW, not more often than is cheap. */
void record_code_look(struct record_code *c, bool now);

struct record_place record_code_at(const struct record_code *c, uint32_t epoch, uint64_t addr);
