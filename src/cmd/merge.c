// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/sorted.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "profile/file/file.h"
#include "profile/merge.h"

struct options {
	const char *output;
	bool force;
	char **files;
};

static const struct cmd_option options[] = {
	{ "output", "OUT", "Output file", CMD_SET(options, output), .short_name = 'o' },
	{ "force", NULL, "Merge even recordings that do not belong together",
	  CMD_SET(options, force) },
	{ 0 },
};

static void check_usage(void *o, struct argp_state *state)
{
	if (!((const struct options *)o)->output)
		argp_error(state, "no output file specified: use -o OUT");
}

static const struct cmd_syntax syntax = {
	.options = options,
	.args_doc = "-o OUT FILE...",
	.doc = "Combine recordings of the same work on several boots of one kernel.\vRecordings "
	       "from the same boot count as runs of that boot; a recording from an unknown boot "
	       "counts as a boot of its own. Recordings with different kernels, configurations, "
	       "commands or functions are refused unless --force is given.",
	.operands = offsetof(struct options, files),
	.least = 1,
	.most = CMD_ANY_NUMBER,
	.too_few = "no files to merge",
	.end = check_usage,
};

struct named {
	char **at; /* the file's name on the command line */
	dev_t dev;
	ino_t ino;
};

define_compare(named_compare, struct named,
	       compare_values(a->dev, b->dev) ?:
		       (compare_values(a->ino, b->ino) ?: compare_values(a->at, b->at)));

/* Refuse a file given twice. Counting a boot twice makes all intervals too narrow, and the result does not show it. */
static int refuse_twice(char **files)
{
	struct {
		vec_of(struct named, items);
	} named = {};
	int err = 0;

	for (; *files; files++) {
		struct stat st;

		/* If stat() fails, reading the file reports the error. */
		if (!stat(*files, &st) && S_ISREG(st.st_mode))
			vec_push(&named, items, ((struct named){ files, st.st_dev, st.st_ino }));
	}
	sort_array(named.items, named.n_items, sizeof(*named.items), named_compare);
	for (uint32_t i = 1; i < named.n_items && !err; i++) {
		const struct named *a = &named.items[i - 1], *b = a + 1;

		if (a->dev == b->dev && a->ino == b->ino) {
			log_error("%s is specified twice", *b->at);
			err = -1;
		}
	}
	free(named.items);
	return err;
}

static int merge_file(const struct options *o, struct profile *merged, const char *file)
{
	scoped(profile_destroy_at) struct profile *p = NULL;
	scoped_free char *conflict = NULL;
	int err = profile_file_read(file, &p);

	if (err)
		return err;
	conflict = profile_merge_conflict(merged, p);
	if (conflict && !o->force) {
		log_error("%s cannot be merged with %s: %s (--force merges them anyway)", file,
			  o->files[0], conflict);
		return -1;
	}
	if (conflict)
		log_warn("%s does not match %s: %s", file, o->files[0], conflict);
	if (profile_merge(merged, p))
		log_note("%s is from the same boot as another file: merged as further runs of that "
			 "boot",
			 file);
	return 0;
}

int cmd_merge(int argc, char **argv)
{
	struct options o = { 0 };
	scoped(profile_destroy_at) struct profile *merged = NULL;
	int err;

	cmd_parse(&syntax, argc, argv, &o);
	err = refuse_twice(o.files);
	if (!err)
		err = profile_file_read(o.files[0], &merged);
	for (int i = 1; o.files[i] && !err; i++)
		err = merge_file(&o, merged, o.files[i]);
	if (!err)
		err = profile_file_write(merged, o.output);
	return err ? CMD_FAILED : CMD_DONE;
}
