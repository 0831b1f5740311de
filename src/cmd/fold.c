// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/inline/stacks.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/view.h"
#include "output/export/export.h"
#include "output/folded.h"

struct options {
	struct cmd_recordings recordings;
	bool svg;
};

static const struct cmd_option options[] = {
	{ "svg", NULL,
	  "Draw a flame graph: a page for a browser, where a click zooms and Ctrl-F searches",
	  CMD_SET(options, svg) },
	{ "vmlinux", "FILE", "vmlinux of the recorded kernel, for names",
	  CMD_SET(options, recordings.vmlinux) },
	{ 0 },
};

static const struct cmd_syntax syntax = {
	.options = options,
	.args_doc = "[FILE]",
	.doc = "Print the samples of a recording as folded stacks, for flamegraph.pl, or draw them.\v"
	       "FILE is " CMD_DEFAULT_FILE " by default. The root of each stack is the syscall or "
	       "context it was sampled in; _[k] marks kernel functions, _[i] inlined ones.",
	.operands = offsetof(struct options, recordings.files),
	.most = 1,
	.too_many = "takes one file; diff --fold compares two",
};

static void write_svg(const struct profile *p, const struct analyze_stacks *stacks)
{
	scoped(export_deinit) struct export e;

	export_init(&e, p, stacks);
	export_write_svg(stdout, &e);
}

int cmd_fold(int argc, char **argv)
{
	struct options o = { 0 };
	struct analyze_stacks stacks = { 0 };
	const char *file;
	struct profile *p;
	int status = CMD_FAILED;

	cmd_parse(&syntax, argc, argv, &o);
	file = o.recordings.files ? *o.recordings.files : CMD_DEFAULT_FILE;
	p = view_open(file, o.recordings.vmlinux);
	if (!p)
		return CMD_FAILED;
	if (analyze_stacks_add(&stacks, p, 0, 1, NULL))
		goto out;
	if (!stacks.n_rows) {
		log_error(VIEW_NO_SAMPLES, file);
		goto out;
	}
	if (o.svg)
		write_svg(p, &stacks);
	else
		output_folded_write(stdout, &stacks, 1);
	status = CMD_DONE;
out:
	analyze_stacks_deinit(&stacks);
	profile_destroy(p);
	return status;
}
