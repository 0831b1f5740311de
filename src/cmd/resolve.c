// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "profile/file/file.h"
#include "profile/resolve.h"

enum {
	KEY_VMLINUX = 256
};

struct resolve_options {
	const char *vmlinux;
	char **files;
	uint32_t n_files, cap_files;
};

static const struct argp_option options[] = { { "vmlinux", KEY_VMLINUX, "FILE", 0,
						"vmlinux of the recorded kernel" },
					      {} };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct resolve_options *o = state->input;

	switch (key) {
	case KEY_VMLINUX:
		o->vmlinux = arg;
		return 0;
	case ARGP_KEY_ARG:
		vec_push(o, files, arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no FILE given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int resolve_file(const char *path, const char *vmlinux)
{
	struct profile *p;
	int err;

	err = profile_file_read(path, &p);
	if (err)
		return err;
	err = profile_resolve(p, vmlinux);
	if (!err && !profile_is_resolved(p)) {
		log_error("%s: found no vmlinux with DWARF of its kernel: give one with --vmlinux",
			  path);
		err = -1;
	}
	if (!err)
		err = profile_file_write(p, path);
	profile_destroy(p);
	return err;
}

int cmd_resolve(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "FILE…",
		"Add names of functions and inlined bodies, files and lines to recordings made without "
		"them (record --no-resolve), which can then be read anywhere."
	};
	struct resolve_options o = {};
	int status = CMD_DONE;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	for (uint32_t i = 0; i < o.n_files; i++)
		if (resolve_file(o.files[i], o.vmlinux))
			status = CMD_FAILED;
	free(o.files);
	return status;
}
