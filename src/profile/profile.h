/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in memory: the recorder fills it, and all other code reads it.
 *
 * A profile owns all its memory. It stores each distinct string once: profile_intern() returns equal pointers for equal strings.
 * Indices into the profile's arrays stay valid while the arrays grow; pointers into the arrays do not.
 *
 * Addresses of the kernel's image are relative to _stext. So recordings of several boots are comparable, and a file does not
 * disclose the kernel's randomized base address.
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

/* Maximum length in bytes of the name of a symbol, file or context. A longer name would make every row of a table as long. */
#define PROFILE_NAME_MAX 4096

enum profile_site_kind {
	PROFILE_SITE_CONTEXT, /* whole contexts, such as system calls; site 0 of every profile */
	PROFILE_SITE_FUNCTION,
	PROFILE_SITE_RANGE, /* an inlined copy of a function in another function */
};

/*
 * A function or inlined function whose calls are timed, or (site 0) the contexts. For an inlined function (a range), SYMBOL is the
 * containing function, ADDR is DW_AT_entry_pc of the inlined code, and FILE and LINE tell the position of the inlined call.
 */
struct profile_site {
	const char *name; /* printed name, without .isra, .constprop, .part */
	const char *symbol; /* symbol in kallsyms: "name" or "name [module]" */
	/* INTO, CHAIN and ESTIMATED are NULL unless KIND is PROFILE_SITE_RANGE. */
	const char *into; /* printed name of the function that contains the inlined code */
	/*
	 * Inlined functions between NAME and INTO, innermost first, separated by PROFILE_CHAIN: "new_slab" for shuffle_freelist <
	 * new_slab < allocate_slab. NULL: there are none.
	 */
	const char *chain;
	/* Reason that the inlined function was not timed, only estimated from samples. NULL: it was timed. */
	const char *estimated;
	enum profile_site_kind kind;
	enum profile_mechanism mech;
	uint64_t addr; /* relative to _stext, or to the module's first function */
	uint64_t missed; /* calls in all runs, not timed because their return was missed */
	const char *file; /* relative to the kernel's source tree; NULL: unknown */
	uint32_t line; /* 0: unknown */
};

/* The context of a call: a system call ("clone", "compat:clone"), or other work, named in brackets ("[irq]"). */
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

/* Return the context's name, such as "[page_fault]". NULL for PROFILE_CONTEXT_SYSCALL, since system calls have many names. */
const char *profile_context_name(enum profile_context_kind kind);

/* Kinds of queued work. In exact recordings, queued work has its own context: "close [rcu]" if close() queued the work. */
enum profile_queued {
	PROFILE_QUEUED_RCU,
	PROFILE_QUEUED_WORK,
	PROFILE_QUEUED_TASK_WORK,
	PROFILE_QUEUED_SOFTIRQ,
	PROFILE_N_QUEUED
};

const char *profile_queued_name(enum profile_queued kind); /* for example "[rcu]" */
/*
 * Return a phrase for the kind of queued work, such as "RCU callbacks queued by", or NULL if CONTEXT is no queued work. The first
 * *BY bytes of CONTEXT are the name of the context that queued the work.
 */
const char *profile_context_queued(const char *context, size_t *by);

/* Statistics of the calls of a timed function (SITE) in one run and context. Each combination has at most one cell. */
struct profile_cell {
	uint32_t run, site, context;
	struct profile_stats stats;
};

/* A basic block of a function: code that runs from its first instruction to its last. The number of its executions was counted. */
struct profile_block {
	uint64_t addr; /* relative to _stext */
	uint32_t bytes, insns;
	uint32_t location; /* location of ADDR: source line and inlined functions */
	bool reached; /* false: padding, or code that runs only after a fault */
	const char *callee; /* first function that the block calls by name, or NULL */
};

enum profile_trace_kind {
	PROFILE_TRACE_CALL, /* call of the function at LOCATION */
	PROFILE_TRACE_LINE, /* consecutive instructions of one source line */
	PROFILE_TRACE_LOOP, /* a loop, whose lines (the deeper lines after it) ran TIMES times */
	PROFILE_TRACE_LOST, /* last entry: TIMES further blocks or lines are missing */
	PROFILE_TRACE_N_KINDS,
};

/* One line of a traced call (--trace). Lines are in order of execution. The lines of greater depth after a line are part of it. */
struct profile_trace {
	uint32_t run;
	enum profile_trace_kind kind;
	uint32_t depth; /* depth of nesting; 0: the traced call */
	uint32_t location;
	uint64_t times;
	uint64_t insns; /* instructions of one execution, deeper lines included */
};

enum profile_variable_kind {
	PROFILE_VARIABLE_ARGUMENT,
	PROFILE_VARIABLE_MEMBER, /* member of a struct that an argument points to */
	PROFILE_VARIABLE_GLOBAL,
	PROFILE_VARIABLE_RETURN,
	PROFILE_VARIABLE_SYSCALL_ARGUMENT,
	PROFILE_VARIABLE_TASK, /* a fact about the task, such as its uid or CPU */
	PROFILE_VARIABLE_NAME, /* text; struct profile_name has the values' texts */
	PROFILE_VARIABLE_CONTEXT, /* name of a call's context; never written to a file */
	PROFILE_VARIABLE_N_KINDS
};

/* Return the kind's name in JSON, such as "syscall_argument". */
const char *profile_variable_kind_name(enum profile_variable_kind kind);

/* A variable whose value is recorded in each call of SITE. Its name is unique within SITE. */
struct profile_variable {
	uint32_t site;
	const char *name; /* source name: "n", "s->object_size", "crng_init"; or "return" */
	enum profile_variable_kind kind;
	uint8_t bytes; /* size of a value in bytes; 8 for PROFILE_VARIABLE_NAME */
	bool is_signed;
	bool is_flags; /* a set of bits, not a number */
};

/* Return whether V's values are hashes of names, made by profile_name_value(). */
static inline bool profile_variable_is_name(const struct profile_variable *v)
{
	return v->kind == PROFILE_VARIABLE_NAME || v->kind == PROFILE_VARIABLE_CONTEXT;
}

/* Return whether V's values are numbers, which can be sorted and subtracted, not names or flags. */
static inline bool profile_variable_is_number(const struct profile_variable *v)
{
	return !v->is_flags && !profile_variable_is_name(v);
}

/* A recorded name of at most 15 bytes. */
struct profile_name {
	uint64_t value; /* hash of TEXT, the same in all profiles */
	const char *text;
};

#define PROFILE_VALUES_MAX 16 /* number of variables of one site */

/*
 * Calls with equal recorded values. Of calls whose values did not fit into the table (PROFILE_LOSS_CAPTURES_FULL), each site keeps
 * a random sample. Such SAMPLED entries represent all calls of the site in the run that are in no other entry.
 */
struct profile_capture {
	uint32_t run, site, context;
	bool sampled;
	uint32_t absent; /* bit I is set if values[I] was not recorded and is 0 */
	uint64_t calls;
	int64_t time; /* sum of net times: on-CPU time without the probes' cost */
	double sumsq; /* sum of squares of the calls' net times */
	uint64_t min, max;
	uint64_t values[PROFILE_VALUES_MAX]; /* values of the site's variables in order */
};

/* A possible step of control between two blocks. TO is a block, or one of these values: */
struct profile_arc {
	uint32_t from, to;
};

#define PROFILE_ARC_OUT UINT32_MAX /* the step leaves the function */
#define PROFILE_ARC_ANY (UINT32_MAX - 1) /* a jump to an unknown target, in the function or not */

/* The basic blocks of a function, including split-off parts such as FUNC.cold. Their executions were counted. */
struct profile_blocks {
	uint32_t site;
	uint32_t entry; /* index of the entry block */
	vec_of(struct profile_block, items); /* sorted by address */
	vec_of(struct profile_arc, arcs);
};

/* An event of the CPU or the kernel that was counted with each call. NAME is the event's name in perf, such as "cache-misses". */
struct profile_counter {
	const char *name;
};

/* Number of events per call that a mechanism's probes cause, from calibration. Each spread is a median absolute deviation. */
struct profile_counter_cost {
	uint32_t counter;
	uint32_t mech; /* enum profile_mechanism, below PROFILE_N_MECHANISMS */
	double inner, inner_spread; /* like member INNER of struct engine_cost */
	double full, full_spread;
};

/* Events of SITE's calls, less the calibrated number of events of the probes. Below 0 if the calibrated number is too high. */
struct profile_counted {
	uint32_t run, site, context;
	uint32_t counter;
	uint64_t calls; /* number of calls whose events were counted */
	int64_t total, self; /* SELF excludes timed callees */
};

/* The loop whose head is at LOCATION continues while TEXT, a source expression such as "i < n", is true. */
struct profile_condition {
	uint32_t location;
	const char *text;
};

/*
 * Number of executions of each block of a function in one run and context. Each (run, function, context) has at most one entry. A
 * call in progress when counting began or ended makes the counts inconsistent: control enters and leaves some blocks a different
 * number of times. RESIDUAL is the largest difference.
 */
struct profile_block_counts {
	uint32_t run, blocks, context; /* BLOCKS: index in profile.blocks */
	uint64_t calls; /* number of timed calls */
	uint64_t residual;
	vec_of(uint64_t, counts); /* executions of each block; NOT_COUNTED: unknown */
};

/*
 * A result that a workload reported through KPROTPERF_REPORT_FD. Times are in ns of CLOCK_MONOTONIC in the workload. If the
 * profile's clock counts instructions, so does CLOCK_MONOTONIC.
 */
struct profile_report {
	const char *name;
	uint64_t iterations;
	double mean, p50, min; /* NAN: not reported */
};

/* Counts per run, with names for JSON and texts for tables. LOSS kinds count missing data; INFO kinds explain the figures. */
enum profile_loss {
	PROFILE_LOSS_ENTRY_WITHOUT_RETURN, /* calls whose caller returned before them */
	PROFILE_LOSS_RETURN_WITHOUT_ENTRY,
	PROFILE_LOSS_DEPTH_EXCEEDED, /* calls not timed: too many timed functions nested */
	PROFILE_LOSS_CELLS_FULL, /* calls not counted: the table of cells was full */
	PROFILE_LOSS_DETACHED, /* calls of functions whose probes were detached */
	PROFILE_LOSS_PROBES, /* probes that others removed or switched off: their data is unused */
	PROFILE_LOSS_TASKS_FULL, /* tasks not followed: the table of tasks was full */
	PROFILE_LOSS_SWITCHES, /* missed task switches: calls are lost or given to another task */
	PROFILE_LOSS_PROBE_RECURSION, /* BPF programs not run: bpf_prog_info.recursion_misses */
	PROFILE_LOSS_PROBE_MISSED, /* kprobes that the kernel missed; counted since Linux 6.7 */
	PROFILE_LOSS_STACKS_FULL, /* samples without a stack because the table was full */
	PROFILE_LOSS_STACK_NOT_FETCHED,
	PROFILE_LOSS_SAMPLES_NOT_RECEIVED, /* sampling periods skipped while a followed task ran */
	PROFILE_LOSS_BLOCK_WITHOUT_CALL, /* blocks executed in calls whose entry was missed */
	PROFILE_LOSS_CAPTURES_FULL, /* calls whose values did not fit: struct profile_capture */
	PROFILE_LOSS_COUNTERS, /* counts of events are too low: others used a CPU's counter */
	PROFILE_INFO_ENTRIES, /* calls and contexts that followed tasks entered */
	PROFILE_INFO_OPEN_AT_START, /* returns of calls that were entered before the recording */
	PROFILE_INFO_OPEN_AT_END, /* calls that had not returned at the recording's end */
	PROFILE_INFO_CLOSED_BY_EXIT, /* calls ended by the exit of their task, counted as calls */
	PROFILE_INFO_TASKS_LEFT, /* tasks that still ran when the command ended */
	PROFILE_INFO_BLOCK_HITS, /* hits of the probes that count basic blocks */
	PROFILE_INFO_BLOCK_COST, /* ticks subtracted for these hits */
	PROFILE_INFO_CAPTURES, /* calls whose variables were recorded */
	PROFILE_INFO_CAPTURE_COST, /* ticks subtracted for recording variables */
	PROFILE_INFO_OVERCORRECTED, /* calls shorter than the calibrated cost of their probes */
	PROFILE_INFO_WAITED, /* ns in which a runnable task had no CPU (PSI); not under icount */
	PROFILE_INFO_STOLEN, /* ns that the hypervisor took from all CPUs; not under icount */
	PROFILE_INFO_THROTTLED, /* times that heat throttled a core or package; not under icount */
	PROFILE_INFO_APERF, /* MSR APERF: actual cycles of all CPUs, except when halted */
	PROFILE_INFO_MPERF, /* MSR MPERF: like APERF, but cycles at the nominal frequency */
	PROFILE_N_LOSSES,
};

const char *profile_loss_key(enum profile_loss loss); /* name in JSON: "return_without_entry" */
/* Return a text to follow the number N of LOSS, such as "calls not timed: the return was missed". The caller frees the text. */
char *profile_loss_text(enum profile_loss loss, double n);
bool profile_loss_is_info(enum profile_loss loss);

enum profile_run_kind {
	PROFILE_RUN_PROBED,
	PROFILE_RUN_CONTROL, /* --control-run: the workload without probes */
};

/* Reasons for the end of a run of the workload. */
enum profile_end {
	PROFILE_END_EXIT,
	PROFILE_END_SIGNAL, /* a signal killed the command */
	PROFILE_END_NONE, /* the recording was interrupted, and the command went on */
	PROFILE_N_ENDS,
};

struct profile_run {
	enum profile_run_kind kind;
	uint32_t boot; /* number of the run's boot; always 0 unless recordings were merged */
	uint64_t wall; /* ticks from start to exit of the command */
	uint64_t cpu; /* CPU time of the command and its awaited descendants, or NOT_COUNTED */
	int32_t status; /* as in a shell: 128 + signal that ended command or recording */
	enum profile_end end;
	uint64_t losses[PROFILE_N_LOSSES];
	uint64_t samples_expected, samples_received; /* numbers of samples in the workload */
	vec_of(struct profile_report, reports);
};

/* A function at an address. An address has one frame, and one more for each inlined function that contains it. */
struct profile_frame {
	const char *name;
	const char *file; /* relative to the kernel's source tree; NULL: unknown */
	uint32_t line;
	bool inlined; /* inlined function; the next frame is the function around it */
};

/* An address in stacks. FRAMES are the functions at this address, innermost first. */
struct profile_location {
	uint64_t addr; /* relative to _stext, or to MODULE's first function */
	const char *module; /* NULL: the kernel's image */
	vec_of(struct profile_frame, frames);
};

/* Indices of locations, innermost first. A sample in user space has none. */
struct profile_stack {
	vec_of(uint32_t, locations);
};

enum profile_sample_flag {
	PROFILE_SAMPLE_USER = 1, /* the CPU was in user space */
	PROFILE_SAMPLE_LATE = 2, /* interrupts were off when the sample was due */
	PROFILE_SAMPLE_AT_RETURN = 4, /* due in a timed function, but taken at its return */
	PROFILE_SAMPLE_PROBE = 8, /* in a probe, or in time subtracted as cost of a probe */
	PROFILE_SAMPLE_FLAGS = 15, /* all flags */
};

/* COUNT samples with the same run, context, flags and stack. */
struct profile_sample {
	uint32_t run, context, stack;
	uint32_t flags; /* enum profile_sample_flag */
	uint64_t count;
};

/*
 * Number of calls of the function at STACK's first location from the callers, STACK's other locations. Only exact recordings have
 * edges: probes do not record callers.
 */
struct profile_edge {
	uint32_t run, context, stack;
	uint64_t calls;
};

/* Events (such as cache misses) of the CPU model at STACK's first location. An empty STACK is user space. */
struct profile_miss {
	uint32_t run, context, stack;
	uint32_t event; /* enum model_event */
	uint64_t count;
};

/* Events of the CPU model in data accesses, by type of data: the name of a slab cache, or a text such as "[stack]". */
struct profile_object {
	uint32_t run, context;
	const char *type;
	uint32_t event;
	uint64_t count;
};

/* A fact about the machine, the kernel or the recording. KEY is one of those in profile/env.h. */
struct profile_env {
	const char *key, *value;
};

/* Costs of a mechanism's probes: docs/accounting.md, "Probe cost". */
enum profile_cost_kind {
	PROFILE_COST_INNER, /* this and the next three are members of struct engine_cost */
	PROFILE_COST_FULL,
	PROFILE_COST_NESTED,
	PROFILE_COST_TRAMPOLINE,
	PROFILE_COST_ARGS, /* added to FULL for ENGINE_COST_ARGS more arguments */
	/* Members of struct engine_range_cost, for probes in inlined functions, reached by a jump (ENGINE_RANGE_OPTIMIZED). */
	PROFILE_COST_OPEN,
	PROFILE_COST_INSIDE, /* member idle_enter: hits while a frame is already open */
	PROFILE_COST_OUTSIDE, /* member idle_leave: hits while no frame is open */
	PROFILE_COST_LIST,
	PROFILE_COST_FRAME,
	/* Extra cost of the other kinds of probes (enum engine_range_kind), compared with ENGINE_RANGE_OPTIMIZED. */
	PROFILE_COST_STEPPED,
	PROFILE_COST_PREPARED,
	PROFILE_COST_EMULATED,
	PROFILE_COST_CALL,
	PROFILE_COST_JUMP,
	PROFILE_COST_BLOCK, /* a probe that counts a basic block; 0: not measured */
	/* Members LATENCY and FULL of the sampler's struct engine_cost. */
	PROFILE_COST_LATENCY,
	PROFILE_COST_INTERRUPT,
	PROFILE_N_COST_KINDS
};

/* Standard deviation of a normal distribution divided by its median absolute deviation. */
#define DEVIATIONS_PER_SPREAD 1.482602218505602

/* A cost that was calibrated before the first run, in ticks. */
struct profile_cost {
	uint32_t mech; /* enum profile_mechanism, below PROFILE_N_COSTS */
	uint32_t kind; /* enum profile_cost_kind */
	double value;
	double spread; /* median absolute deviation; NAN: unknown */
};

struct profile {
	enum profile_clock clock;
	uint32_t freq; /* requested samples per second and CPU; 0: no sampler */
	uint64_t sample_period; /* ticks between two samples; 0: no sampler */
	vec_of(struct profile_env, envs);
	vec_of(const char *, args); /* the workload's command line */
	vec_of(struct profile_site, sites); /* [0] has kind PROFILE_SITE_CONTEXT */
	vec_of(struct profile_context, contexts);
	vec_of(struct profile_run, runs);
	vec_of(struct profile_cell, cells); /* in any order */
	vec_of(struct profile_location, locations);
	vec_of(struct profile_stack, stacks);
	vec_of(struct profile_sample, samples);
	vec_of(struct profile_blocks, blocks);
	vec_of(struct profile_block_counts, block_counts); /* in any order */
	vec_of(struct profile_cost, costs);
	vec_of(struct profile_edge, edges);
	/* CALLS: executions of the instruction at STACK's first location. Adjacent instructions of its line have no entry. */
	vec_of(struct profile_edge, executions);
	vec_of(struct profile_trace, traces); /* lines of the traced calls, call after call */
	vec_of(struct profile_miss, misses);
	vec_of(struct profile_object, objects);
	vec_of(struct profile_variable, variables); /* in any order */
	vec_of(struct profile_capture, captures);
	vec_of(struct profile_condition, conditions);
	vec_of(struct profile_name, names);
	vec_of(struct profile_counter, counters);
	vec_of(struct profile_counter_cost, counter_costs);
	vec_of(struct profile_counted, counted);
	struct profile_strings *strings; /* all distinct strings */
	struct profile_lookup *lookup; /* hash tables of the TABLE_UNIQUE sections */
};

struct profile *profile_create(void);
void profile_destroy(struct profile *p); /* P may be NULL */
define_scoped(profile_destroy, struct profile);

/* Return P's own copy of S: the same pointer for equal strings, and NULL for NULL. */
const char *profile_intern(struct profile *p, const char *s);

/* Set KEY to VALUE. This replaces an earlier value. */
void profile_env_set(struct profile *p, const char *key, const char *value);
const char *profile_env_get(const struct profile *p, const char *key);
/* Return whether both profiles have the same build-id of the kernel; false if a profile has none. */
bool profile_same_kernel(const struct profile *a, const struct profile *b);
/* Return whether the emulator counted all instructions, without probes. Then a sample of P stands for one instruction. */
bool profile_is_exact(const struct profile *p);
/* Return whether probes disturbed RUN of P. */
bool profile_run_is_probed(const struct profile *p, const struct profile_run *run);
/* Return the number of P's runs that are not control runs. */
uint32_t profile_probed_runs(const struct profile *p);
/* Set a cost. This replaces an earlier cost of this mechanism and kind. */
void profile_cost_set(struct profile *p, enum profile_mechanism mech, enum profile_cost_kind kind,
		      double value, double spread);
/* Return all known costs of MECH as text, such as "inner=98+-1 full=332+-2", or NULL. The caller frees the text. */
char *profile_cost_text(const struct profile *p, enum profile_mechanism mech);

void profile_arg_add(struct profile *p, const char *arg);

/* These _add functions return the index of the new entry, or of an equal context, location or stack that exists. */
uint32_t profile_context_add(struct profile *p, const char *name);
bool profile_context_is(const struct profile *p, uint32_t context, enum profile_context_kind kind);
uint32_t profile_site_add(struct profile *p, const struct profile_site *site);
/* Return whether SITE's calls were counted, so that a missing cell means 0 calls. If not, SITE's probes were refused or lost. */
bool profile_site_is_counted(const struct profile *p, const struct profile_site *site);
/* Return whether SITE is in MODULE, or in the kernel's image if MODULE is NULL. */
bool profile_site_is_in(const struct profile_site *site, const char *module);
/* Return SITE's name for users: the function's, or "INLINED@FUNC" for an inlined function. The caller frees the name. */
char *profile_site_label(const struct profile_site *site);

/* Return whether SITE's name for users is LABEL. Several sites may have the same label. */
bool profile_site_has_label(const struct profile_site *site, const char *label);
/* Return "exited with status 3", "was killed by SIGSEGV" or the like. The caller frees the text. */
char *profile_run_end_text(const struct profile_run *run);
/* Return the signal's name, such as "SIGSEGV", which the caller frees, or NULL if RUN's command exited. */
char *profile_run_signal(const struct profile_run *run);
/* Add a run. All losses and both sample counts are NOT_COUNTED until they are set or profile_count_add() adds to them. */
uint32_t profile_run_add(struct profile *p, enum profile_run_kind kind);
uint32_t profile_stack_add(struct profile *p, const uint32_t *locations, uint32_t n);
/* Return the location of ADDR in MODULE (NULL: the kernel's image). If there is none, add one without frames. */
uint32_t profile_location_add(struct profile *p, uint64_t addr, const char *module);
void profile_location_frame_add(struct profile *p, uint32_t location,
				const struct profile_frame *frame);
void profile_report_add(struct profile *p, uint32_t run, const struct profile_report *report);
/* Add to the count of an equal sample (same run, context, stack and flags), or add a new entry. */
void profile_sample_add(struct profile *p, const struct profile_sample *sample);
/* Add to the count of an equal entry (same run, context and stack), or add a new entry. */
void profile_edge_add(struct profile *p, const struct profile_edge *edge);
void profile_executions_add(struct profile *p, const struct profile_edge *executions);

void profile_miss_add(struct profile *p, const struct profile_miss *miss);
void profile_object_add(struct profile *p, const struct profile_object *object);
/* Return the index of the event NAME. A new event is added. */
uint32_t profile_counter_add(struct profile *p, const char *name);
/* Set COST. This replaces an earlier cost of the same counter and mechanism. */
void profile_counter_cost_set(struct profile *p, const struct profile_counter_cost *cost);
/* Add to an equal entry (same run, site, context and counter), or add a new entry. */
void profile_counted_add(struct profile *p, const struct profile_counted *counted);

void profile_condition_set(struct profile *p, uint32_t location, const char *text);
/* Return the condition of the loop whose head is at LOCATION, or NULL if unknown. */
const char *profile_condition_of(const struct profile *p, uint32_t location);

/* Return the index of the variable with VARIABLE's site and name; add it if it is new. A site has at most PROFILE_VALUES_MAX. */
uint32_t profile_variable_add(struct profile *p, const struct profile_variable *variable);
/* Add CAPTURE to an equal entry (same run, site, context and values), or as a new one. First add all variables of the site. */
void profile_capture_add(struct profile *p, const struct profile_capture *capture);
/* Return an array of masks, which the caller frees. A site's mask has its K lowest bits set for K of P's first N variables. */
uint32_t *profile_site_variables(const struct profile *p, uint32_t n);
/* Add the recorded name TEXT. Return the value that stands for it: profile_name_value(). */
uint64_t profile_name_add(struct profile *p, const char *text);
/* Append V's VALUE: a number such as "28", or "0x1c" if BITS, or a name whose blanks ("\\x20") and backslashes are escaped. */
void profile_value_append(char **text, const struct profile *p, const struct profile_variable *v,
			  uint64_t value, bool bits);
/* Return the recorded name or context name whose profile_name_value() is VALUE, or NULL. */
const char *profile_name_of(const struct profile *p, uint64_t value);
/* Return the value that stands for the name TEXT: its FNV-1a hash. */
uint64_t profile_name_value(const char *text);

/* Return the cell of RUN, SITE and CONTEXT, valid until the next add. A new cell has errors and entries NOT_COUNTED. */
struct profile_stats *profile_cell(struct profile *p, uint32_t run, uint32_t site,
				   uint32_t context);
/* Return the cell of RUN, SITE and CONTEXT, or NULL. The pointer is valid until the next add. */
const struct profile_cell *profile_cell_find(const struct profile *p, uint32_t run, uint32_t site,
					     uint32_t context);

/* Add BLOCKS, take over its arrays, and return its index. */
uint32_t profile_blocks_add(struct profile *p, const struct profile_blocks *blocks);
/* Return the counts of RUN, BLOCKS and CONTEXT. New counts are 0. The pointer is valid until the next add. */
struct profile_block_counts *profile_block_counts(struct profile *p, uint32_t run, uint32_t blocks,
						  uint32_t context);

/* A set of strings. Each distinct string is kept once and numbered in order of arrival. Only profile/ uses this. */

struct profile_strings;

struct profile_strings *profile_strings_create(void);
void profile_strings_destroy(struct profile_strings *pool); /* POOL may be NULL */

/* Return the number of the string of LEN bytes at S, without NUL. A new string is copied. */
uint32_t profile_strings_add(struct profile_strings *pool, const char *s, size_t len);
/* Return the pool's copy of the string, which stays at its address until the pool is destroyed. */
const char *profile_strings_get(const struct profile_strings *pool, uint32_t number);
size_t profile_strings_length(const struct profile_strings *pool, uint32_t number);
uint32_t profile_strings_count(const struct profile_strings *pool);
