/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF side as user space sees it: programs attached, told what they need and read from.
 */
#ifndef KPROTPERF_RECORD_ENGINE_H
#define KPROTPERF_RECORD_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/profile.h"
#include "record/features.h"

struct record_engine;
struct record_target; /* record/function.h */

struct record_engine_config {
	uint32_t n_functions; /* sites to come, functions and then ranges */
	bool ranges; /* there are any of these */
	uint32_t n_range_lists; /* addresses at which ranges have several things to do */
	uint32_t n_blocks; /* probes that count blocks */
	uint32_t max_tasks; /* tasks followed at once; 0: the default for the mode */
	uint64_t sample_period; /* in ns; 0: no sampler */
	bool system_wide;
	pid_t pid; /* 0: none */
};

/* Loads the programs, attaches none. Reports its errors. */
int record_engine_create(const struct record_engine_config *config,
			 const struct record_features *features, struct record_engine **out);
void record_engine_destroy(struct record_engine *e); /* detaches too; accepts NULL */

/*
 * Attaches function site SITE (1 to n_functions) by MECH (FENTRY, KPROBE and its ways, or MULTI). -errno, not reported.
 */
int record_engine_attach(struct record_engine *e, uint32_t site, enum profile_mechanism mech,
			 const struct record_target *target);
/* A kprobe pair in two steps: see record_functions_attach_entry(). */
int record_engine_attach_entry(struct record_engine *e, uint32_t site,
			       const struct record_target *target);
int record_engine_attach_return(struct record_engine *e, uint32_t site, enum profile_mechanism mech,
				const struct record_target *target);

/* The same by MULTI for many at once: see record_functions_attach_multi(). */
struct record_multi_site;
void record_engine_attach_multi(struct record_engine *e, struct record_multi_site *items,
				uint32_t n);

/*
 * Attaches what follows tasks and times syscalls. To be called before any site is attached; then
 * record_engine_arm() after the last, which adds page faults and the sampler. Of programs on one
 * function the kernel runs the latest first, so this order nests a site on handle_mm_fault() within
 * the [page_fault] it belongs to. Both report their errors.
 */
int record_engine_start(struct record_engine *e);
int record_engine_arm(struct record_engine *e);

/* For calibration: sites that no function has. WHICH: 0 to RECORD_ENGINE_SPARES - 1. */
#define RECORD_ENGINE_SPARES 31
uint32_t record_engine_spare(const struct record_engine *e, uint32_t which);

/* And a list of things to do for ranges, which no range has. */
#define RECORD_RANGE_SPARE_LISTS 1
uint32_t record_engine_spare_list(const struct record_engine *e);

/* Attaches such a site; undone by the last, in the background (record/closer.h). */
int record_engine_prepare_spare(struct record_engine *e, uint32_t which,
				const struct record_target *target);
int record_engine_attach_spare(struct record_engine *e, uint32_t which, enum profile_mechanism mech,
			       const struct record_target *target);
void record_engine_detach_last(struct record_engine *e, enum profile_mechanism mech);
/* Of SITE, or of all by kprobe.multi, only return probes stay; the latter can be undone. */
void record_engine_halve(struct record_engine *e, uint32_t site);
void record_engine_halve_multi(struct record_engine *e);
int record_engine_restore_multi(struct record_engine *e);
int record_engine_show_multi(struct record_engine *e, const struct record_multi_site *item,
			     bool show);

/* For calibration: the calling process itself is followed, from now on or no longer. */
int record_engine_follow_caller(struct record_engine *e, bool follow);

/* On-CPU time, and calls, counted so far for SITE in context CTX (kprotperf/engine.h). */
uint64_t record_engine_oncpu(const struct record_engine *e, uint32_t site, uint32_t ctx);
uint64_t record_engine_calls(const struct record_engine *e, uint32_t site, uint32_t ctx);

/* The part of a site's time that was set aside, off-CPU time included. */
uint64_t record_engine_aside(const struct record_engine *e, uint32_t site, uint32_t ctx);

/* Ranges: see record/point.h. */
struct record_points;
struct record_points *record_engine_points(struct record_engine *e);
/* What their probes cost, by enum engine_range_kind; zero until set. */
struct engine_range_cost;
void record_engine_set_range_costs(struct record_engine *e, const struct engine_range_cost *costs);

/*
 * Probes that count blocks, by number: what each is to do, and how often it was hit in context CTX. One
 * more, behind the others, is for calibration.
 */
struct engine_block;
int record_engine_set_block(struct record_engine *e, uint32_t probe,
			    const struct engine_block *block);
/* What it takes more to close a call of a function with such probes than that itself measures; 0 until set. */
void record_engine_set_path_rest(struct record_engine *e, uint64_t ticks);
/* The paths that calls went, N places, those not taken among them. */
struct engine_path;
const struct engine_path *record_engine_paths(const struct record_engine *e, uint32_t *n);
/* The same of the histograms of their loops' turns. */
struct engine_turns;
const struct engine_turns *record_engine_turns(const struct record_engine *e, uint32_t *n);
uint64_t record_engine_block_count(const struct record_engine *e, uint32_t probe, uint32_t ctx);

/* What probes cost, by mechanism; zero until set. */
struct record_cost;
void record_engine_set_costs(struct record_engine *e, const struct record_cost *costs);
/* For calibration: the share of the time that interrupts take, watched for NS; 0: unknown. */
double record_engine_watch_interrupts(struct record_engine *e, uint64_t ns);
/* What that returned. */
double record_engine_interrupts(const struct record_engine *e);
/*
 * For calibration: watches the sampler for up to MAX_NS or ENGINE_WATCHED samples. FULL becomes the
 * cost of each interrupt less that of the sampler's program, LATENCY the time to that. How many.
 */
uint32_t record_engine_watch_sampler(struct record_engine *e, uint64_t max_ns, uint64_t *latency,
				     uint64_t *full);
/* What a sample costs; both zero until set. */
void record_engine_set_sample_cost(struct record_engine *e, uint64_t latency, uint64_t full);
/* The inner cost in force for a site, in ticks a call; see record/calibrate.h. */
uint64_t record_engine_inner_cost(const struct record_engine *e, uint32_t site,
				  enum profile_mechanism mech);
/* And what a call costs its callers. */
uint64_t record_engine_full_cost(const struct record_engine *e, uint32_t site,
				 enum profile_mechanism mech);

/* Follows tasks that exist: all, or those of config.pid. Reports its errors. */
int record_engine_adopt(struct record_engine *e);

/* The calling process will be followed once it executes a command. -errno, not reported. */
int record_engine_adopt_caller(struct record_engine *e);

/* Detaches all programs; what they counted stays readable. */
void record_engine_stop(struct record_engine *e);

/* Tasks followed at this moment. */
uint32_t record_engine_live_tasks(const struct record_engine *e);

/* How page faults are timed: FENTRY, KPROBE, or NONE where they cannot be. */
enum profile_mechanism record_engine_fault_mechanism(const struct record_engine *e);

/* Bytes of kernel memory in maps. */
size_t record_engine_memory(const struct record_engine *e);

struct record_engine_maps {
	const struct engine_cpu *cpus;
	const struct engine_task *tasks;
	const uint64_t *cell_of; /* an array map's values are eight bytes apart at least */
	const struct engine_cell *cells;
	const uint64_t *missed; /* by site: calls whose return was missed */
	/* and how many of these before its probes were taken away; NULL: none were, of any */
	const uint64_t *missed_before;
	const struct engine_stack *stacks; /* NULL without sampler */
	const uint64_t *losses; /* ENGINE_N_LOSSES */
	uint32_t n_cpus, n_tasks, n_sites, n_cells, n_cells_used, n_shards, n_stacks;
};

/* Live: numbers move while tasks are followed. Valid as long as E. */
void record_engine_maps(const struct record_engine *e, struct record_engine_maps *maps);

/* Time on a CPU, ever, of the tasks followed, idle ones left out. */
uint64_t record_engine_followed_oncpu(const struct record_engine *e);

/* See record_functions_detach_sites(); MOVED are the sites that get new probes for that. */
int record_engine_detach_sites(struct record_engine *e, const uint32_t *sites, uint32_t n,
			       const uint32_t *moved, uint32_t n_moved);

/* Programs the kernel skipped since the last reset because one was running on the CPU already. */
uint64_t record_engine_recursion_misses(const struct record_engine *e);

/* Hits of kprobes and kprobe.multi that the kernel missed since the last reset, or PROFILE_NOT_COUNTED. */
uint64_t record_engine_probe_misses(const struct record_engine *e);

/* Samples that the periods elapsed since the last reset should have brought, over all CPUs. */
uint64_t record_engine_samples_expected(const struct record_engine *e);

/* Forgets what was counted, for the next run. */
void record_engine_reset(struct record_engine *e);

#endif
