/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watch changes of the kernel's code during a run. The kernel reports each change, and each BPF program that is loaded, by perf
 * events, which Linux 5.9 has added for traces of processors.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct perf_buffer;

/* The kernel's record of added or removed code (PERF_RECORD_KSYMBOL), without optional fields. */
struct record_ksymbol {
	struct perf_event_header header;
	uint64_t addr;
	uint32_t len;
	uint16_t type, flags;
	char name[];
};

/* A change of the kernel's code: LEN bytes were written at ADDR. TEXT is the first four of these bytes. */
struct record_change {
	uint64_t addr;
	uint32_t text, len;
};

struct record_watch {
	vec_of(struct record_change, changes); /* sorted by address */
	struct alloc_texts programs; /* names of BPF programs that were loaded */
	bool overflowed; /* some changes or programs were lost */
	struct perf_buffer *events; /* NULL: the kernel does not report changes (before 5.9) */
	int map; /* the map that EVENTS needs */
	int cpu;
	uint32_t bytes; /* size of the events of CPU in this reading */
};

/* Watch all CPUs that are online. W must be zero. */
void record_watch_open(struct record_watch *w);
void record_watch_close(struct record_watch *w); /* W may be all zero */

/* Replace the contents of W by the changes since W was opened or last read. */
void record_watch_read(struct record_watch *w);
/* Return the index of the first change whose address is ADDR or higher. */
uint32_t record_watch_from(const struct record_watch *w, uint64_t addr);
