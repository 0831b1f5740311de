// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/inline/stacks.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/view.h"
#include "output/folded.h"

static const struct cmd_syntax syntax = {
	.options = cmd_recordings_options,
	.args_doc = "[FILE]",
	.doc = "Print the samples of a recording as folded stacks, for flamegraph.pl.\v"
	       "FILE is " CMD_DEFAULT_FILE " by default. The root of each stack is the syscall or "
	       "context it was sampled in; _[k] marks kernel functions, _[i] inlined ones.",
	.operands = offsetof(struct cmd_recordings, files),
	.most = 1,
	.too_many = "takes one file; diff --fold compares two",
};

int cmd_fold(int argc, char **argv)
{
	struct cmd_recordings o = { 0 };
	struct analyze_stacks stacks = { 0 };
	const char *file;
	struct profile *p;
	int status = CMD_FAILED;

	cmd_parse(&syntax, argc, argv, &o);
	file = o.files ? *o.files : CMD_DEFAULT_FILE;
	p = view_open(file, o.vmlinux);
	if (!p)
		return CMD_FAILED;
	if (analyze_stacks_add(&stacks, p, 0, 1, NULL))
		goto out;
	if (!stacks.n_rows) {
		log_error(VIEW_NO_SAMPLES, file);
		goto out;
	}
	output_folded_write(stdout, &stacks, 1);
	status = CMD_DONE;
out:
	analyze_stacks_deinit(&stacks);
	profile_destroy(p);
	return status;
}
