/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in memory: the interface between the recorder and all code that reads recordings.
 *
 * A profile owns everything that it points to. It copies each distinct string once; pointers from profile_intern() are equal if
 * the strings are. Indices into the profile's arrays stay valid while they grow; pointers into the arrays do not.
 *
 * Addresses of the kernel's image are relative to _stext. Recordings of several boots are therefore comparable, and a file does
 * not disclose the kernel's randomized base address.
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

/* Maximum length in bytes of any name: of a symbol, a file, a context. Longer ones would make every row of a table as long. */
#define PROFILE_NAME_MAX 4096

enum profile_site_kind {
	PROFILE_SITE_CONTEXT, /* stands for contexts as a whole, such as syscalls: site 0 of every profile */
	PROFILE_SITE_FUNCTION,
	PROFILE_SITE_RANGE, /* an inlined body */
};

/*
 * A function or inlined body whose calls are timed, or the contexts. Of an inlined body (a range), NAME is the inlined function,
 * SYMBOL the function that contains the body, ADDR the body's entry (DW_AT_entry_pc), FILE and LINE the inlined call's place.
 */
struct profile_site {
	const char *name; /* name as reported: without .isra, .constprop, .part */
	const char *symbol; /* name in kallsyms: "name", or "name [module]"; of a range: INTO's */
	/* INTO, CHAIN and ESTIMATED are for ranges only, else NULL. */
	const char *into; /* the function that the body is part of, as reported */
	/*
	 * The inlined bodies between NAME and INTO, innermost first, separated by PROFILE_CHAIN: "new_slab" for
	 * shuffle_freelist < new_slab < allocate_slab. NULL: none.
	 */
	const char *chain;
	/* The reason that the body could not be timed, only estimated from samples; NULL: it was timed. */
	const char *estimated;
	enum profile_site_kind kind;
	enum profile_mechanism mech;
	uint64_t addr; /* relative to _stext, or to the module's first function */
	uint64_t missed; /* calls, in all runs, not timed because their return was missed */
	const char *file; /* relative to the kernel's tree; NULL where unknown */
	uint32_t line; /* 0 where unknown */
};

/* The work that a function is called in: a syscall ("clone", "compat:clone"), or other work, named in brackets ("[irq]"). */
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

/* Return the name of the only context of KIND: "[page_fault]"; NULL for PROFILE_CONTEXT_SYSCALL, since syscalls have many names. */
const char *profile_context_name(enum profile_context_kind kind);

/* Kinds of work that a context queues. In exact recordings, such work has its own context: "close [rcu]" if queued by close. */
enum profile_queued {
	PROFILE_QUEUED_RCU,
	PROFILE_QUEUED_WORK,
	PROFILE_QUEUED_TASK_WORK,
	PROFILE_QUEUED_SOFTIRQ,
	PROFILE_N_QUEUED
};

const char *profile_queued_name(enum profile_queued kind); /* "[rcu]" */
/*
 * Return a phrase for the kind of queued work, "RCU callbacks queued by"; NULL: CONTEXT is not queued work. Set *BY to the length
 * of the name, at the start of CONTEXT, of the context that queued the work.
 */
const char *profile_context_queued(const char *context, size_t *by);

/* The statistics of SITE's calls in one run and context. Each (run, site, context) has at most one cell. */
struct profile_cell {
	uint32_t run, site, context;
	struct profile_stats stats;
};

/* A basic block of a function whose blocks were counted: code that is executed from its first instruction to its last. */
struct profile_block {
	uint64_t addr; /* relative to _stext */
	uint32_t bytes, insns;
	uint32_t location; /* location of ADDR, with its line and the inlined bodies around it */
	bool reached; /* false: padding, or code that is executed only after a fault */
	const char *callee; /* the first function that it calls by name; NULL: none */
};

enum profile_trace_kind {
	PROFILE_TRACE_CALL, /* a call of the function at LOCATION */
	PROFILE_TRACE_LINE, /* instructions of one source line, executed in a row */
	PROFILE_TRACE_LOOP, /* the calls below it happened TIMES times */
	PROFILE_TRACE_LOST, /* the last entry: TIMES blocks or lines had no room */
	PROFILE_TRACE_N_KINDS,
};

/* One line of a traced call (--trace), in order of execution. The deeper lines after a line are its body. */
struct profile_trace {
	uint32_t run;
	enum profile_trace_kind kind;
	uint32_t depth; /* 0: the traced call */
	uint32_t location;
	uint64_t times;
	uint64_t insns; /* instructions of one execution, including the body's */
};

enum profile_variable_kind {
	PROFILE_VARIABLE_ARGUMENT,
	PROFILE_VARIABLE_MEMBER, /* member of a struct that an argument points to */
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
	uint8_t bytes; /* size of a value; 8 for PROFILE_VARIABLE_NAME */
	bool is_signed;
	bool is_flags; /* bits, not a number */
};

/* Return whether V's values are hashes of names, by profile_name_value(). */
static inline bool profile_variable_is_name(const struct profile_variable *v)
{
	return v->kind == PROFILE_VARIABLE_NAME || v->kind == PROFILE_VARIABLE_CONTEXT;
}

/* Return whether V's values are numbers, not names or flags: sorting and subtracting them makes sense. */
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
 * Calls with equal captured values. PROFILE_LOSS_CAPTURES_FULL counts the calls whose values had no room in the table. Of these,
 * each site keeps a random sample as SAMPLED entries. They represent all calls of the site in that run that no other entry has.
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

/* A function whose blocks were counted, including split-off parts such as FUNC.cold. */
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

/* Events of SITE's calls, less the calibrated events of their probes; below 0 if the calibration overestimates these. */
struct profile_counted {
	uint32_t run, site, context;
	uint32_t counter;
	uint64_t calls; /* calls whose events were counted */
	int64_t total, self; /* SELF: without timed callees */
};

/* The loop whose head is at LOCATION iterates again while TEXT, an expression of the source such as "i < n", is true. */
struct profile_condition {
	uint32_t location;
	const char *text;
};

/*
 * The executions of each block of a function in one run and context. Each (run, function, context) has at most one entry. A call
 * that was under way when counting began or ended makes the counts inconsistent. RESIDUAL is the largest inconsistency.
 */
struct profile_block_counts {
	uint32_t run, blocks, context; /* BLOCKS: index in profile.blocks */
	uint64_t calls; /* number of timed calls */
	uint64_t residual;
	vec_of(uint64_t, counts); /* indexed by block; NOT_COUNTED: unknown */
};

/*
 * One result that a workload reported through KPROTPERF_REPORT_FD. Times are in ns of the workload's CLOCK_MONOTONIC; if the
 * profile's clock counts instructions, so does that clock.
 */
struct profile_report {
	const char *name;
	uint64_t iterations;
	double mean, p50, min; /* NAN where not given */
};

/*
 * Counts per run, each with a name for JSON and a text for people. LOSS kinds count missing data. INFO kinds only explain the
 * figures.
 */
enum profile_loss {
	PROFILE_LOSS_ENTRY_WITHOUT_RETURN, /* frames dropped because an outer one returned first */
	PROFILE_LOSS_RETURN_WITHOUT_ENTRY,
	PROFILE_LOSS_DEPTH_EXCEEDED, /* calls not timed: too many timed functions nested */
	PROFILE_LOSS_CELLS_FULL, /* calls not aggregated: no cell left */
	PROFILE_LOSS_DETACHED, /* calls of a site that lost its probes */
	PROFILE_LOSS_PROBES, /* probes that others removed or switched off during the run: their measurements are not used */
	PROFILE_LOSS_TASKS_FULL, /* tasks not followed: no task slot left */
	PROFILE_LOSS_SWITCHES, /* unreported task switches: calls in between are missing, or attributed to another task */
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
	uint64_t cpu; /* CPU time of the command and its waited-for descendants, or NOT_COUNTED */
	int32_t status; /* exit status as in a shell: 128 + signal if a signal ended the command or the recording */
	enum profile_end end;
	uint64_t losses[PROFILE_N_LOSSES];
	uint64_t samples_expected, samples_received; /* samples of the workload */
	vec_of(struct profile_report, reports);
};

/* A function at an address: the address has one frame, and one more for each inlined body that contains it. */
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
	PROFILE_SAMPLE_AT_RETURN = 4, /* due in a timed function, taken at that function's return */
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
 * Calls of the function that starts at STACK's first location. The other locations of STACK are the callers. Only exact recordings
 * have edges: probes record a call's context, not its callers.
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
	PROFILE_COST_INNER, /* this and the following three: members of struct engine_cost */
	PROFILE_COST_FULL,
	PROFILE_COST_NESTED,
	PROFILE_COST_TRAMPOLINE,
	PROFILE_COST_ARGS, /* added to FULL for ENGINE_COST_ARGS more arguments */
	/* Inlined bodies: members of struct engine_range_cost, for probes reached by a jump (ENGINE_RANGE_OPTIMIZED). */
	PROFILE_COST_OPEN,
	PROFILE_COST_INSIDE, /* idle_enter */
	PROFILE_COST_OUTSIDE, /* idle_leave */
	PROFILE_COST_LIST,
	PROFILE_COST_FRAME,
	/* Extra cost of probes of the other kinds of enum engine_range_kind, compared with a jump: */
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
	/* Executions of the instruction at STACK's first location. Of adjacent instructions of a line, only the first is here. */
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

/* Return P's own copy of S: the same pointer for equal strings, NULL for NULL. */
const char *profile_intern(struct profile *p, const char *s);

/* Sets KEY, replacing an earlier value. */
void profile_env_set(struct profile *p, const char *key, const char *value);
/* The value of KEY, or NULL. */
const char *profile_env_get(const struct profile *p, const char *key);
/* Return whether A and B have the same build-id of the kernel; false if one has none. */
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
 * The following _add functions return the index of the new entry. Contexts, locations and stacks are unique: if an equal one
 * exists, they return its index.
 */
uint32_t profile_context_add(struct profile *p, const char *name);
bool profile_context_is(const struct profile *p, uint32_t context, enum profile_context_kind kind);
uint32_t profile_site_add(struct profile *p, const struct profile_site *site);
/* Return whether SITE's calls were counted: then a missing cell means 0 calls. False if probes of SITE were refused or lost. */
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
/* Add to the count of an equal edge (same run, context, stack), or add a new entry. */
void profile_edge_add(struct profile *p, const struct profile_edge *edge);
void profile_executions_add(struct profile *p, const struct profile_edge *executions);

void profile_miss_add(struct profile *p, const struct profile_miss *miss);
void profile_object_add(struct profile *p, const struct profile_object *object);
/* Return the index of the event NAME, which is added if it is new. */
uint32_t profile_counter_add(struct profile *p, const char *name);
/* Set COST, replacing an earlier one of the same counter and mechanism. */
void profile_counter_cost_set(struct profile *p, const struct profile_counter_cost *cost);
/* Adds to an equal entry (same run, site, context and counter) where there is one. */
void profile_counted_add(struct profile *p, const struct profile_counted *counted);

void profile_condition_set(struct profile *p, uint32_t location, const char *text);
/* Return the condition of the loop whose head is at LOCATION; NULL: unknown. */
const char *profile_condition_of(const struct profile *p, uint32_t location);

/* Return the index of the variable with VARIABLE's site and name, which is added if new. A site has at most PROFILE_VALUES_MAX. */
uint32_t profile_variable_add(struct profile *p, const struct profile_variable *variable);
/* Add to the equal entry (same run, site, context, values), if there is one. Add all variables of the site before this call. */
void profile_capture_add(struct profile *p, const struct profile_capture *capture);
/* Return masks, indexed by site, for free(): one low bit set for each variable of the site among P's first N variables. */
uint32_t *profile_site_variables(const struct profile *p, uint32_t n);
/* Add the name TEXT. Return the value that a variable with this name has. */
uint64_t profile_name_add(struct profile *p, const char *text);
/* Append V's VALUE as text: "28", with BITS "0x1c"; a name as captured, with blanks ("\\x20") and backslashes escaped. */
void profile_value_append(char **text, const struct profile *p, const struct profile_variable *v,
			  uint64_t value, bool bits);
/* Return the captured name, or the context's name, whose profile_name_value() is VALUE; NULL: P has none. */
const char *profile_name_of(const struct profile *p, uint64_t value);
/* Return the value of the name TEXT: its FNV-1a hash. */
uint64_t profile_name_value(const char *text);

/* Return the cell of RUN, SITE and CONTEXT. If new, it is empty, with errors and entries NOT_COUNTED. Valid until the next add. */
struct profile_stats *profile_cell(struct profile *p, uint32_t run, uint32_t site,
				   uint32_t context);
/* Return the cell of RUN, SITE and CONTEXT, or NULL. Valid until the next add. */
const struct profile_cell *profile_cell_find(const struct profile *p, uint32_t run, uint32_t site,
					     uint32_t context);

/* Add BLOCKS and take over its arrays. Return its index. */
uint32_t profile_blocks_add(struct profile *p, const struct profile_blocks *blocks);
/* Return the counts of RUN, BLOCKS and CONTEXT, all 0 if new. Valid until the next add. */
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
