/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User space's interface to the BPF side: attach the programs, set their parameters, read their counts.
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
	uint32_t n_functions; /* number of timed sites: functions, then ranges */
	bool ranges; /* there are ranges or blocks */
	uint32_t n_range_lists; /* number of addresses with action lists of ranges */
	uint32_t n_blocks; /* number of probes that count blocks */
	uint32_t n_captured; /* number of functions whose values are captured */
	bool saves; /* kprobes time some of these functions: save arguments at the entry */
	enum profile_mechanism faults; /* mechanism that times page faults */
	bool counts; /* count calls of functions by record_count_begin() */
	bool closings; /* real clock: read the time that programs take to end syscalls */
	uint32_t max_tasks; /* maximum number of tasks followed at once; 0: default */
	uint64_t sample_period; /* ns; 0: no sampler */
	/* Events counted with each call, at most ENGINE_COUNTERS. Used only by record_engine_create(). */
	const struct record_event *counters;
	uint32_t n_counters;
	bool system_wide;
	uint64_t cgroup; /* system_wide follows only tasks in or below it; 0: all tasks */
	pid_t pid; /* follow the tasks of this process; 0: none */
	const struct btf *btf; /* the kernel's BTF, used only for loading; NULL: libbpf reads it */
	const bool *left_out; /* indexed by context: not measured in runs; NULL: none */
	size_t probe_memory; /* kernel memory that probes will take, in bytes */
};

/* Return the number of rows that captured values need. */
size_t record_engine_captures(const struct record_engine_config *config);

/* Load the programs, and attach none. Report errors. */
int record_engine_create(const struct record_engine_config *config,
			 const struct record_features *features, struct record_engine **out);
void record_engine_destroy(struct record_engine *e); /* detaches too; accepts NULL */

/* The variant of each program that this recording uses. */
struct record_programs {
	struct bpf_program *on_sys_enter, *on_sys_exit, *on_switch, *on_newtask;
	struct bpf_program *fault_fentry, *fault_fexit;
	struct bpf_program *fentry, *fexit, *fexit_capture; /* programs for functions */
};

/* Return the programs and maps of E, for attaching probes. */
struct kprotperf_bpf *record_engine_programs(const struct record_engine *e);
const struct record_programs *record_engine_variants(const struct record_engine *e);
struct record_saved_programs *record_engine_saved_programs(struct record_engine *e);

/*
 * Attach the programs that follow tasks and time syscalls. Call record_engine_start() before any site is attached, and
 * record_engine_arm(), which adds page faults and the sampler, after the last. The kernel runs the latest program on a function
 * first, so this order nests a site on handle_mm_fault() within its [page_fault]. Both report errors.
 */
int record_engine_start(struct record_engine *e);
int record_engine_arm(struct record_engine *e);

/* Arguments of handle_mm_fault(). */
#define RECORD_FAULT_ARGS 4

/* Return the number of spare site WHICH, below RECORD_ENGINE_SPARES. Calibration uses these sites. */
#define RECORD_ENGINE_SPARES 32
uint32_t record_engine_spare(const struct record_engine *e, uint32_t which);

/* Return the index of the spare action list, which calibration uses. */
#define RECORD_RANGE_SPARE_LISTS 1
uint32_t record_engine_spare_list(const struct record_engine *e);

/* Begin or cease to follow the calling process, for calibration. */
int record_engine_follow_caller(struct record_engine *e, bool follow);

/* Sums over the calls of a site in a context (kprotperf/engine.h). */
enum record_sum {
	RECORD_SUM_ONCPU,
	RECORD_SUM_EXCLUDED, /* off-CPU time included */
	RECORD_SUM_NET, /* on-CPU time less what was excluded */
	RECORD_SUM_CLOSING, /* time that programs took to end calls */
	RECORD_SUM_COUNTED, /* + I: events of counter I, in two's complement */
};

/* Return the sum, or the number of calls, so far for SITE in context CTX. */
uint64_t record_engine_sum(const struct record_engine *e, uint32_t site, uint32_t ctx,
			   enum record_sum of);
uint64_t record_engine_calls(const struct record_engine *e, uint32_t site, uint32_t ctx);

/* Set the events that MECH's own probes cause, indexed by counter; initially 0. */
struct engine_counter_costs;
void record_engine_set_counter_costs(struct record_engine *e, enum profile_mechanism mech,
				     const struct engine_counter_costs *costs);

/* Read the time to end a call for one call in INTERVAL, and ignore times above MAX ticks. */
void record_engine_read_closings(struct record_engine *e, uint32_t interval, uint64_t max);

/* Set the costs of ranges' probes, indexed by enum engine_range_kind; initially 0. */
struct engine_range_cost;
void record_engine_set_range_costs(struct record_engine *e, const struct engine_range_cost *costs);

/* Set the parameters of block probe PROBE. The last one is for calibration. */
struct engine_block;
int record_engine_set_block(struct record_engine *e, uint32_t probe,
			    const struct engine_block *block);

/* Set all PROFILE_N_COSTS costs, indexed by mechanism; initially 0. Those of fentry hold for sites attached from now on. */
void record_engine_set_costs(struct record_engine *e, const struct engine_cost *costs);
/* Watch interrupts for NS, for calibration. Return the share of the time that they take; 0: unknown. */
double record_engine_watch_interrupts(struct record_engine *e, uint64_t ns);
/*
 * Watch the sampler for up to MAX_NS or ENGINE_WATCHED samples, for calibration. Set FULL to the cost of each interrupt
 * without the sampler's program, LATENCY to the least time from an interrupt to that program, and LATE to the longest delay of
 * a sample against the earliest. Return the number of samples.
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
/* Return SITE's current inner cost, in ticks per call: the probes' cost in its own time (record/cost/calibrate.h). */
uint64_t record_engine_inner_cost(const struct record_engine *e, uint32_t site,
				  enum profile_mechanism mech);
/* Return SITE's current full cost, in ticks per call: the probes' cost in its callers' time. */
uint64_t record_engine_full_cost(const struct record_engine *e, uint32_t site,
				 enum profile_mechanism mech);

/* Follow the tasks of config.pid, a process number in the caller's pid namespace. Report errors. */
int record_engine_adopt(struct record_engine *e);

/* Follow the calling process from its next syscall on, the execve() of the command. 0 or -errno, not reported. */
int record_engine_adopt_caller(struct record_engine *e);

/* Detach what record_engine_start() and record_engine_arm() attached. The counts stay readable. */
void record_engine_stop(struct record_engine *e);

/* Set whether the next process that this one forks is its helper. All tasks but this process and its helper are measured. */
void record_engine_fork_helper(struct record_engine *e, bool forks);

/* Set the epoch (record/collect/code.h) of stacks taken from now on. */
void record_engine_set_code_epoch(struct record_engine *e, uint32_t epoch);

/* Return the number of tasks that are followed now. */
uint32_t record_engine_live_tasks(const struct record_engine *e);

/* Return the mechanism that times page faults. */
enum profile_mechanism record_engine_fault_mechanism(const struct record_engine *e);
/* Note that page faults are not timed, as their probes are not hit. */
void record_engine_omit_faults(struct record_engine *e);

/* Return the bytes of kernel memory that maps take, plus probe_memory of the configuration. */
size_t record_engine_memory(const struct record_engine *e);

struct record_engine_maps {
	const struct engine_cpu *cpus;
	const struct engine_task *tasks;
	const uint64_t *cell_of; /* indexed by key; array maps have 8 bytes per value at least */
	const struct engine_cell *cells;
	const uint64_t *missed; /* indexed by site: calls whose return was missed */
	const struct engine_stack *stacks; /* NULL without sampler */
	const uint64_t *losses; /* indexed by enum engine_loss */
	uint32_t n_cpus, n_tasks, n_sites, n_cells, n_shards, n_stacks;
	/* Hits of block probes, indexed by shard, probe and context. */
	const uint64_t *block_counts;
	const struct engine_counted_cell *counted; /* same index as CELLS; only with counters */
	uint32_t n_counters;
	uint64_t counters_stopped; /* see record_counters_stopped() */
	const struct engine_capture *captures; /* kprotperf/engine.h has their order */
	/* Sizes of the maps, unused entries included. */
	uint32_t n_block_probes, n_block_shards, n_captured;
};

/* Get the maps of E, valid as long as E. Their numbers change while tasks are followed, except during a pause. */
void record_engine_maps(const struct record_engine *e, struct record_engine_maps *maps);

/* Return how often the kernel skipped the program FD because one was running on the CPU; 0 if it does not tell. */
uint64_t record_program_misses(int fd);
/* Return the sum of record_program_misses() for all programs of E. */
uint64_t record_engine_misses(const struct record_engine *e);

/* Return the four bytes of memory at ADDR; 0 if they cannot be read. */
uint32_t record_engine_text(const struct record_engine *e, uint64_t addr);

/* Return the samples to expect since the last reset: one for each period of the followed tasks' CPU time. */
uint64_t record_engine_samples_expected(const struct record_engine *e);

/*
 * Stop counting on all CPUs at once: reads after this show one moment, even if tasks still run. This takes two grace
 * periods (some 50 ms), or three if contexts are left out, unless there is no task to stop.
 */
void record_engine_pause(struct record_engine *e);

/* Begin or end a run. Contexts are left out only in a run, not in calibration. */
void record_engine_run(struct record_engine *e, bool run);

/* Reset all counts and forget all tasks, for the next run. This ends a pause. */
void record_engine_reset(struct record_engine *e);

/*
 * Shards: if memory does not allow a set of counters per CPU, CPUs that share caches share one, so that its cache lines do not
 * move between packages.
 */

#define SHARDS_CPUS "/sys/devices/system/cpu"

/*
 * Set SHARDS[cpu] to one of N_SHARDS shards for each of N_CPUS CPUs, the same for neighbours by package, last cache and core.
 * CPUS is the folder with the topology of each CPU, SHARDS_CPUS. CPUs without an entry are offline and get any shard.
 */
void record_shards(const char *cpus, uint32_t n_cpus, uint32_t n_shards, uint32_t *shards);
