/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of the CPU or the kernel, by perf's names, and what counts them on each CPU. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* An event as perf_event_open() has it. */
struct record_event {
	const char *name; /* as perf lists it */
	uint32_t type;
	uint64_t config;
	/* Default events per sample: about as many samples per second as by the clock, at a usual rate of the event. */
	uint64_t period;
};

/* The event called NAME by perf ("cache-misses", "L1-dcache-load-misses", "page-faults", "r1a8"); false: there is none. */
bool record_event_find(const char *name, struct record_event *event);

/* Does it count instructions, of a clock that counts these if IS_ICOUNT? */
bool record_event_is_instructions(const struct record_event *event, bool is_icount);

/* Opens EVENT on CPU, to be counted or, each PERIOD, sampled. The descriptor, or -errno. */
int record_event_open(const struct record_event *event, uint32_t cpu, uint64_t period);
/* Set *COUNT to the count so far. False: it stopped, since it got no counter. */
bool record_event_read(int fd, uint64_t *count);
/* Says that EVENT cannot be had on CPU because of ERR (-EBUSY: it stopped), which it returns. */
int record_event_refuse(const struct record_event *event, uint32_t cpu, int err);

struct record_counters;
struct bpf_map;

/* Counts the N EVENTS on all of N_CPUS CPUs, in MAP for the programs: each event's CPUs in turn. Reports its errors. */
int record_counters_open(const struct record_event *events, uint32_t n, uint32_t n_cpus,
			 const struct bpf_map *map, struct record_counters **out);
void record_counters_destroy(struct record_counters *c); /* accepts NULL */

/* Return the number of counters, of all CPUs, that did not count all the time because others had taken the CPU's. */
uint64_t record_counters_stopped(const struct record_counters *c);
