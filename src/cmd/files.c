// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/alloc.h"
#include "cmd/cmd.h"

enum {
	KEY_VMLINUX = 256
};

static const struct argp_option options[] = { { "vmlinux", KEY_VMLINUX, "FILE", 0,
						"vmlinux of the recorded kernel" },
					      {} };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct cmd_files *o = state->input;

	switch (key) {
	case KEY_VMLINUX:
		o->vmlinux = arg;
		return 0;
	case ARGP_KEY_ARG:
		vec_push(o, files, arg);
		return 0;
	case ARGP_KEY_END:
		if (o->n_files < o->min || o->n_files > o->max)
			argp_error(state, "takes %s", state->root_argp->args_doc);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = { .options = options, .parser = parse };

const struct argp_child cmd_files_argp[] = { { &argp, 0, NULL, 0 }, {} };
