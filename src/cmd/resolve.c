// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <stdlib.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "profile/file/file.h"
#include "profile/resolve.h"

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
		.args_doc = "FILE…",
		.doc = "Add names of functions and inlined bodies, files and lines to recordings made without "
		       "them (record --no-resolve), which can then be read anywhere.",
		.children = cmd_files_argp,
	};
	struct cmd_files o = { .min = 1, .max = UINT32_MAX };
	int status = CMD_DONE;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	for (uint32_t i = 0; i < o.n_files; i++)
		if (resolve_file(o.files[i], o.vmlinux))
			status = CMD_FAILED;
	free(o.files);
	return status;
}
