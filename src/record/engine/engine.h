/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF side as user space sees it: programs attached, told what they need and read from.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/profile.h"
#include "record/engine/counters.h"
#include "record/engine/features.h"

struct record_engine;
struct record_saved_programs;
struct kprotperf_bpf;

struct record_engine_config {
	uint32_t n_functions; /* sites to come, functions and then ranges */
	bool ranges; /* there are any of these */
	uint32_t n_range_lists; /* addresses at which ranges have action lists */
	uint32_t n_blocks; /* probes that count blocks */
	uint32_t n_captured; /* functions whose values are captured, */
	bool saves; /* some of them timed by kprobe, whose arguments are saved at the entry */
	enum profile_mechanism faults; /* how page faults are timed */
	bool counts; /* calls of functions are counted for moments: record/cost/measure.h */
	bool closings; /* what programs take that end syscalls is read: on a real clock */
	uint32_t max_tasks; /* tasks followed at once; 0: the default for the mode */
	uint64_t sample_period; /* in ns; 0: no sampler */
	const struct record_event
		*counters; /* events counted with each call; read while creating */
	uint32_t n_counters; /* up to ENGINE_COUNTERS */
	bool system_wide;
	uint64_t cgroup; /* with system_wide: its tasks, and those of cgroups in it; 0: all */
	pid_t pid; /* 0: none */
	const struct btf *btf; /* the kernel's, for loading alone; NULL: libbpf reads it */
	const bool *left_out; /* contexts that runs do not measure; NULL: none */
	size_t probe_memory; /* kernel memory that probes will take, in bytes */
};

/* Rows that calls with their values take. */
size_t record_engine_captures(const struct record_engine_config *config);

/* Loads the programs, attaches none. Reports its errors. */
int record_engine_create(const struct record_engine_config *config,
			 const struct record_features *features, struct record_engine **out);
void record_engine_destroy(struct record_engine *e); /* detaches too; accepts NULL */

/* The variants of programs that a recording uses. */
struct record_programs {
	struct bpf_program *on_sys_enter, *on_sys_exit, *on_switch, *on_newtask;
	struct bpf_program *fault_fentry, *fault_fexit;
	struct bpf_program *fentry, *fexit, *fexit_capture; /* of functions */
};

/* The programs and maps, E's: what attaches probes links and tells them. */
struct kprotperf_bpf *record_engine_programs(const struct record_engine *e);
const struct record_programs *record_engine_variants(const struct record_engine *e);
struct record_saved_programs *record_engine_saved_programs(struct record_engine *e);

/*
 * Attaches what follows tasks and times syscalls. To be called before any site is attached; then
 * record_engine_arm() after the last, which adds page faults and the sampler. The kernel runs
 * the latest program on a function first, so this order nests a site on handle_mm_fault() within
 * the [page_fault] it belongs to. Both report their errors.
 */
int record_engine_start(struct record_engine *e);
int record_engine_arm(struct record_engine *e);

/* Arguments of handle_mm_fault(). */
#define RECORD_FAULT_ARGS 4

/* For calibration: sites that no function has. WHICH: 0 to RECORD_ENGINE_SPARES - 1. */
#define RECORD_ENGINE_SPARES 32
uint32_t record_engine_spare(const struct record_engine *e, uint32_t which);

/* And an action list, which no range has. */
#define RECORD_RANGE_SPARE_LISTS 1
uint32_t record_engine_spare_list(const struct record_engine *e);

/* For calibration: the calling process itself is followed, from now on or no longer. */
int record_engine_follow_caller(struct record_engine *e, bool follow);

/* Counts of a site in a context (kprotperf/engine.h); times are sums over calls. */
enum record_sum {
	RECORD_SUM_ONCPU,
	RECORD_SUM_EXCLUDED, /* off-CPU time included */
	RECORD_SUM_NET, /* on-CPU time less what was excluded */
	RECORD_SUM_CLOSING, /* time of the closings of cells */
	RECORD_SUM_COUNTED, /* of counter 0, in two's complement; + I: of counter I */
};

/* So far, for SITE in context CTX. */
uint64_t record_engine_sum(const struct record_engine *e, uint32_t site, uint32_t ctx,
			   enum record_sum of);
uint64_t record_engine_calls(const struct record_engine *e, uint32_t site, uint32_t ctx);

/* Set the events that MECH's probes count of themselves, by counter; 0 until then. */
struct engine_counter_costs;
void record_engine_set_counter_costs(struct record_engine *e, enum profile_mechanism mech,
				     const struct engine_counter_costs *costs);

/* Set the closings of cells that are read: one in INTERVAL, of at most MAX ticks. All until then. */
void record_engine_read_closings(struct record_engine *e, uint32_t interval, uint64_t max);

/* Set the costs of ranges' probes, by enum engine_range_kind; 0 until then. */
struct engine_range_cost;
void record_engine_set_range_costs(struct record_engine *e, const struct engine_range_cost *costs);

/* Set the work of block probe PROBE. The last one is for calibration. */
struct engine_block;
int record_engine_set_block(struct record_engine *e, uint32_t probe,
			    const struct engine_block *block);

/* Set the costs of probes, by mechanism: all PROFILE_N_COSTS; fentry's for sites attached from now on; 0 until then. */
void record_engine_set_costs(struct record_engine *e, const struct engine_cost *costs);
/* For calibration: the share of the time that interrupts take, watched for NS; 0: unknown. */
double record_engine_watch_interrupts(struct record_engine *e, uint64_t ns);
/*
 * For calibration: watches the sampler for up to MAX_NS or ENGINE_WATCHED samples. FULL becomes the
 * cost of each interrupt less that of the sampler's program, LATENCY the least time to that, LATE by how much it was more
 * at most. Returns the number of samples.
 */
uint32_t record_engine_watch_sampler(struct record_engine *e, uint64_t max_ns, uint64_t *latency,
				     uint64_t *late, uint64_t *full);
/* Return the cost of the probes of a function with N_ARGS arguments. */
uint64_t record_cost_inner(const struct engine_cost *cost, uint32_t n_args);
uint64_t record_cost_full(const struct engine_cost *cost, uint32_t n_args);

/* Note that SITE's function has N_ARGS arguments, each of which costs fentry. */
void record_engine_note_args(struct record_engine *e, uint32_t site, uint32_t n_args);
/* Return the costs that were set for MECH. */
const struct engine_cost *record_engine_cost(const struct record_engine *e,
					     enum profile_mechanism mech);
/* The inner cost in force for a site, in ticks per call; see record/cost/calibrate.h. */
uint64_t record_engine_inner_cost(const struct record_engine *e, uint32_t site,
				  enum profile_mechanism mech);
/* And what a call costs its callers. */
uint64_t record_engine_full_cost(const struct record_engine *e, uint32_t site,
				 enum profile_mechanism mech);

/* Follows the tasks of config.pid, which is one of the caller's pid namespace. Reports its errors. */
int record_engine_adopt(struct record_engine *e);

/* The calling process will be followed once it executes a command. -errno, not reported. */
int record_engine_adopt_caller(struct record_engine *e);

/* Detaches what record_engine_start() and _arm() attached; what was counted stays readable. */
void record_engine_stop(struct record_engine *e);

/* Set whether the next process that this one forks is its helper: all tasks but these two are measured. */
void record_engine_fork_helper(struct record_engine *e, bool forks);

/* The epoch (record/collect/code.h) of stacks that are taken from now on. */
void record_engine_set_code_epoch(struct record_engine *e, uint32_t epoch);

/* Tasks followed at this moment. */
uint32_t record_engine_live_tasks(const struct record_engine *e);

/* Return the mechanism that times page faults. */
enum profile_mechanism record_engine_fault_mechanism(const struct record_engine *e);
/* Page faults are not counted from here on: their probes are not hit. */
void record_engine_omit_faults(struct record_engine *e);

/* Bytes of kernel memory that maps take, and probes as in the configuration. */
size_t record_engine_memory(const struct record_engine *e);

struct record_engine_maps {
	const struct engine_cpu *cpus;
	const struct engine_task *tasks;
	const uint64_t *cell_of; /* an array map's values are eight bytes apart at least */
	const struct engine_cell *cells;
	const uint64_t *missed; /* by site: calls whose return was missed */
	const struct engine_stack *stacks; /* NULL without sampler */
	const uint64_t *losses; /* ENGINE_N_LOSSES */
	uint32_t n_cpus, n_tasks, n_sites, n_cells, n_shards, n_stacks;
	/* Hits of probes of blocks, by shard, probe and context. */
	const uint64_t *block_counts;
	const struct engine_counted_cell *counted; /* as CELLS, if there are counters */
	uint32_t n_counters;
	uint64_t counters_stopped; /* on all CPUs: see record_counters_stopped() */
	const struct engine_capture *captures; /* kprotperf/engine.h has their order */
	/* With those not in use. */
	uint32_t n_block_probes, n_block_shards, n_captured;
};

/* Live: numbers move while tasks are followed and there is no pause. Valid as long as E. */
void record_engine_maps(const struct record_engine *e, struct record_engine_maps *maps);

/* Return the times that the kernel has skipped the program FD because one was running on the CPU; 0 if it does not tell. */
uint64_t record_program_misses(int fd);
/* The sum for all programs of E. */
uint64_t record_engine_misses(const struct record_engine *e);

/* The four bytes at ADDR as they stand in memory; 0 if they cannot be read. */
uint32_t record_engine_text(const struct record_engine *e, uint64_t addr);

/* Samples that should have come since the last reset: a period each of the time on a CPU of the tasks followed. */
uint64_t record_engine_samples_expected(const struct record_engine *e);

/*
 * Stops counting, all CPUs at once: what is read from then on is of one moment, though tasks run on. Takes two
 * grace periods (some 50 ms), unless nobody is followed any more.
 */
void record_engine_pause(struct record_engine *e);

/* A run begins: contexts are left out. Or it is over: for calibration none is. */
void record_engine_run(struct record_engine *e, bool run);

/* Forgets what was counted, and the tasks, for the next run: ends a pause. */
void record_engine_reset(struct record_engine *e);

/*
 * CPUs that share their counters if memory does not allow one set for each: those that share caches, so that a counter's
 * line need not go from one package to another.
 */

#define SHARDS_CPUS "/sys/devices/system/cpu"

/*
 * The shard, of N_SHARDS, of each of N_CPUS CPUs in SHARDS: neighbours by package, last cache and core have one. CPUS is the
 * folder in which the kernel says where each CPU is, SHARDS_CPUS; those of which it says nothing are offline, and may have
 * any.
 */
void record_shards(const char *cpus, uint32_t n_cpus, uint32_t n_shards, uint32_t *shards);
