/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find CPU and kernel events by perf's names, and count these events on each CPU. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* An event. TYPE and CONFIG are those of struct perf_event_attr. */
struct record_event {
	const char *name; /* perf's name for the event */
	uint32_t type;
	uint64_t config;
};

/* Find the event that perf calls NAME, such as "cache-misses", "L1-dcache-load-misses" or "r1a8". Return false if unknown. */
bool record_event_find(const char *name, struct record_event *event);

/* Return whether EVENT counts instructions. With IS_ICOUNT, events that count clock ticks count instructions, too. */
bool record_event_is_instructions(const struct record_event *event, bool is_icount);

struct record_counters;
struct bpf_map;

/* Count the N EVENTS on N_CPUS CPUs. Entry I * N_CPUS + CPU of MAP gets the counter of event I on that CPU. Report errors. */
int record_counters_open(const struct record_event *events, uint32_t n, uint32_t n_cpus,
			 const struct bpf_map *map, struct record_counters **out);
void record_counters_destroy(struct record_counters *c); /* accepts NULL */

/* Return the number of counters, on all CPUs, that stopped for a time because other users took the hardware counters. */
uint64_t record_counters_stopped(const struct record_counters *c);

struct bpf_link;
struct bpf_program;

/*
 * Run PROG every PERIOD ns on CPU, by a perf event that counts the software CPU clock: its period is fixed, so that the number of
 * samples to expect is known. *LINK owns the event. Return 0 or -errno, not reported; -ENODEV: CPU is offline.
 */
int record_sampler_attach(struct bpf_program *prog, uint64_t period, uint32_t cpu,
			  struct bpf_link **link);
