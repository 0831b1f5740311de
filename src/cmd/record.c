// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "cmd/cmd.h"
#include "record/exact.h"
#include "record/session.h"

enum {
	KEY_ATTACH = 256,
	KEY_VMLINUX,
	KEY_NO_RESOLVE,
	KEY_CONTROL_RUN,
	KEY_WARMUP,
	KEY_MAX_TASKS,
	KEY_MAX_OVERHEAD,
	KEY_PROTECTION,
	KEY_BLOCKS,
	KEY_CALLEES,
	KEY_EXACT,
	KEY_USER
};

static const struct argp_option options[] = {
	{ "func", 'f', "FUNC", 0,
	  "Time calls of this kernel function; a name or a glob ('*slab*'), may be repeated" },
	{ "range", 'R', "INLINED[@FUNC]", 0,
	  "Time this inlined function, in FUNC or wherever it is inlined; names or globs, may be "
	  "repeated" },
	{ "blocks", KEY_BLOCKS, "FUNC", 0,
	  "Time this function and count executions of each of its basic blocks; may be repeated" },
	{ "callees", KEY_CALLEES, NULL, 0,
	  "Also time what the functions of --blocks call, which makes their self times exact" },
	{ "protection", KEY_PROTECTION, "NAME", 0,
	  "Time the functions and inlined bodies that carry this protection's cost, and record its "
	  "state (see kprotperf list --protections); may be repeated" },
	{ "freq", 'F', "HZ", 0, "Samples per second and CPU (default 997; 0: none)" },
	{ "repeat", 'r', "N", 0,
	  "Run the command N times, recording each run separately (default 1; 0 with --control-run)" },
	{ "output", 'o', "FILE", 0, "Output file (default " CMD_DEFAULT_FILE ")" },
	{ "system-wide", 'a', NULL, 0, "Measure all tasks, while CMD runs or until Ctrl-C" },
	{ "pid", 'p', "PID", 0,
	  "Measure this process and its future children, until it ends or Ctrl-C" },
	{ "warmup", KEY_WARMUP, "N", 0,
	  "First run the command N times unmeasured, to warm caches up (default 0)" },
	{ "control-run", KEY_CONTROL_RUN, NULL, 0,
	  "First run the command once without probes, to measure how much they slow it down" },
	{ "attach", KEY_ATTACH, "HOW", 0,
	  "Probe mechanism: auto (default), fentry, multi or kprobe" },
	{ "vmlinux", KEY_VMLINUX, "FILE", 0, "vmlinux of the running kernel, for names and lines" },
	{ "no-resolve", KEY_NO_RESOLVE, NULL, 0,
	  "Do not look up names; report and fold do if they find the vmlinux" },
	{ "max-tasks", KEY_MAX_TASKS, "N", 0,
	  "Maximum number of tasks followed at once (default 4096)" },
	{ "max-overhead", KEY_MAX_OVERHEAD, "PCT", 0,
	  "While CMD runs, detach the busiest functions if probes on functions take more than PCT "
	  "percent of its CPU time (default: never)" },
	{ "exact", KEY_EXACT, NULL, 0,
	  "Probe nothing: the lab's emulator counts every instruction (scripts/lab run --exact)" },
	{ "user", KEY_USER, "USER", 0,
	  "With sudo: run CMD as root (USER is 'root') and not as who invoked it (the default: 'invoker')" },
	{ "verbose", 'v', NULL, 0, "Print more; twice: also the verifier's log" },
	{}
};

static int parse_number(struct argp_state *state, const char *arg, int min, int max)
{
	uint64_t n = 0;

	if (!number_unsigned(arg, (uint64_t)min, (uint64_t)max, &n))
		argp_error(state, "'%s' is not a number from %d to %d", arg, min, max);
	return (int)n;
}

static double parse_percent(struct argp_state *state, const char *arg)
{
	double pct = 0;

	if (!number_double(arg, 0, 100, &pct) || pct == 0)
		argp_error(state,
			   "--max-overhead takes a percentage above 0 and up to 100, not '%s'",
			   arg);
	return pct;
}

static const struct catalogue_protection *parse_protection(struct argp_state *state,
							   const char *arg)
{
	const struct catalogue_protection *protection = catalogue_find(arg);

	if (!protection)
		argp_error(state, "unknown protection '%s'; see kprotperf list --protections", arg);
	return protection;
}

static enum record_attach parse_attach(struct argp_state *state, const char *arg)
{
	static const char *const names[] = {
		[RECORD_ATTACH_AUTO] = "auto",
		[RECORD_ATTACH_FENTRY] = "fentry",
		[RECORD_ATTACH_MULTI] = "multi",
		[RECORD_ATTACH_KPROBE] = "kprobe",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(arg, names[i]))
			return i;
	argp_error(state, "--attach is auto, fentry, multi or kprobe, not '%s'", arg);
	return RECORD_ATTACH_AUTO;
}

static bool parse_user(struct argp_state *state, const char *arg)
{
	if (strcmp(arg, "root") && strcmp(arg, "invoker"))
		argp_error(state, "--user is root or invoker, not '%s'", arg);
	return !strcmp(arg, "root");
}

static void check_usage(struct argp_state *state, const struct record_options *o)
{
	if (o->exact &&
	    (!o->argv || o->system_wide || o->repeat > 1 || o->warmup || o->control_run))
		argp_error(
			state,
			"--exact counts one run of a command, and takes no -a, -r, --warmup or --control-run");
	if (o->callees && !o->blocks.n_items)
		argp_error(state, "--callees needs --blocks");
	if (o->system_wide && o->pid)
		argp_error(state, "-a and -p are mutually exclusive");
	if (o->pid && o->argv)
		argp_error(state, "-p measures a running process and takes no command");
	if (!o->argv && !o->system_wide && !o->pid)
		argp_error(state, "nothing to measure: give a command after --, -a, or -p PID");
	if (o->max_overhead > 0 && o->ranges.n_items)
		argp_error(state, "--max-overhead cannot detach probes of --range");
	if (o->control_run && (o->system_wide || o->pid))
		argp_error(state, "--control-run needs a command");
	if (!o->repeat && !o->control_run)
		argp_error(state, "--repeat=0 needs --control-run");
	if (o->warmup && (o->system_wide || o->pid))
		argp_error(state, "--warmup needs a command, and does not work with -a");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record_options *o = state->input;

	switch (key) {
	case 'f':
		record_names_add(&o->functions, arg);
		break;
	case 'R':
		record_names_add(&o->ranges, arg);
		break;
	case KEY_BLOCKS:
		record_names_add(&o->blocks, arg);
		break;
	case KEY_CALLEES:
		o->callees = true;
		break;
	case KEY_PROTECTION:
		vec_push(o, protections, parse_protection(state, arg));
		break;
	case 'F':
		o->freq = parse_number(state, arg, 0, 100000);
		break;
	case 'r':
		o->repeat = parse_number(state, arg, 0, 100000);
		break;
	case 'o':
		o->output = arg;
		break;
	case 'a':
		o->system_wide = true;
		break;
	case 'p':
		o->pid = parse_number(state, arg, 1, 1 << 22);
		break;
	case KEY_WARMUP:
		o->warmup = parse_number(state, arg, 0, 100000);
		break;
	case KEY_CONTROL_RUN:
		o->control_run = true;
		break;
	case KEY_ATTACH:
		o->attach = parse_attach(state, arg);
		break;
	case KEY_VMLINUX:
		o->vmlinux = arg;
		break;
	case KEY_NO_RESOLVE:
		o->no_resolve = true;
		break;
	case KEY_MAX_TASKS:
		o->max_tasks = parse_number(state, arg, 16, 60000);
		break;
	case KEY_MAX_OVERHEAD:
		o->max_overhead = parse_percent(state, arg);
		break;
	case KEY_USER:
		o->keep_root = parse_user(state, arg);
		break;
	case 'v':
		o->verbose++;
		break;
	case KEY_EXACT:
		o->exact = true;
		break;
	case ARGP_KEY_ARGS:
		o->argv = state->argv + state->next;
		break;
	case ARGP_KEY_END:
		check_usage(state, o);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int cmd_record(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "[-- CMD [ARG…]]",
		"Measure what CMD and everything it starts do in the kernel: syscalls, page faults, the given "
		"functions, and samples of where time is spent."
	};
	struct record_options o = {
		.output = CMD_DEFAULT_FILE,
		.freq = 997,
		.repeat = 1,
	};
	int status;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o);
	log_set_verbosity(o.verbose);
	status = o.exact ? record_exact(&o) : record_session(&o);
	record_names_deinit(&o.functions);
	free(o.protections);
	record_names_deinit(&o.ranges);
	record_names_deinit(&o.blocks);
	return status;
}
