// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/cmd.h"
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
	KEY_CALLEES
};

static const struct argp_option options[] = {
	{ "func", 'f', "FUNC", 0,
	  "Time the calls of this kernel function; a name or a glob ('*slab*'), may be repeated" },
	{ "range", 'R', "INLINED[@FUNC]", 0,
	  "Time this inlined function, in FUNC or wherever its code is part of another's; names or globs, "
	  "may be repeated" },
	{ "blocks", KEY_BLOCKS, "FUNC", 0,
	  "Time this function, and count how often each of its basic blocks is executed; may be repeated" },
	{ "callees", KEY_CALLEES, NULL, 0,
	  "Time what the functions of --blocks call, too, so that their self times are their own" },
	{ "protection", KEY_PROTECTION, "NAME", 0,
	  "Time the functions and inlined bodies that carry this protection's cost, and note its state "
	  "(kprotperf list --protections); may be repeated" },
	{ "freq", 'F', "HZ", 0, "Samples a second on each CPU (default 997; 0: none)" },
	{ "repeat", 'r', "N", 0, "Run the command N times, each run kept apart (default 1)" },
	{ "output", 'o', "FILE", 0, "Where to (default " CMD_DEFAULT_FILE ")" },
	{ "system-wide", 'a', NULL, 0, "All tasks, while CMD runs or until Ctrl-C" },
	{ "pid", 'p', "PID", 0, "This process and its future children, until it ends or Ctrl-C" },
	{ "warmup", KEY_WARMUP, "N", 0,
	  "Run the command N times before everything else, not measured, to fill caches (default 0)" },
	{ "control-run", KEY_CONTROL_RUN, NULL, 0,
	  "Run the command once more, first and without probes, to see what probing costs it" },
	{ "attach", KEY_ATTACH, "HOW", 0, "auto (default), fentry, multi or kprobe" },
	{ "vmlinux", KEY_VMLINUX, "FILE", 0, "The running kernel's vmlinux, for names and lines" },
	{ "no-resolve", KEY_NO_RESOLVE, NULL, 0,
	  "Leave names for later: report and fold resolve them where the vmlinux is" },
	{ "max-tasks", KEY_MAX_TASKS, "N", 0, "Tasks followed at once (default 4096)" },
	{ "max-overhead", KEY_MAX_OVERHEAD, "PCT", 0,
	  "Detach the busiest functions while CMD runs if all their probes take more than this of its "
	  "CPU time (default: never)" },
	{ "verbose", 'v', NULL, 0, "Say more; twice: the verifier's log too" },
	{}
};

static int parse_number(struct argp_state *state, const char *arg, long min, long max)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(arg, &end, 10);
	if (errno || end == arg || *end || n < min || n > max)
		argp_error(state, "'%s' is not a number from %ld to %ld", arg, min, max);
	return n;
}

static double parse_percent(struct argp_state *state, const char *arg)
{
	char *end;
	double pct = strtod(arg, &end);

	if (end == arg || *end || !(pct > 0 && pct <= 100))
		argp_error(state, "--max-overhead takes percent, above 0 and up to 100, not '%s'",
			   arg);
	return pct;
}

static const struct catalogue_protection *parse_protection(struct argp_state *state,
							   const char *arg)
{
	const struct catalogue_protection *protection = catalogue_find(arg);

	if (!protection)
		argp_error(state, "no protection '%s'; kprotperf list --protections names them",
			   arg);
	return protection;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record_options *o = state->input;

	switch (key) {
	case 'f':
		vec_push(o, functions, arg);
		break;
	case 'R':
		vec_push(o, ranges, arg);
		break;
	case KEY_BLOCKS:
		vec_push(o, blocks, arg);
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
		o->repeat = parse_number(state, arg, 1, 100000);
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
		if (!strcmp(arg, "auto"))
			o->attach = RECORD_ATTACH_AUTO;
		else if (!strcmp(arg, "fentry"))
			o->attach = RECORD_ATTACH_FENTRY;
		else if (!strcmp(arg, "multi"))
			o->attach = RECORD_ATTACH_MULTI;
		else if (!strcmp(arg, "kprobe"))
			o->attach = RECORD_ATTACH_KPROBE;
		else
			argp_error(state, "--attach is auto, fentry, multi or kprobe, not '%s'",
				   arg);
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
	case 'v':
		o->verbose++;
		break;
	case ARGP_KEY_ARGS:
		o->argv = state->argv + state->next;
		break;
	case ARGP_KEY_END:
		if (o->callees && !o->n_blocks)
			argp_error(state, "--callees goes with --blocks");
		if (o->system_wide && o->pid)
			argp_error(state, "-a and -p exclude each other");
		if (o->pid && o->argv)
			argp_error(state, "-p measures a running process: it takes no command");
		if (!o->argv && !o->system_wide && !o->pid)
			argp_error(state,
				   "what to measure? Give a command after --, or -a, or -p PID");
		if (o->max_overhead > 0 && o->n_ranges)
			argp_error(state, "--max-overhead cannot take probes of --range away");
		if (o->control_run && (o->system_wide || o->pid))
			argp_error(state, "--control-run needs a command to run");
		if (o->warmup && (o->system_wide || o->pid))
			argp_error(state, "--warmup needs a command to run, without -a");
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
		"Measures what CMD, and all it starts, does in the kernel: syscalls, page faults, the "
		"functions named, and samples of where the time goes."
	};
	struct record_options o = {
		.output = CMD_DEFAULT_FILE,
		.freq = 997,
		.repeat = 1,
	};
	int status;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o);
	log_set_verbosity(o.verbose);
	status = record_session(&o);
	free(o.functions);
	free(o.protections);
	free(o.ranges);
	free(o.blocks);
	return status;
}
