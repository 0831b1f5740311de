/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of the kernel's code while a run goes on. The kernel reports each of them, and each BPF program that is loaded, by the events
 * of perf that are for processor traces (Linux 5.9).
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

/* The kernel's record of code that came or went (PERF_RECORD_KSYMBOL), without what this recording does not ask for. */
struct record_ksymbol {
	struct perf_event_header header;
	uint64_t addr;
	uint32_t len;
	uint16_t type, flags;
	char name[];
};

/* The code at ADDR begins with the bytes TEXT now, of which LEN were written. */
struct record_change {
	uint64_t addr;
	uint32_t text, len;
};

struct record_watch {
	vec_of(struct record_change, changes); /* by address */
	struct alloc_texts programs; /* names of BPF programs that were loaded */
	bool overflowed; /* there were more */
	vec_of(struct record_watched_cpu, cpus);
};

/* Watches all CPUs; where the kernel refuses that, nothing. */
void record_watch_open(struct record_watch *w);
void record_watch_close(struct record_watch *w); /* accepts one that is zero */

/* Report what came to W since it was opened, or was read last. */
void record_watch_read(struct record_watch *w);
/* The place of the first change at ADDR or behind it. */
uint32_t record_watch_from(const struct record_watch *w, uint64_t addr);
