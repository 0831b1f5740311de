// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "symbol/index.h"

enum {
	KEY_BESIDE = 256
};

struct index_options {
	bool beside;
	char **files;
	uint32_t n_files, cap_files;
};

static const struct argp_option options[] = {
	{ "beside", KEY_BESIDE, NULL, 0, "Keep it beside the vmlinux, not in the user's cache" },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct index_options *o = state->input;

	switch (key) {
	case KEY_BESIDE:
		o->beside = true;
		return 0;
	case ARGP_KEY_ARG:
		vec_push(o, files, arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "of which VMLINUX?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Where the index of IMG belongs. For free(); NULL, having said why, where it cannot be kept. */
static char *place_for(struct symbol_image *img, bool beside)
{
	const char *path = symbol_image_path(img);
	char *place;

	if (!symbol_image_has_dwarf(img)) {
		log_error("%s has no DWARF: build it with CONFIG_DEBUG_INFO", path);
		return NULL;
	}
	if (beside)
		return symbol_index_beside_path(path);
	place = symbol_index_cache_path(symbol_image_build_id(img));
	if (!place)
		log_error("%s has no build-id to keep its index under: try --beside", path);
	return place;
}

static int make_index(struct symbol_image *img, const char *place)
{
	struct symbol_index *idx;
	int err;

	/* Nothing to do where it is there already, of this version and whole. */
	if (!symbol_index_open(place, symbol_image_build_id(img), &idx)) {
		symbol_index_destroy(idx);
		return 0;
	}
	err = symbol_index_build(img, &idx);
	if (!err)
		err = symbol_index_write(idx, place);
	if (err)
		log_error("cannot make %s, the index of %s: %s", place, symbol_image_path(img),
			  log_strerror(err));
	symbol_index_destroy(idx);
	return err;
}

static int index_file(const char *path, bool beside)
{
	struct symbol_image *img;
	char *place = NULL;
	int err = symbol_image_open(path, &img);

	if (!err) {
		place = place_for(img, beside);
		err = place ? make_index(img, place) : -EINVAL;
	}
	if (!err)
		puts(place);
	free(place);
	symbol_image_destroy(img);
	return err;
}

int cmd_index(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "VMLINUX…",
		"Makes the index of inlined bodies, functions and lines of a kernel, where it is not there "
		"yet, and prints its path. All commands make it when they first need it; this is for before "
		"that, as where the kernel runs in a guest."
	};
	struct index_options o = {};
	int status = CMD_DONE;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	for (uint32_t i = 0; i < o.n_files; i++)
		if (index_file(o.files[i], o.beside))
			status = CMD_FAILED;
	free(o.files);
	return status;
}
