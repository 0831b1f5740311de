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
};

/* The event called NAME by perf ("cache-misses", "L1-dcache-load-misses", "page-faults", "r1a8"); false: there is none. */
bool record_event_find(const char *name, struct record_event *event);

/* Return whether it counts instructions; IS_ICOUNT: the clock counts these. */
bool record_event_is_instructions(const struct record_event *event, bool is_icount);

struct record_counters;
struct bpf_map;

/* Counts the N EVENTS on all of N_CPUS CPUs, in MAP for the programs: each event's CPUs in turn. Reports its errors. */
int record_counters_open(const struct record_event *events, uint32_t n, uint32_t n_cpus,
			 const struct bpf_map *map, struct record_counters **out);
void record_counters_destroy(struct record_counters *c); /* accepts NULL */

/* Return the number of counters, of all CPUs, that did not count all the time because others had taken the CPU's. */
uint64_t record_counters_stopped(const struct record_counters *c);

/*
 * The sampler's perf events, one on each CPU: the software CPU clock, with a fixed period, so that the number of
 * samples to expect is known.
 */

struct bpf_program;
struct record_sampler;

/* PERIOD in ns. CPUs that are offline are left out. Reports its errors. */
int record_sampler_start(struct bpf_program *prog, uint64_t period, struct record_sampler **out);
/* Detaches; accepts NULL. */
void record_sampler_destroy(struct record_sampler *s);
