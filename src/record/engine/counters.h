/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of the CPU or the kernel, with perf's names, and the counters that count them on each CPU. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* An event: TYPE and CONFIG as in struct perf_event_attr. */
struct record_event {
	const char *name; /* perf's name for it */
	uint32_t type;
	uint64_t config;
};

/* Find the event that perf calls NAME ("cache-misses", "L1-dcache-load-misses", "page-faults", "r1a8"). False: none. */
bool record_event_find(const char *name, struct record_event *event);

/* Return whether EVENT counts instructions. IS_ICOUNT: the clock counts instructions, too. */
bool record_event_is_instructions(const struct record_event *event, bool is_icount);

struct record_counters;
struct bpf_map;

/* Count the N EVENTS on N_CPUS CPUs, and put the counters into MAP at event * N_CPUS + CPU. Report errors. */
int record_counters_open(const struct record_event *events, uint32_t n, uint32_t n_cpus,
			 const struct bpf_map *map, struct record_counters **out);
void record_counters_destroy(struct record_counters *c); /* accepts NULL */

/* Return the number of counters, on all CPUs, that did not count all the time because other users took the CPU's counters. */
uint64_t record_counters_stopped(const struct record_counters *c);

/*
 * The sampler's perf events, one on each CPU: the software CPU clock, with a fixed period, so that the number of
 * samples to expect is known.
 */

struct bpf_program;
struct record_sampler;

/* Run PROG every PERIOD ns on each CPU that is online. Report errors. */
int record_sampler_start(struct bpf_program *prog, uint64_t period, struct record_sampler **out);
/* Detaches; accepts NULL. */
void record_sampler_destroy(struct record_sampler *s);
