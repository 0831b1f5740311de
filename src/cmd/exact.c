// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "exact/counts.h"
#include "profile/file/file.h"
#include "profile/resolve.h"

enum {
	KEY_VMLINUX = 256
};

struct exact_options {
	const char *vmlinux;
	const char *files[3];
	int n_files;
};

static const struct argp_option options[] = { { "vmlinux", KEY_VMLINUX, "FILE", 0,
						"vmlinux of the recorded kernel" },
					      {} };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct exact_options *o = state->input;

	switch (key) {
	case KEY_VMLINUX:
		o->vmlinux = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (o->n_files == 3)
			argp_error(state, "more than FILE, SYMBOLS and COUNTS");
		else
			o->files[o->n_files++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (o->n_files < 3)
			argp_error(state, "FILE, SYMBOLS and COUNTS are needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The index of P's kernel; NULL: it is not to be had. */
static struct kernel_index *open_index(const struct profile *p, const char *vmlinux)
{
	struct kernel_index *idx = NULL;
	struct kernel_image *img = NULL;
	struct kernel_build_id id;
	char *why_not = NULL;

	profile_build_id(p, &id);
	if (id.len && !kernel_index_get(&id, NULL, &idx))
		return idx;
	if (!profile_image(p, vmlinux, &img, &why_not) && img && kernel_index_get(&id, img, &idx))
		idx = NULL;
	kernel_image_destroy(img);
	free(why_not);
	return idx;
}

static int add_counts(const struct exact_options *o, struct profile *p)
{
	struct kernel_kallsyms *ks;
	struct kernel_index *idx;
	int err = kernel_kallsyms_load(o->files[1], &ks);

	if (err)
		return err;
	idx = open_index(p, o->vmlinux);
	err = exact_counts_read(p, o->files[2], ks, idx);
	if (!err) {
		profile_resolve_kallsyms(p, ks);
		if (idx)
			profile_resolve_index(p, idx);
		profile_resolve_modules(p);
	}
	kernel_index_destroy(idx);
	kernel_kallsyms_destroy(ks);
	return err;
}

int cmd_exact(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "FILE SYMBOLS COUNTS",
		"Add what the lab's emulator counted to FILE, a recording by record --exact. scripts/lab run --exact does "
		"all of it."
	};
	struct exact_options o = {};
	struct profile *p;
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	err = profile_file_read(o.files[0], &p);
	if (err)
		return CMD_FAILED;
	if (p->n_runs != 1) {
		log_error("%s: is no recording by record --exact", o.files[0]);
		err = -1;
	}
	err = err ?: add_counts(&o, p);
	err = err ?: profile_file_write(p, o.files[0]);
	profile_destroy(p);
	return err ? CMD_FAILED : CMD_DONE;
}
