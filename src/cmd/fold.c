// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>

#include "analyze/inline/stacks.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/view.h"
#include "output/folded.h"

struct options {
	const char *file, *vmlinux;
};

enum {
	KEY_VMLINUX = 256
};

static const struct argp_option argp_options[] = {
	{ "vmlinux", KEY_VMLINUX, "FILE", 0, "vmlinux of the recorded kernel, for names" },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case KEY_VMLINUX:
		o->vmlinux = arg;
		break;
	case ARGP_KEY_ARG:
		if (o->file)
			argp_error(state, "takes one file; diff --fold compares two");
		o->file = arg;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse,
	.args_doc = "[FILE]",
	.doc = "Print the samples of a recording as folded stacks, for flamegraph.pl.\v"
	       "FILE is " CMD_DEFAULT_FILE " by default. The root of each stack is the syscall or "
	       "context it was sampled in; _[k] marks kernel functions, _[i] inlined ones.",
};

int cmd_fold(int argc, char **argv)
{
	struct options o = { 0 };
	struct analyze_stacks stacks = { 0 };
	struct profile *p;
	int status = CMD_FAILED;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	p = view_open(o.file, o.vmlinux);
	if (!p)
		return CMD_FAILED;
	if (analyze_stacks_add(&stacks, p, 0, 1))
		goto out;
	if (!stacks.n_rows) {
		log_error(VIEW_NO_SAMPLES, o.file ? o.file : CMD_DEFAULT_FILE);
		goto out;
	}
	output_folded_write(stdout, &stacks, 1);
	status = view_finish();
out:
	analyze_stacks_deinit(&stacks);
	profile_destroy(p);
	return status;
}
