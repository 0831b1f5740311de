/* SPDX-License-Identifier: GPL-2.0-or-later */
/* User space's interface to the BPF programs: attach the programs, set their parameters, read their counts. */
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
	uint32_t n_functions; /* number of timed functions, inlined functions included */
	bool ranges; /* inlined functions are timed, or blocks are counted */
	uint32_t n_range_lists; /* number of action lists, for addresses with several actions */
	uint32_t n_blocks; /* number of block probes, which count executions of basic blocks */
	uint32_t n_captured; /* number of functions with captured values */
	bool saves; /* kprobes save arguments at the entry, for values to capture */
	enum profile_mechanism faults; /* mechanism that times page faults */
	bool counts; /* record_count_begin() will count calls of functions */
	bool closings; /* real clock: measure the closing time of syscalls (engine_cell) */
	uint32_t max_tasks; /* maximum number of tasks followed at once; 0: default */
	uint64_t sample_period; /* ns; 0: no sampler */
	/* Events that are counted in each call, at most ENGINE_COUNTERS. Only record_engine_create() uses this array. */
	const struct record_event *counters;
	uint32_t n_counters;
	bool system_wide;
	uint64_t cgroup; /* with system_wide: follow only tasks in this cgroup; 0: all tasks */
	pid_t pid; /* follow the tasks of this process; 0: none */
	const struct btf *btf; /* the kernel's BTF, used only for loading; NULL: libbpf reads it */
	const bool *left_out; /* by context; true: not measured in runs; NULL: all are measured */
	size_t probe_memory; /* kernel memory that probes will take, in bytes */
};

/* Load the BPF programs without attaching them. Report errors. */
int record_engine_create(const struct record_engine_config *config,
			 const struct record_features *features, struct record_engine **out);
void record_engine_destroy(struct record_engine *e); /* detaches programs, too; accepts NULL */

/* The variant of each BPF program that this recording uses. */
struct record_programs {
	struct bpf_program *on_sys_enter, *on_sys_exit, *on_switch, *on_newtask;
	struct bpf_program *fault_fentry, *fault_fexit;
	struct bpf_program *fentry, *fexit, *fexit_capture; /* programs that time functions */
};

/* Return the programs and maps of E, for attaching probes. */
struct kprotperf_bpf *record_engine_programs(const struct record_engine *e);
const struct record_programs *record_engine_variants(const struct record_engine *e);
struct record_saved_programs *record_engine_saved_programs(struct record_engine *e);

/*
 * record_engine_start() attaches the programs that follow tasks and time syscalls: call it before attaching probes to functions.
 * record_engine_arm() adds page faults and the sampler: call it after attaching the last probe. The kernel runs the latest
 * program on a function first, so a probe on handle_mm_fault() nests within its [page_fault]. Both functions report errors.
 */
int record_engine_start(struct record_engine *e);
int record_engine_arm(struct record_engine *e);

/* Number of arguments of handle_mm_fault(). */
#define RECORD_FAULT_ARGS 4

/* Return the engine's number of calibration's test function WHICH. The argument is below RECORD_ENGINE_SPARES. */
#define RECORD_ENGINE_SPARES 32
uint32_t record_engine_spare(const struct record_engine *e, uint32_t which);

/* Return the index of the action list that is reserved for calibration. */
#define RECORD_RANGE_SPARE_LISTS 1
uint32_t record_engine_spare_list(const struct record_engine *e);

/* Start (FOLLOW) or stop (!FOLLOW) measuring the calling process. Calibration measures its own process in this way. */
int record_engine_follow_caller(struct record_engine *e, bool follow);

/* Sums over all calls of a function in a context such as a syscall (struct engine_cell). */
enum record_sum {
	RECORD_SUM_CALLS, /* number of calls */
	RECORD_SUM_ONCPU,
	RECORD_SUM_EXCLUDED, /* time in which the task was switched out or in other probes */
	RECORD_SUM_CLOSING, /* time that BPF programs took after the last clock reading of calls */
	RECORD_SUM_COUNTED, /* plus I: number of events of counter I, in two's complement */
};

/* Return the sum OF over all calls of the function SITE in the context CTX so far. */
uint64_t record_engine_sum(const struct record_engine *e, uint32_t site, uint32_t ctx,
			   enum record_sum of);

/* Set how many events the probes of MECH themselves cause in a call, indexed by counter. All are 0 at first. */
struct engine_counter_costs;
void record_engine_set_counter_costs(struct record_engine *e, enum profile_mechanism mech,
				     const struct engine_counter_costs *costs);

/* Measure the closing time of one syscall in INTERVAL: the time that programs take at the end. Ignore times above MAX ticks. */
void record_engine_read_closings(struct record_engine *e, uint32_t interval, uint64_t max);

/* Set the costs of probes of inlined functions, indexed by enum engine_range_kind; initially 0. */
struct engine_range_cost;
void record_engine_set_range_costs(struct record_engine *e, const struct engine_range_cost *costs);

/* Set the parameters of the block probe with the number PROBE. The last number is reserved for calibration. */
struct engine_block;
int record_engine_set_block(struct record_engine *e, uint32_t probe,
			    const struct engine_block *block);

/* Set all PROFILE_N_COSTS costs, indexed by mechanism, at first 0. New costs of fentry apply only to functions attached later. */
void record_engine_set_costs(struct record_engine *e, const struct engine_cost *costs);
/* Watch interrupts for NS ns, for calibration. Return the share of the time that interrupts take; 0: unknown. */
double record_engine_watch_interrupts(struct record_engine *e, uint64_t ns);
/*
 * Watch the sampler for up to MAX_NS ns or ENGINE_WATCHED samples, for calibration. Set all results in ns: FULL[i] to the cost of
 * sample I's interrupt without the sampler's program, LATENCY to the shortest time from an interrupt to that program, and LATE to
 * the longest delay of a sample. Return the number of samples.
 */
uint32_t record_engine_watch_sampler(struct record_engine *e, uint64_t max_ns, uint64_t *latency,
				     uint64_t *late, uint64_t *full);
/* Return INNER or FULL of COST, in ticks per call, for a function with N_ARGS arguments: fentry copies each argument. */
uint64_t record_cost_inner(const struct engine_cost *cost, uint32_t n_args);
uint64_t record_cost_full(const struct engine_cost *cost, uint32_t n_args);

/* Return the cost of MECH that the BPF programs subtract. */
const struct engine_cost *record_engine_cost(const struct record_engine *e,
					     enum profile_mechanism mech);

/* Follow the tasks of the process with the number config.pid in the caller's pid namespace. Report errors. */
int record_engine_adopt(struct record_engine *e);

/* Follow the calling process from its next syscall on, which is execve() of the command. Return 0 or -errno, not reported. */
int record_engine_adopt_caller(struct record_engine *e);

/* Detach what record_engine_start() and record_engine_arm() attached. The counts stay readable. */
void record_engine_stop(struct record_engine *e);

/* Tell the BPF programs whether the recorder's next fork makes a helper process. With -a, helpers are not measured. */
void record_engine_fork_helper(struct record_engine *e, bool forks);

/* Set the number of the epoch (record/collect/code.h) that samples get from now on. */
void record_engine_set_code_epoch(struct record_engine *e, uint32_t epoch);

uint32_t record_engine_live_tasks(const struct record_engine *e);

enum profile_mechanism record_engine_fault_mechanism(const struct record_engine *e);
/* Note that page faults are not timed, because the kernel does not run their probes. */
void record_engine_omit_faults(struct record_engine *e);

/* Return the bytes of kernel memory that maps take, plus probe_memory of the configuration. */
size_t record_engine_memory(const struct record_engine *e);

struct record_engine_maps {
	const struct engine_cpu *cpus;
	const struct engine_task *tasks;
	const uint64_t *cell_of; /* index in CELLS, indexed by ENGINE_KEY(); 0: no cell yet */
	const struct engine_cell *cells;
	const uint64_t *missed; /* number of missed returns, indexed by function */
	const struct engine_stack *stacks; /* NULL without sampler */
	const uint64_t *losses; /* indexed by enum engine_loss */
	uint32_t n_cpus, n_tasks, n_sites, n_cells, n_shards, n_stacks;
	/* Hits of block probes, indexed by shard, probe and context. */
	const uint64_t *block_counts;
	const struct engine_counted_cell *counted; /* indexed like CELLS; for counted events */
	uint32_t n_counters;
	uint64_t counters_stopped; /* return value of record_counters_stopped() */
	const struct engine_capture *captures; /* order: see kprotperf/engine.h */
	/* Numbers of entries of the maps, including unused entries. */
	uint32_t n_block_probes, n_block_shards, n_captured;
};

/* Get pointers to the maps of E, valid as long as E. Unless counting is paused, the counts there change. */
void record_engine_maps(const struct record_engine *e, struct record_engine_maps *maps);

/* Return how often the kernel skipped the program FD, since a program was already running on that CPU; 0 if unknown. */
uint64_t record_program_misses(int fd);
/* Return the sum of record_program_misses() over all programs of E. */
uint64_t record_engine_misses(const struct record_engine *e);

/* Return the four bytes of memory at ADDR; 0 if they cannot be read. */
uint32_t record_engine_text(const struct record_engine *e, uint64_t addr);

/* Return the number of samples to expect since the last reset: the CPU time of the followed tasks divided by the period. */
uint64_t record_engine_samples_expected(const struct record_engine *e);

/*
 * Stop counting on all CPUs, so that all later reads show the counts of the same moment, even if tasks still run. This takes two
 * RCU grace periods (some 50 ms), three if contexts are left out, and no time if no task is followed.
 */
void record_engine_pause(struct record_engine *e);

/* Begin (RUN) or end a run. Syscalls that the user left out are not measured in a run, but are measured in calibration. */
void record_engine_run(struct record_engine *e, bool run);

/* Reset all counts and forget all tasks, for the next run. This ends a pause. */
void record_engine_reset(struct record_engine *e);

/*
 * If memory does not suffice for a set of counts per CPU, several CPUs, with shared caches, use the same set, called a shard.
 * Cache lines of a shard then do not move between CPU packages.
 */

#define SHARDS_CPUS "/sys/devices/system/cpu"

/*
 * Set SHARDS[CPU] to a shard's number, below N_SHARDS, for each of N_CPUS CPUs. CPUs of the same package, last cache and core get
 * the same number if possible. CPUS is the sysfs folder of CPUs, SHARDS_CPUS. The folder does not tell the topology of offline
 * CPUs, which get any shard.
 */
void record_shards(const char *cpus, uint32_t n_cpus, uint32_t n_shards, uint32_t *shards);
