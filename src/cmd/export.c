// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <unistd.h>

#include "analyze/inline/stacks.h"
#include "base/log.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/view.h"
#include "output/export/export.h"

struct options {
	struct cmd_recordings recordings;
	const char *output;
	uint32_t format; /* in export_formats, + 1 */
};

static void parse_format(void *o, char *arg, struct argp_state *state)
{
	((struct options *)o)->format = 1 + cmd_choose(state, "to", export_format_names, arg);
}

static char *format_help(const void *o)
{
	(void)o;
	return cmd_choices_text(export_format_names);
}

static const struct cmd_option options[] = {
	{ "to", "FORMAT", .help_of = format_help, .parse = parse_format },
	{ "output", "OUT", "Output file (default: standard output)", CMD_SET(options, output),
	  .short_name = 'o' },
	{ "vmlinux", "FILE", "vmlinux of the recorded kernel, for names",
	  CMD_SET(options, recordings.vmlinux) },
	{ 0 },
};

static void check_usage(void *o, struct argp_state *state)
{
	if (!((const struct options *)o)->format)
		argp_error(state, "no format: give --to=FORMAT");
}

static const struct cmd_syntax syntax = {
	.options = options,
	.args_doc = "--to=FORMAT [FILE]",
	.doc = "Write a recording in the format of another tool.\v"
	       "FILE is " CMD_DEFAULT_FILE
	       " by default. All but openmetrics have its stacks, as fold does: samples, or of an exact "
	       "recording instructions. docs/exports.md says what each tool shows.",
	.operands = offsetof(struct options, recordings.files),
	.most = 1,
	.too_many = "takes one file",
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
			log_error("this format is not for a terminal: give -o OUT");
			return CMD_FAILED;
		}
		c->format->write(stdout, c->e);
		return CMD_DONE;
	}
	err = output_replace(
		path, &(struct output){
			      .content = write_file, .arg = c, .mode = 0644, .invokers = true });
	if (err)
		log_error("cannot write %s: %s", path, output_strerror(err));
	return err ? CMD_FAILED : CMD_DONE;
}

int cmd_export(int argc, char **argv)
{
	struct options o = { 0 };
	struct analyze_stacks stacks = { 0 };
	int status = CMD_FAILED;
	const char *file;
	struct profile *p;
	struct export e;

	cmd_parse(&syntax, argc, argv, &o);
	file = o.recordings.files ? *o.recordings.files : CMD_DEFAULT_FILE;
	p = view_open(file, o.recordings.vmlinux);
	if (!p)
		return CMD_FAILED;
	if (analyze_stacks_add(&stacks, p, 0, 1, NULL))
		goto out;
	export_init(&e, p, &stacks);
	/* Figures of calls there are without samples. */
	if (!e.n_leaves && export_formats[o.format - 1].write != export_write_openmetrics)
		log_error(VIEW_NO_SAMPLES, file);
	else
		status = write_to(&(struct content){ &export_formats[o.format - 1], &e }, o.output);
	export_deinit(&e);
out:
	analyze_stacks_deinit(&stacks);
	profile_destroy(p);
	return status;
}
