// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "exact/counts.h"
#include "profile/conditions.h"
#include "profile/file/file.h"
#include "profile/resolve.h"

static const struct cmd_syntax syntax = {
	.options = cmd_recordings_options,
	.args_doc = "FILE SYMBOLS COUNTS",
	.doc = "Add the counts of the lab's emulator to FILE, a recording made by record --exact. "
	       "scripts/lab run --exact runs this command itself.",
	.operands = offsetof(struct cmd_recordings, files),
	.least = 3,
	.most = 3,
	.too_few = "FILE, SYMBOLS and COUNTS are required",
	.too_many = "too many arguments: expected FILE, SYMBOLS and COUNTS",
};

static int add_counts(const struct cmd_recordings *o, struct profile *p)
{
	struct kernel_kallsyms *ks;
	scoped(kernel_index_destroy_at) struct kernel_index *idx = NULL;
	int err = kernel_kallsyms_load(o->files[1], &ks);

	if (err)
		return err;
	err = profile_index(p, o->vmlinux, &idx) ?: exact_counts_read(p, o->files[2], ks, idx);
	if (!err) {
		profile_resolve_kallsyms(p, ks);
		if (idx)
			profile_resolve_index(p, idx);
		profile_resolve_modules(p);
		profile_resolve_conditions(p, o->vmlinux);
	}
	kernel_kallsyms_destroy(ks);
	return err;
}

int cmd_exact(int argc, char **argv)
{
	struct cmd_recordings o = {};
	scoped(profile_destroy_at) struct profile *p = NULL;
	int err;

	cmd_parse(&syntax, argc, argv, &o);
	err = profile_file_read(o.files[0], &p);
	if (!err && p->n_runs != 1) {
		log_error("%s: not a recording made by record --exact", o.files[0]);
		err = -1;
	}
	err = err ?: add_counts(&o, p);
	err = err ?: profile_file_write(p, o.files[0]);
	return err ? CMD_FAILED : CMD_DONE;
}
