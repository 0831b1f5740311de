// SPDX-License-Identifier: GPL-2.0-or-later
/* The commands `export` and `fold`: stacks of a recording, for other tools. */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "analyze/figures/accounting.h"
#include "analyze/inline/stacks.h"
#include "base/log.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/view.h"
#include "output/export/export.h"
#include "output/folded.h"

/* --- a recording and its stacks ---------------------------------------------------------------- */

struct stacked {
	const char *file;
	struct profile *p;
	struct analyze_stacks stacks;
};

static void stacked_close(struct stacked *s)
{
	analyze_stacks_deinit(&s->stacks);
	profile_destroy(s->p);
}

/* Return false, after a message, if the recording cannot be read. */
static bool stacked_open(struct stacked *s, const struct cmd_recordings *o)
{
	s->file = o->files ? *o->files : CMD_DEFAULT_FILE;
	s->p = view_open(s->file, o->vmlinux);
	if (!s->p)
		return false;
	return !analyze_stacks_add(&s->stacks, s->p, 0, 1);
}

/* --- export ------------------------------------------------------------------------------------ */

struct export_options {
	struct cmd_recordings recordings;
	const char *output;
	uint32_t format; /* index into export_formats; UINT32_MAX: not given */
};

static const struct cmd_option export_list[] = {
	{ "to", "FORMAT", CMD_SET(export_options, format), .choices = export_format_names },
	{ "output", "OUT", "Output file (default: standard output)",
	  CMD_SET(export_options, output), .short_name = 'o' },
	CMD_VMLINUX(export_options, recordings.vmlinux),
	{ 0 },
};

static void check_usage(void *o, struct argp_state *state)
{
	if (((const struct export_options *)o)->format == UINT32_MAX)
		argp_error(state, "no format specified: use --to=FORMAT");
}

static const struct cmd_syntax export_syntax = {
	.options = export_list,
	.args_doc = "--to=FORMAT [FILE]",
	.doc = "Convert a recording to the format of another tool.\vFILE is " CMD_DEFAULT_FILE
	       " by default. Stacks are as printed by fold: of samples or, for exact recordings, of "
	       "instructions. docs/exports.md describes what each tool shows.",
	.operands = offsetof(struct export_options, recordings.files),
	.most = 1,
	.too_many = "too many arguments: expected one file",
	.end = check_usage,
};

struct content {
	const struct export_format *format;
	const struct export *e;
};

static int write_file(int fd, const void *arg)
{
	const struct content *c = arg;
	int copy = dup(fd), err = 0;
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");

	if (!out)
		return -errno;
	c->format->write(out, c->e);
	if (fflush(out) || ferror(out))
		err = -(errno ?: EIO);
	fclose(out);
	return err;
}

static int write_to(const struct content *c, const char *path)
{
	int err;

	if (!path) {
		if (c->format->binary && isatty(STDOUT_FILENO)) {
			log_error("not writing a binary format to a terminal: use -o OUT");
			return CMD_FAILED;
		}
		c->format->write(stdout, c->e);
		return CMD_DONE;
	}
	err = output_replace(
		path, &(struct output){
			      .content = write_file, .arg = c, .mode = 0666, .invokers = true });
	if (err)
		log_error("cannot write %s: %s", path, output_strerror(err));
	return err ? CMD_FAILED : CMD_DONE;
}

int cmd_export(int argc, char **argv)
{
	struct export_options o = { .format = UINT32_MAX };
	scoped(stacked_close) struct stacked s = { 0 };
	scoped(export_deinit) struct export e = { 0 };
	const struct export_format *format;

	cmd_parse(&export_syntax, argc, argv, &o);
	format = &export_formats[o.format];
	if (!stacked_open(&s, &o.recordings))
		return CMD_FAILED;
	export_init(&e, s.p, &s.stacks);
	if (e.n_leaves)
		return write_to(&(struct content){ format, &e }, o.output);
	log_error(VIEW_NO_SAMPLES, s.file);
	return CMD_FAILED;
}

/* --- fold ------------------------------------------------------------------------------------- */

struct fold_options {
	struct cmd_recordings recordings;
	bool svg;
};

static const struct cmd_option fold_list[] = {
	{ "svg", NULL, "Write a flame graph as SVG, for a browser: click to zoom, Ctrl-F to search",
	  CMD_SET(fold_options, svg) },
	CMD_VMLINUX(fold_options, recordings.vmlinux),
	{ 0 },
};

static const struct cmd_syntax fold_syntax = {
	.options = fold_list,
	.args_doc = "[FILE]",
	.doc = "Print the samples of a recording as folded stacks, for flamegraph.pl, or draw them.\v"
	       "FILE is " CMD_DEFAULT_FILE " by default. The root of each stack is the syscall or "
	       "context it was sampled in; _[k] marks kernel functions, _[i] inlined ones.",
	.operands = offsetof(struct fold_options, recordings.files),
	.most = 1,
	.too_many = "too many arguments: expected one file (diff --fold compares two)",
};

static void warn_of_losses(const struct profile *p)
{
	enum profile_loss loss = PROFILE_LOSS_SAMPLES_NOT_RECEIVED;
	struct analyze_losses losses;
	scoped_free char *words = NULL;

	analyze_losses_sum(&losses, p);
	words = profile_loss_text(loss, (double)losses.counts[loss]);
	if (losses.counts[loss] && losses.counts[loss] != PROFILE_NOT_COUNTED)
		log_warn("%" PRIu64 " %s", losses.counts[loss], words);
}

int cmd_fold(int argc, char **argv)
{
	struct fold_options o = { 0 };
	scoped(stacked_close) struct stacked s = { 0 };
	scoped(export_deinit) struct export e = { 0 };

	cmd_parse(&fold_syntax, argc, argv, &o);
	if (!stacked_open(&s, &o.recordings))
		return CMD_FAILED;
	if (!s.stacks.n_rows) {
		log_error(VIEW_NO_SAMPLES, s.file);
		return CMD_FAILED;
	}
	warn_of_losses(s.p);
	if (o.svg) {
		export_init(&e, s.p, &s.stacks);
		export_write_svg(stdout, &e);
	} else {
		output_folded_write(stdout, &s.stacks, 1);
	}
	return CMD_DONE;
}
