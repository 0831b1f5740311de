// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "profile/file/file.h"
#include "profile/resolve.h"

static const struct cmd_syntax syntax = {
	.options = cmd_recordings_options,
	.args_doc = "FILE...",
	.doc = "Add the names of functions and inlined bodies, files and lines to recordings made "
	       "without them (KPROTPERF_RESOLVE_LATER), so that they can be read anywhere.",
	.operands = offsetof(struct cmd_recordings, files),
	.least = 1,
	.most = CMD_ANY_NUMBER,
	.too_few = "no FILE specified",
};

static int resolve_file(const char *path, const char *vmlinux)
{
	scoped(profile_destroy_at) struct profile *p = NULL;

	if (profile_file_read(path, &p) || profile_resolve(p, vmlinux))
		return -1;
	if (!profile_is_resolved(p)) {
		log_error("%s: no vmlinux with DWARF found for its kernel: specify one with "
			  "--vmlinux",
			  path);
		return -1;
	}
	return profile_file_write(p, path);
}

int cmd_resolve(int argc, char **argv)
{
	struct cmd_recordings o = {};
	int status = CMD_DONE;

	cmd_parse(&syntax, argc, argv, &o);
	for (int i = 0; o.files[i]; i++)
		if (resolve_file(o.files[i], o.vmlinux))
			status = CMD_FAILED;
	return status;
}
