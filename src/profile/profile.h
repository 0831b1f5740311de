/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in memory: the seam between recording and everything that reads a recording.
 *
 * A profile owns all it points to. Strings handed in are interned (copied once, compared by
 * pointer afterwards through profile_intern()). Indices into its arrays stay valid while it grows;
 * pointers into the arrays do not.
 *
 * Addresses of the kernel's image are kept relative to _stext, so that files of several boots
 * compare and give the randomized base away to nobody.
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "kprotperf/cost.h"
#include "kprotperf/event.h"
#include "profile/clock.h"
#include "profile/env.h"
#include "profile/names.h"
#include "profile/stats.h"

/*
 * Bytes that a name may have at most, whatever it names: a symbol, a file, a context. No real one
 * comes near; in a file it would cost each table that shows it as much a row.
 */
#define PROFILE_NAME_MAX 4096

enum profile_site_kind {
	PROFILE_SITE_CONTEXT, /* the contexts themselves: one site, index 0, in every profile */
	PROFILE_SITE_FUNCTION,
	PROFILE_SITE_RANGE, /* an inlined body */
};

/*
 * One thing whose calls are timed; see profile_site_is_in(). A range is one inlined body: NAME is
 * the inlined function's, SYMBOL that of the function around it, ADDR where the body's own code is
 * entered (DW_AT_entry_pc), FILE and LINE the place that it is called from.
 */
struct profile_site {
	const char *name; /* name as reported: without .isra, .constprop, .part */
	const char *symbol; /* name in kallsyms: "name", or "name [module]"; of a range: INTO's */
	/* Ranges only, else NULL. */
	const char *into; /* the function that the body is part of, as reported */
	/*
	 * The inlined bodies between NAME and INTO, innermost first, with PROFILE_CHAIN between
	 * them: "new_slab" for shuffle_freelist < new_slab < allocate_slab. NULL where there is none.
	 */
	const char *chain;
	/* The reason that it could not be timed, so that there is an estimate at most; NULL: it was timed. */
	const char *estimated;
	enum profile_site_kind kind;
	enum profile_mechanism mech;
	uint64_t addr; /* relative to _stext, or to the module's first function */
	uint64_t missed; /* calls, in all runs, not timed because their return was missed */
	const char *file; /* relative to the kernel's tree; NULL where unknown */
	uint32_t line; /* 0 where unknown */
};

/* The work of a task: a syscall ("clone", "compat:clone") or a pseudo-context. */
struct profile_context {
	const char *name;
};

#define PROFILE_CHAIN " < "

enum profile_context_kind {
	PROFILE_CONTEXT_SYSCALL,
	PROFILE_CONTEXT_PAGE_FAULT,
	PROFILE_CONTEXT_IRQ,
	PROFILE_CONTEXT_NONE,
};

/* "[page_fault]"; NULL of syscalls, which have many names. */
const char *profile_context_name(enum profile_context_kind kind);

/* Work that a context queued, in exact recordings, has one that is named after it: "close [rcu]". */
enum profile_queued {
	PROFILE_QUEUED_RCU,
	PROFILE_QUEUED_WORK,
	PROFILE_QUEUED_TASK_WORK,
	PROFILE_QUEUED_SOFTIRQ,
	PROFILE_N_QUEUED
};

const char *profile_queued_name(enum profile_queued kind); /* "[rcu]" */
/* Return the kind of a queued CONTEXT, "RCU callbacks queued by": a name of *BY bytes. NULL: not queued. */
const char *profile_context_queued(const char *context, size_t *by);

/* One aggregate; there is at most one cell for each (run, site, context). */
struct profile_cell {
	uint32_t run, site, context;
	struct profile_stats stats;
};

/* A basic block of a function whose blocks were counted: code that is executed from its first instruction to its last. */
struct profile_block {
	uint64_t addr; /* relative to _stext */
	uint32_t bytes, insns;
	uint32_t location; /* location of ADDR, with its line and the inlined bodies around it */
	bool reached; /* else padding, or what only a fault leads to */
	const char *callee; /* the first function that it calls by name; NULL: none */
};

enum profile_trace_kind {
	PROFILE_TRACE_CALL, /* a call of the function at LOCATION */
	PROFILE_TRACE_LINE, /* instructions of one source line, executed in a row */
	PROFILE_TRACE_LOOP, /* the calls below it happened TIMES times */
	PROFILE_TRACE_LOST, /* the last entry: TIMES blocks or lines had no room */
	PROFILE_TRACE_N_KINDS,
};

/* One line of a call that was kept whole, in order of execution. The deeper lines after it are its body. */
struct profile_trace {
	uint32_t run;
	enum profile_trace_kind kind;
	uint32_t depth; /* 0: the call that was kept */
	uint32_t location;
	uint64_t times;
	uint64_t insns; /* instructions of one execution, including the body's */
};

enum profile_variable_kind {
	PROFILE_VARIABLE_ARGUMENT,
	PROFILE_VARIABLE_MEMBER, /* member of what an argument points to */
	PROFILE_VARIABLE_GLOBAL,
	PROFILE_VARIABLE_RETURN,
	PROFILE_VARIABLE_SYSCALL_ARGUMENT,
	PROFILE_VARIABLE_TASK, /* a fact about the task: its uid, its CPU */
	PROFILE_VARIABLE_NAME, /* text: its values are those of struct profile_name */
	PROFILE_VARIABLE_CONTEXT, /* name of the context of a call; never written to a file */
	PROFILE_VARIABLE_N_KINDS
};

/* "syscall_argument", as in JSON. */
const char *profile_variable_kind_name(enum profile_variable_kind kind);

/* A variable captured in each call of SITE; its name is unique within the site. */
struct profile_variable {
	uint32_t site;
	const char *name; /* name in the source: "n", "s->object_size", "crng_init"; or "return" */
	enum profile_variable_kind kind;
	uint8_t bytes; /* a name's value has 8 */
	bool is_signed;
	bool is_flags; /* bits, not a number */
};

/* Return whether its values are those of profile_name_value(). */
static inline bool profile_variable_is_name(const struct profile_variable *v)
{
	return v->kind == PROFILE_VARIABLE_NAME || v->kind == PROFILE_VARIABLE_CONTEXT;
}

/* Return whether its values have an order and distances. */
static inline bool profile_variable_is_number(const struct profile_variable *v)
{
	return !v->is_flags && !profile_variable_is_name(v);
}

/* A name that was captured, of at most 15 bytes. */
struct profile_name {
	uint64_t value; /* a hash of TEXT, the same in all profiles */
	const char *text;
};

#define PROFILE_VALUES_MAX 16 /* variables of one site */

/*
 * Calls with equal values. PROFILE_LOSS_CAPTURES_FULL counts calls that had no room in the table. A sample of these is kept for each
 * site, as SAMPLED entries: they stand for all calls of the site in that run that are in no other entry.
 */
struct profile_capture {
	uint32_t run, site, context;
	bool sampled;
	uint32_t absent; /* bit I: values[I] was not captured, and is 0 */
	uint64_t calls;
	int64_t time; /* sum of net times: on-CPU, less probe cost */
	double sumsq; /* sum of squares of the calls' net times */
	uint64_t min, max;
	uint64_t values[PROFILE_VALUES_MAX]; /* of the site's variables in order, sign-extended */
};

/* A possible step from one block to another, or to one of these: */
struct profile_arc {
	uint32_t from, to;
};

#define PROFILE_ARC_OUT UINT32_MAX /* out of the function */
#define PROFILE_ARC_ANY (UINT32_MAX - 1) /* an unresolved jump: to any block, or out */

/* A function whose blocks were counted, all parts of it. */
struct profile_blocks {
	uint32_t site;
	uint32_t entry; /* a block */
	vec_of(struct profile_block, items); /* sorted by address */
	vec_of(struct profile_arc, arcs);
};

/* An event of the CPU or the kernel that was counted with each call, as perf calls it: "cache-misses". */
struct profile_counter {
	const char *name;
};

/* Events that probes of a mechanism count of themselves per call, by calibration; spreads as in struct profile_cost. */
struct profile_counter_cost {
	uint32_t counter;
	uint32_t mech; /* enum profile_mechanism, below PROFILE_N_MECHANISMS */
	double inner, inner_spread; /* as INNER of struct engine_cost */
	double full, full_spread;
};

/* Events of calls of SITE, less those of their probes; below zero if too many are subtracted. */
struct profile_counted {
	uint32_t run, site, context;
	uint32_t counter;
	uint64_t calls; /* calls whose events were counted */
	int64_t total, self; /* SELF: without timed callees */
};

/* The loop whose head is at LOCATION iterates again as long as TEXT, in the source's words, holds. */
struct profile_condition {
	uint32_t location;
	const char *text;
};

/*
 * The executions of each block of a function in one run and context; there is at most one entry for each. If a
 * call was under way when counting began or ended, blocks and calls do not belong together. RESIDUAL may show it: the
 * largest contradiction between the counts.
 */
struct profile_block_counts {
	uint32_t run, blocks, context; /* BLOCKS: index in profile.blocks */
	uint64_t calls; /* number of timed calls */
	uint64_t residual;
	vec_of(uint64_t, counts); /* indexed by block; NOT_COUNTED: unknown */
};

/*
 * One figure that a workload gave of itself, through KPROTPERF_REPORT_FD. Times are in its own
 * CLOCK_MONOTONIC ns, which are instructions where the profile's clock is.
 */
struct profile_report {
	const char *name;
	uint64_t iterations;
	double mean, p50, min; /* NAN where not given */
};

/*
 * Things that may go missing, each with a name for JSON and a sentence for people. LOSS kinds mean that
 * figures are incomplete; INFO kinds are accounted for and only explain them.
 */
enum profile_loss {
	PROFILE_LOSS_ENTRY_WITHOUT_RETURN, /* frames dropped because an outer one returned first */
	PROFILE_LOSS_RETURN_WITHOUT_ENTRY,
	PROFILE_LOSS_DEPTH_EXCEEDED, /* calls not timed: too many timed functions nested */
	PROFILE_LOSS_CELLS_FULL, /* calls not aggregated: no cell left */
	PROFILE_LOSS_DETACHED, /* calls of a site that lost its probes */
	PROFILE_LOSS_PROBES, /* probes that were not in place throughout: what they measure is not counted */
	PROFILE_LOSS_TASKS_FULL, /* tasks not followed: no task slot left */
	PROFILE_LOSS_SWITCHES, /* task switches that the kernel did not report: calls between are missing, or another task's */
	PROFILE_LOSS_PROBE_RECURSION, /* programs the kernel skipped, bpf_prog_info.recursion_misses */
	PROFILE_LOSS_PROBE_MISSED, /* kprobes the kernel missed; not counted before Linux 6.7 */
	PROFILE_LOSS_STACKS_FULL, /* samples without a stack: the table was full */
	PROFILE_LOSS_STACK_NOT_FETCHED,
	PROFILE_LOSS_SAMPLES_NOT_RECEIVED, /* periods skipped while a followed task ran */
	PROFILE_LOSS_BLOCK_WITHOUT_CALL, /* blocks executed in calls whose entry nobody saw */
	PROFILE_LOSS_CAPTURES_FULL, /* calls whose values had no room in the table: see struct profile_capture */
	PROFILE_LOSS_COUNTERS, /* counts of events that are too low: a CPU's counter was taken by others */
	PROFILE_INFO_ENTRIES, /* calls and contexts that followed tasks entered: docs/accounting.md */
	PROFILE_INFO_OPEN_AT_START, /* returns of calls entered before recording started */
	PROFILE_INFO_OPEN_AT_END, /* calls that had not returned when recording ended */
	PROFILE_INFO_CLOSED_BY_EXIT, /* calls ended by their task's death, counted as calls */
	PROFILE_INFO_TASKS_LEFT, /* tasks of the workload that outlived it */
	PROFILE_INFO_BLOCK_HITS, /* hits of the probes of blocks */
	PROFILE_INFO_BLOCK_COST, /* ticks that were excluded for these hits */
	PROFILE_INFO_CAPTURES, /* calls whose values were captured */
	PROFILE_INFO_CAPTURE_COST, /* ticks that were excluded for captures, besides the probes' cost */
	PROFILE_INFO_OVERCORRECTED, /* calls that took less time than the calibrated cost of their probes */
	PROFILE_INFO_WAITED, /* ns in which a runnable task had no CPU (PSI); only on a real clock */
	PROFILE_INFO_STOLEN, /* ns of all CPUs that the hypervisor gave to others; only on a real clock */
	PROFILE_INFO_THROTTLED, /* times that a CPU's core or package was throttled by heat; only on a real clock */
	PROFILE_INFO_APERF, /* actual cycles of all CPUs while not halted */
	PROFILE_INFO_MPERF, /* cycles that the same time has at the nominal frequency */
	PROFILE_N_LOSSES,
};

const char *profile_loss_key(enum profile_loss loss); /* "return_without_entry" */
/* Return one line about N of LOSS, without N: "calls not timed: the return was missed". For free(). */
char *profile_loss_text(enum profile_loss loss, double n);
bool profile_loss_is_info(enum profile_loss loss);

enum profile_run_kind {
	PROFILE_RUN_PROBED,
	PROFILE_RUN_CONTROL, /* --control-run: the workload alone, no probes */
};

/* The way in which one run of the workload ended. */
enum profile_end {
	PROFILE_END_EXIT,
	PROFILE_END_SIGNAL, /* it was killed */
	PROFILE_END_NONE, /* the recording was interrupted, and the command went on */
	PROFILE_N_ENDS,
};

struct profile_run {
	enum profile_run_kind kind;
	uint32_t boot; /* number of the boot it ran in: 0, 1, … after a merge */
	uint64_t wall; /* start to exit of the command */
	uint64_t cpu; /* time on a CPU of the command and all it waited for, or NOT_COUNTED */
	int32_t status; /* exit status as a shell gives it: 128 + signal where that ended the command, or the recording */
	enum profile_end end;
	uint64_t losses[PROFILE_N_LOSSES];
	uint64_t samples_expected, samples_received; /* samples of the workload */
	vec_of(struct profile_report, reports);
};

/* One frame of source: an address has one, and one more for each inlined body it lies in. */
struct profile_frame {
	const char *name;
	const char *file; /* relative to the kernel's tree; NULL where unknown */
	uint32_t line;
	bool inlined; /* the body of an inlined call: the next frame is the function around it */
};

/* An address that occurs in stacks, with its frames, innermost first. */
struct profile_location {
	uint64_t addr; /* relative to _stext, or to MODULE's first function */
	const char *module; /* NULL for the kernel's image */
	vec_of(struct profile_frame, frames);
};

/* Indices of locations, innermost first; none for a sample in user space. */
struct profile_stack {
	vec_of(uint32_t, locations);
};

enum profile_sample_flag {
	PROFILE_SAMPLE_USER = 1, /* the CPU was in user space */
	PROFILE_SAMPLE_LATE = 2, /* came late: interrupts were off when it was due */
	PROFILE_SAMPLE_AT_RETURN = 4, /* came at the return of the timed function it was due in */
	PROFILE_SAMPLE_PROBE = 8, /* in a probe, or in time subtracted as its cost */
	PROFILE_SAMPLE_FLAGS = 15, /* all flags */
};

/* COUNT samples with the same run, context, flags and stack. */
struct profile_sample {
	uint32_t run, context, stack;
	uint32_t flags; /* enum profile_sample_flag */
	uint64_t count;
};

/*
 * Calls of the function that starts at STACK's first location, from the rest of STACK. Only exact recordings have
 * them: a call by probes has its context alone.
 */
struct profile_edge {
	uint32_t run, context, stack;
	uint64_t calls;
};

/* Events of a model of a CPU at STACK's first location; an empty STACK is user space. */
struct profile_miss {
	uint32_t run, context, stack;
	uint32_t event; /* enum model_event */
	uint64_t count;
};

/* Events of the model in accesses of data, by type of data: a slab cache's name, or "[stack]" and the like. */
struct profile_object {
	uint32_t run, context;
	const char *type;
	uint32_t event;
	uint64_t count;
};

/* A fact about the machine, the kernel or the recording: see profile_env_set(). */
struct profile_env {
	const char *key, *value;
};

/* The costs of a mechanism's probes: docs/accounting.md, "Probe cost". */
enum profile_cost_kind {
	PROFILE_COST_INNER, /* struct engine_cost */
	PROFILE_COST_FULL,
	PROFILE_COST_NESTED,
	PROFILE_COST_TRAMPOLINE,
	PROFILE_COST_ARGS, /* added to FULL for ENGINE_COST_ARGS more arguments */
	/* Ranges: struct engine_range_cost of probes reached by a jump. */
	PROFILE_COST_OPEN,
	PROFILE_COST_INSIDE, /* idle_enter */
	PROFILE_COST_OUTSIDE, /* idle_leave */
	PROFILE_COST_LIST,
	PROFILE_COST_FRAME,
	/* Extra cost of probes that are reached in another way: */
	PROFILE_COST_STEPPED,
	PROFILE_COST_PREPARED,
	PROFILE_COST_EMULATED,
	PROFILE_COST_CALL,
	PROFILE_COST_JUMP,
	PROFILE_COST_BLOCK, /* a probe that counts a block; 0: not measured */
	/* The sampler. */
	PROFILE_COST_LATENCY,
	PROFILE_COST_INTERRUPT,
	PROFILE_N_COST_KINDS
};

/* The standard deviation of a normal distribution, in median absolute deviations. */
#define DEVIATIONS_PER_SPREAD 1.482602218505602

/* One number that was calibrated before the first run, in ticks. */
struct profile_cost {
	uint32_t mech; /* enum profile_mechanism, below PROFILE_N_COSTS */
	uint32_t kind; /* enum profile_cost_kind */
	double value;
	double spread; /* median absolute deviation; NAN: not known */
};

struct profile {
	enum profile_clock clock;
	uint32_t freq; /* samples per second and CPU that were asked for; 0: no sampler */
	uint64_t sample_period; /* time between two samples, in ticks; 0: no sampler */
	vec_of(struct profile_env, envs);
	vec_of(const char *, args); /* the workload's command line */
	vec_of(struct profile_site, sites); /* [0] is the one of PROFILE_SITE_CONTEXT */
	vec_of(struct profile_context, contexts);
	vec_of(struct profile_run, runs);
	vec_of(struct profile_cell, cells); /* any order */
	vec_of(struct profile_location, locations);
	vec_of(struct profile_stack, stacks);
	vec_of(struct profile_sample, samples);
	vec_of(struct profile_blocks, blocks);
	vec_of(struct profile_block_counts, block_counts); /* any order */
	vec_of(struct profile_cost, costs);
	vec_of(struct profile_edge, edges);
	/* Executions of the instruction at STACK's first location. Of instructions of one line in a row only the first one has an entry. */
	vec_of(struct profile_edge, executions);
	vec_of(struct profile_trace, traces); /* lines of the calls kept whole, call after call */
	vec_of(struct profile_miss, misses);
	vec_of(struct profile_object, objects);
	vec_of(struct profile_variable, variables); /* any order */
	vec_of(struct profile_capture, captures);
	vec_of(struct profile_condition, conditions);
	vec_of(struct profile_name, names);
	vec_of(struct profile_counter, counters);
	vec_of(struct profile_counter_cost, counter_costs);
	vec_of(struct profile_counted, counted);
	struct profile_strings *strings; /* the intern pool */
	struct profile_lookup *lookup; /* finds entries of unique tables: do not reorder these */
};

struct profile *profile_create(void);
void profile_destroy(struct profile *p); /* accepts NULL */
define_scoped(profile_destroy, struct profile);

/* P's own copy of S, the same pointer for equal strings; NULL for NULL. */
const char *profile_intern(struct profile *p, const char *s);

/* Sets KEY, replacing an earlier value. */
void profile_env_set(struct profile *p, const char *key, const char *value);
/* The value of KEY, or NULL. */
const char *profile_env_get(const struct profile *p, const char *key);
/* Return whether both are known to be of one kernel, by its build-id. */
bool profile_same_kernel(const struct profile *a, const struct profile *b);
/* Return whether the emulator counted all instructions, without probes. Then each sample in P is one instruction. */
bool profile_is_exact(const struct profile *p);
/* Return whether probes disturbed RUN of P. */
bool profile_run_is_probed(const struct profile *p, const struct profile_run *run);
/* Return the number of P's runs that are not control runs. */
uint32_t profile_probed_runs(const struct profile *p);
/* Sets a cost, replacing an earlier one of that kind. */
void profile_cost_set(struct profile *p, enum profile_mechanism mech, enum profile_cost_kind kind,
		      double value, double spread);
/* "inner=98+-1 full=332+-2": all that is known of MECH, for free(); NULL: nothing. */
char *profile_cost_text(const struct profile *p, enum profile_mechanism mech);

/* Appends to the workload's command line. */
void profile_arg_add(struct profile *p, const char *arg);

/*
 * The following return the index of the new entry or, for contexts, locations and stacks, of the
 * equal one that was there already.
 */
uint32_t profile_context_add(struct profile *p, const char *name);
bool profile_context_is(const struct profile *p, uint32_t context, enum profile_context_kind kind);
uint32_t profile_site_add(struct profile *p, const struct profile_site *site);
/* Return whether SITE's calls were counted, so that no cell means 0 calls. False if the kernel refused its probes, or lost them. */
bool profile_site_is_counted(const struct profile *p, const struct profile_site *site);
/* Return whether SITE belongs to MODULE; NULL: to the kernel's image. */
bool profile_site_is_in(const struct profile_site *site, const char *module);
/* Return SITE's label, as users name it: the function's name, or "INLINED@FUNC" for an inlined body. For free(). */
char *profile_site_label(const struct profile_site *site);

/* Return whether SITE's label is LABEL. Several sites may have it. */
bool profile_site_has_label(const struct profile_site *site, const char *label);
/* "exited with status 3", "was killed by SIGSEGV", for free(). */
char *profile_run_end_text(const struct profile_run *run);
/* "SIGSEGV", for free(); NULL: RUN's command exited. */
char *profile_run_signal(const struct profile_run *run);
/* Every loss and both sample counts are NOT_COUNTED until set, or added to by profile_count_add(). */
uint32_t profile_run_add(struct profile *p, enum profile_run_kind kind);
uint32_t profile_stack_add(struct profile *p, const uint32_t *locations, uint32_t n);
/* Finds or adds the address; a new one has no frames yet. MODULE may be NULL. */
uint32_t profile_location_add(struct profile *p, uint64_t addr, const char *module);
void profile_location_frame_add(struct profile *p, uint32_t location,
				const struct profile_frame *frame);
void profile_report_add(struct profile *p, uint32_t run, const struct profile_report *report);
/* Adds to the count of an equal sample (same run, context, stack, flags) where there is one. */
void profile_sample_add(struct profile *p, const struct profile_sample *sample);
/* Likewise of an edge, and of executions. */
void profile_edge_add(struct profile *p, const struct profile_edge *edge);
void profile_executions_add(struct profile *p, const struct profile_edge *executions);

void profile_miss_add(struct profile *p, const struct profile_miss *miss);
void profile_object_add(struct profile *p, const struct profile_object *object);
/* The index of the event NAME. */
uint32_t profile_counter_add(struct profile *p, const char *name);
/* Sets it, replacing an earlier one of that counter and mechanism. */
void profile_counter_cost_set(struct profile *p, const struct profile_counter_cost *cost);
/* Adds to an equal entry (same run, site, context and counter) where there is one. */
void profile_counted_add(struct profile *p, const struct profile_counted *counted);

void profile_condition_set(struct profile *p, uint32_t location, const char *text);
/* NULL: not known. */
const char *profile_condition_of(const struct profile *p, uint32_t location);

/* Add a variable, at most PROFILE_VALUES_MAX per site. Return its index, or that of the site's variable of that name. */
uint32_t profile_variable_add(struct profile *p, const struct profile_variable *variable);
/* Adds to an equal entry (same run, site, context and values) where there is one. All variables of its site are there already. */
void profile_capture_add(struct profile *p, const struct profile_capture *capture);
/* Return, indexed by site, a mask with one low bit for each of its variables among the first N; for free(). */
uint32_t *profile_site_variables(const struct profile *p, uint32_t n);
/* Add the name TEXT. Return the value that a variable with this name has. */
uint64_t profile_name_add(struct profile *p, const char *text);
/* Append V's VALUE as text: "28", with BITS "0x1c"; a name as it was captured, but with blanks ("\\x20") and backslashes escaped. */
void profile_value_append(char **text, const struct profile *p, const struct profile_variable *v,
			  uint64_t value, bool bits);
/* NULL: P has no name of that VALUE. */
const char *profile_name_of(const struct profile *p, uint64_t value);
/* Return the value of the name TEXT: its FNV-1a hash. */
uint64_t profile_name_value(const char *text);

/* The cell for the three indices, added empty (errors and entries NOT_COUNTED) if there is none. Valid until the next add. */
struct profile_stats *profile_cell(struct profile *p, uint32_t run, uint32_t site,
				   uint32_t context);
/* The same; NULL: there is none. */
const struct profile_cell *profile_cell_find(const struct profile *p, uint32_t run, uint32_t site,
					     uint32_t context);

/* Takes BLOCKS with its arrays; returns its place in the list. */
uint32_t profile_blocks_add(struct profile *p, const struct profile_blocks *blocks);
/* The counts for the three indices, added with all 0 if there are none. Valid until the next add. */
struct profile_block_counts *profile_block_counts(struct profile *p, uint32_t run, uint32_t blocks,
						  uint32_t context);

/* A pool of strings, each kept once and numbered in the order of arrival. Internal to profile/. */

struct profile_strings;

struct profile_strings *profile_strings_create(void);
void profile_strings_destroy(struct profile_strings *pool); /* accepts NULL */

/* The number of the string of LEN bytes (no NUL among them) at S, which is copied if it is new. */
uint32_t profile_strings_add(struct profile_strings *pool, const char *s, size_t len);
/* The pool's own copy: stays where it is until the pool is destroyed. */
const char *profile_strings_get(const struct profile_strings *pool, uint32_t number);
size_t profile_strings_length(const struct profile_strings *pool, uint32_t number);
uint32_t profile_strings_count(const struct profile_strings *pool);
