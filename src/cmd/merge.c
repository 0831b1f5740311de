// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "profile/file/file.h"
#include "profile/merge.h"

struct options {
	const char *output;
	bool force;
	char **files;
	uint32_t n_files, cap_files;
};

#define OPT_FORCE 256

static const struct argp_option argp_options[] = {
	{ "output", 'o', "OUT", 0, "Output file", 0 },
	{ "force", OPT_FORCE, NULL, 0, "Also merge recordings that do not belong together", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'o':
		options->output = arg;
		return 0;
	case OPT_FORCE:
		options->force = true;
		return 0;
	case ARGP_KEY_ARG:
		vec_push(options, files, arg);
		return 0;
	case ARGP_KEY_END:
		if (!options->output)
			argp_error(state, "no output file: give -o OUT");
		if (!options->n_files)
			argp_error(state, "no files to merge");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse,
	.args_doc = "-o OUT FILE...",
	.doc = "Combine recordings of the same work on several boots of one kernel.\v"
	       "Recordings of one boot count as runs of that boot; a recording of an unknown boot counts "
	       "as a boot of its own. Different kernels, configurations, commands or functions are "
	       "refused unless --force is given.",
};

/* A boot counted twice makes every interval too narrow, and nothing in the data shows it. */
static int refuse_twice(const struct options *options)
{
	struct stat *seen = alloc_array(options->n_files, sizeof(*seen));
	uint32_t i, j;
	int err = 0;

	for (i = 0; i < options->n_files && !err; i++) {
		if (stat(options->files[i], &seen[i]))
			continue; /* reading it will say why */
		for (j = 0; j < i; j++) {
			if (seen[i].st_dev == seen[j].st_dev && seen[i].st_ino == seen[j].st_ino &&
			    S_ISREG(seen[i].st_mode)) {
				log_error("%s is given twice", options->files[i]);
				err = -1;
				break;
			}
		}
	}
	free(seen);
	return err;
}

static int merge_file(const struct options *options, struct profile *merged, const char *file)
{
	struct profile *p;
	char *conflict;
	int err = profile_file_read(file, &p);

	if (err)
		return err;
	conflict = profile_merge_conflict(merged, p);
	if (conflict && !options->force) {
		log_error("%s cannot be merged with %s: %s; --force merges them anyway", file,
			  options->files[0], conflict);
		err = -1;
	} else {
		if (conflict)
			log_warn("%s does not match %s: %s", file, options->files[0], conflict);
		if (profile_merge(merged, p))
			log_note(
				"%s is of the same boot as another file: merged as further runs of it",
				file);
	}
	free(conflict);
	profile_destroy(p);
	return err;
}

int cmd_merge(int argc, char **argv)
{
	struct options options = { 0 };
	struct profile *merged = NULL;
	uint32_t i;
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	err = refuse_twice(&options);
	if (!err)
		err = profile_file_read(options.files[0], &merged);
	for (i = 1; i < options.n_files && !err; i++)
		err = merge_file(&options, merged, options.files[i]);
	if (!err)
		err = profile_file_write(merged, options.output);
	profile_destroy(merged);
	free(options.files);
	return err ? CMD_FAILED : CMD_DONE;
}
