// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/types.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "kprotperf/engine.h"
#include "record/auto.h"
#include "record/collect/collect.h"
#include "record/probe/probes.h"
#include "record/session.h"

#define PLAN_BYTES (1 << 20)

/* Add a name to the struct record_names at the option's offset. */
static void parse_name(void *o, const struct cmd_argument *argument)
{
	record_names_add((void *)((char *)o + argument->option->offset), argument->text);
}

/* Options for names, which may also be lines of a plan. */
#define NAMES(field) .parse = parse_name, .offset = offsetof(struct record_options, field)
static const struct {
	const char *prefix;
	size_t offset;
} plan_lines[] = { { "--func=", offsetof(struct record_options, functions) },
		   { "--range=", offsetof(struct record_options, ranges) },
		   { "--blocks=", offsetof(struct record_options, blocks) },
		   { "--capture=", offsetof(struct record_options, captures) } };

/* Parse the options in a plan file, one per line. The options keep pointers into its text, which is never freed. */
static void parse_plan(void *o, const struct cmd_argument *argument)
{
	char *text, *line;
	size_t n, length;
	int err = file_read(argument->text, PLAN_BYTES, &text, &length);

	if (err)
		argp_failure(argument->state, CMD_USAGE, -err, "cannot read the plan %s",
			     argument->text);
	while ((line = strsep(&text, "\n"))) {
		for (n = 0; n < ARRAY_SIZE(plan_lines); n++)
			if (!strncmp(line, plan_lines[n].prefix, strlen(plan_lines[n].prefix)))
				break;
		if (n < ARRAY_SIZE(plan_lines))
			record_names_add((void *)((char *)o + plan_lines[n].offset),
					 line + strlen(plan_lines[n].prefix));
		else if (*line)
			argp_error(argument->state, "--plan: invalid line in %s: %s",
				   argument->text, line);
	}
}

static void parse_syscall(void *input, const struct cmd_argument *argument)
{
	struct record_options *o = input;
	char *name, *rest = argument->text;

	while ((name = strsep(&rest, ","))) {
		scoped_free char *guess = NULL;

		if (!record_context_keep(&o->left_out, name, &guess))
			argp_error(argument->state, "no syscall '%s'%s", name, guess);
		alloc_append(&o->syscalls, "%s%s", o->syscalls ? "," : "", name);
	}
}

static void parse_events(void *input, const struct cmd_argument *argument)
{
	struct record_options *o = input;
	struct record_event event;
	char *name, *rest = argument->text;

	while ((name = strsep(&rest, ","))) {
		if (!record_event_find(name, &event))
			argp_error(argument->state,
				   "no event '%s': --event takes perf's names of hardware, "
				   "cache and software events (perf list), and raw ones (r1a8)",
				   name);
		if (o->n_events == ENGINE_COUNTERS)
			argp_error(argument->state, "--event counts up to %d events at once",
				   ENGINE_COUNTERS);
		vec_push(o, events, event);
	}
}

static void parse_cgroup(void *input, const struct cmd_argument *argument)
{
	struct record_options *o = input;

	o->cgroup = argument->text;
	o->system_wide = true;
}

static void parse_protection(void *input, const struct cmd_argument *argument)
{
	const struct catalogue_protection *protection = catalogue_find(argument->text);
	struct record_options *o = input;

	if (!protection)
		argp_error(argument->state, "%s", catalogue_unknown(argument->text));
	vec_push(o, protections, protection);
}

static void parse_verbose(void *o, const struct cmd_argument *argument)
{
	(void)argument;
	((struct record_options *)o)->verbose++;
}

#define DEFAULT_FREQ 997
#define FREQ_UNSET   UINT32_MAX

static const char *const user_names[] = { "invoker", "root", NULL };

static const struct cmd_option options[] = {
	{ "func", "FUNC",
	  "Time calls of this kernel function: a name, a glob ('*slab*') or alternatives, some of "
	  "which may be missing ('@(new_slab|allocate_slab)'); may be repeated",
	  NAMES(functions), .short_name = 'f' },
	{ "range", "INLINED[@FUNC]",
	  "Time this inlined function where it is inlined into FUNC (also of a module), or without "
	  "@FUNC wherever the core kernel inlines it; names or globs; may be repeated",
	  NAMES(ranges), .short_name = 'R' },
	{ "blocks", "FUNC",
	  "Time this function and count how often each of its basic blocks is executed; may be "
	  "repeated",
	  NAMES(blocks) },
	{ "context", NULL,
	  "Capture the numbers that functions take, read and return, and names of slab caches; see "
	  "report --why-varies",
	  CMD_SET(record_options, context) },
	{ "capture", "[FUNC:]EXPR",
	  "Capture this value at each call: an argument, 'return', a variable, 'current', 'cpu', "
	  "'uid', 'cgroup' or a syscall argument ('sys.nfds'); members of it or of what it points "
	  "to ('s->oo.x'), including names ('current->comm', 'dev->name'); or bits of any of these "
	  "('flags & __GFP_ZERO'); may be repeated",
	  NAMES(captures) },
	{ "protection", "NAME",
	  "Time the functions and inlined bodies where this protection costs time, and record its "
	  "state (see kprotperf list --protections); may be repeated",
	  .parse = parse_protection },
	{ "syscall", "NAME[,...]",
	  "Measure only these syscalls ('compat:NAME' for those of 32-bit programs), and functions "
	  "and samples in them; may be repeated",
	  .parse = parse_syscall },
	{ "plan", "FILE", "Time what FILE lists, as written by kprotperf why --plan",
	  .parse = parse_plan },
	{ "auto", NULL,
	  "Choose what to time: run CMD several times, first unprobed, sampled and counted, then "
	  "timed",
	  CMD_SET(record_options, automatic) },
	{ "budget", "N",
	  "With --auto: limit all runs together to the CPU time of N runs, plus 5 % for probes "
	  "(default 4)",
	  CMD_SET(record_options, budget), .min = 4, .max = 1000 },
	{ "write-plan", "FILE",
	  "With --auto: write the choice to FILE, for record --plan on the other kernel",
	  CMD_SET(record_options, write_plan) },
	{ "freq", "HZ", "Samples per second on each CPU (default 997; 0: none)",
	  CMD_SET(record_options, freq), .max = 100000, .short_name = 'F' },
	{ "repeat", "N",
	  "Run the command N times, recording each run separately (default 1; 0 allowed with "
	  "--control-run)",
	  CMD_SET(record_options, repeat), .max = 100000, .short_name = 'r' },
	{ "event", "NAME[,...]",
	  "Count these events with each call, by perf's names: cycles, cache-misses, "
	  "dTLB-load-misses, page-faults, r1a8 (up to 4; functions by fentry; no samples)",
	  .parse = parse_events },
	{ "output", "FILE", "Output file (default " CMD_DEFAULT_FILE ")",
	  CMD_SET(record_options, output), .short_name = 'o' },
	{ "system-wide", NULL, "Measure all tasks while CMD runs, or until Ctrl-C",
	  CMD_SET(record_options, system_wide), .short_name = 'a' },
	{ "cgroup", "PATH",
	  "Measure only the tasks in this cgroup (v2) and its descendants; implies -a. PATH is its "
	  "directory, or a path relative to the cgroup root",
	  .parse = parse_cgroup },
	{ "pid", "PID", "Measure this process and its future children until it ends or Ctrl-C",
	  CMD_SET(record_options, pid), .min = 1, .max = 1 << 22, .short_name = 'p' },
	{ "duration", "TIME",
	  "End the recording, or each run of a command (by SIGTERM), after TIME (10s, 500ms, 2m; "
	  "without a unit: seconds)",
	  CMD_SET(record_options, duration) },
	{ "warmup", "N",
	  "First run the command N times without measuring, to warm up caches (default 0)",
	  CMD_SET(record_options, warmup), .max = 100000 },
	{ "control-run", NULL,
	  "First run the command once without probes, to measure how much probes slow it down",
	  CMD_SET(record_options, control_run) },
	{ "attach", "HOW", "Probe mechanism: auto (default), fentry, multi or kprobe",
	  CMD_SET(record_options, attach), .choices = record_attach_names },
	{ "vmlinux", "FILE", "vmlinux of the running kernel, for names and lines",
	  CMD_SET(record_options, vmlinux) },
	{ "max-tasks", "N", "Maximum number of tasks followed at once (default 4096)",
	  CMD_SET(record_options, max_tasks), .min = 16, .max = 60000 },
	{ "exact", NULL,
	  "Attach no probes: the lab's emulator counts every instruction (scripts/lab run "
	  "--exact)",
	  CMD_SET(record_options, exact) },
	{ "user", "USER",
	  "With sudo: run CMD as root ('root') or as the user who invoked sudo ('invoker', the "
	  "default)",
	  CMD_SET(record_options, keep_root), .choices = user_names },
	{ "verbose", NULL, "Print more; given twice, also the verifier's log",
	  .parse = parse_verbose, .short_name = 'v' },
	{ 0 },
};

static void check_usage(void *input, struct argp_state *state)
{
	const struct record_options *o = input;
	const struct {
		bool is_wrong;
		const char *why;
	} uses[] = {
		{ o->n_events &&
			  (o->exact || o->automatic || o->ranges.n_items || o->blocks.n_items ||
			   o->context || o->captures.n_items || o->n_protections ||
			   (o->attach &&
			    !profile_mechanism(record_attach_mechanism(o->attach))->counted)),
		  "--event counts with the probes of syscalls and fentry: it cannot be combined with --exact, --auto, --protection, --range, --blocks, --context, --capture or another --attach" },
		{ o->n_events && o->freq && o->freq != FREQ_UNSET,
		  "--event would count the sampler's interrupts: it cannot be combined with --freq" },
		{ o->exact && o->left_out,
		  "--exact counts all syscalls, and times none: it cannot be combined with --syscall" },
		{ o->exact && (!o->argv || o->system_wide || o->repeat > 1 || o->warmup ||
			       o->control_run),
		  "--exact counts one run of a command: it cannot be combined with -a, -r, --warmup or --control-run" },
		{ o->automatic && (!o->argv || o->system_wide || o->exact || !o->freq ||
				   o->repeat != 1 || o->ranges.n_items),
		  "--auto runs a command several times: it cannot be combined with -a, -r, -R, --exact or --freq=0" },
		{ o->write_plan && !o->automatic, "--write-plan needs --auto" },
		{ (o->context || o->captures.n_items) && !o->functions.n_items &&
			  !o->blocks.n_items && !o->n_protections,
		  "--context and --capture need functions: --func, --blocks or --protection" },
		{ o->system_wide && o->pid, "-p cannot be combined with -a or --cgroup" },
		{ o->pid && o->argv, "-p measures a running process: it takes no command" },
		{ !o->argv && !o->system_wide && !o->pid,
		  "nothing to measure: specify a command after --, -a, or -p PID" },
		{ o->control_run && (o->system_wide || o->pid), "--control-run needs a command" },
		{ !o->repeat && !o->control_run, "--repeat=0 needs --control-run" },
		{ o->warmup && (o->system_wide || o->pid),
		  "--warmup needs a command and cannot be combined with -a" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(uses); i++)
		if (uses[i].is_wrong)
			argp_error(state, "%s", uses[i].why);
}

static const struct cmd_syntax syntax = {
	.options = options,
	.args_doc = "[-- CMD [ARG...]]",
	.doc = "Measure what CMD and everything it starts do in the kernel: syscalls, page faults, "
	       "calls of the given functions, and samples of where time is spent.",
	.operands = offsetof(struct record_options, argv),
	.most = CMD_ANY_NUMBER,
	.end = check_usage,
	.in_order = true,
};

int cmd_record(int argc, char **argv)
{
	struct record_options o = {
		.output = CMD_DEFAULT_FILE,
		.freq = FREQ_UNSET,
		.repeat = 1,
		.budget = 4,
	};
	int status;

	cmd_parse(&syntax, argc, argv, &o);
	log_set_verbosity(o.verbose);
	/* Report a missing library before the measurement. */
	decoder_destroy(decoder_create());
	if (o.freq == FREQ_UNSET)
		o.freq = o.n_events ? 0 : DEFAULT_FREQ;
	if (o.n_events)
		o.attach = record_attach_counting();
	status = o.automatic ? record_auto(&o) : o.exact ? record_exact(&o) : record_session(&o);
	record_names_deinit(&o.functions);
	free(o.protections);
	free(o.left_out);
	free(o.syscalls);
	free(o.events);
	record_names_deinit(&o.ranges);
	record_names_deinit(&o.captures);
	record_names_deinit(&o.blocks);
	return status;
}
