// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "kernel/debuginfo/index.h"

struct index_options {
	bool beside;
	char **files;
};

static const struct cmd_option options[] = {
	{ "beside", NULL, "Store the index next to the vmlinux instead of in the user's cache",
	  CMD_SET(index_options, beside) },
	{ 0 },
};

static const struct cmd_syntax syntax = {
	.options = options,
	.args_doc = "VMLINUX...",
	.doc = "Create the index of a kernel's inlined bodies, functions and lines if there is "
	       "none yet, and print its path. Other commands create it when they first need it; "
	       "create it in advance for a kernel that runs in a guest.",
	.operands = offsetof(struct index_options, files),
	.least = 1,
	.most = CMD_ANY_NUMBER,
	.too_few = "no VMLINUX specified",
};

/* Return the path for storing the index of IMG, for free(); NULL, after a message: the index cannot be stored. */
static char *place_for(struct kernel_image *img, bool beside)
{
	const char *path = kernel_image_path(img);
	char *place;

	if (!kernel_image_has_dwarf(img)) {
		log_error("%s has no DWARF: build the kernel with CONFIG_DEBUG_INFO", path);
		return NULL;
	}
	if (beside)
		return kernel_index_beside_path(path);
	place = kernel_index_cache_path(kernel_image_build_id(img));
	if (!place)
		log_error("%s has no build-id, under which its index would be stored: use "
			  "--beside",
			  path);
	return place;
}

static int make_index(struct kernel_image *img, const char *place)
{
	scoped(kernel_index_destroy_at) struct kernel_index *idx;
	int err;

	/* Keep an index that is undamaged and of the current version. */
	if (!kernel_index_open(place, kernel_image_build_id(img), &idx))
		return 0;
	err = kernel_index_build(img, &idx);
	if (!err)
		err = kernel_index_write(idx, place);
	if (err)
		log_error("cannot write %s, the index of %s: %s", place, kernel_image_path(img),
			  output_strerror(err));
	return err;
}

static int index_file(const char *path, bool beside)
{
	scoped(kernel_image_destroy_at) struct kernel_image *img;
	scoped_free char *place = NULL;
	int err = kernel_image_open(path, &img);

	if (!err) {
		place = place_for(img, beside);
		err = place ? make_index(img, place) : -EINVAL;
	}
	if (!err)
		puts(place);
	return err;
}

int cmd_index(int argc, char **argv)
{
	struct index_options o = {};
	int status = CMD_DONE;

	cmd_parse(&syntax, argc, argv, &o);
	for (int i = 0; o.files[i]; i++)
		if (index_file(o.files[i], o.beside))
			status = CMD_FAILED;
	return status;
}
