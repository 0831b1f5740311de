// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/view.h"
#include "profile/file/file.h"
#include "profile/resolve.h"
#include "view/changes.h"

struct changes_options {
	struct view_request request;
	char **files;
};

static const struct cmd_option options[] = { { 0 } };

static const struct cmd_syntax syntax = {
	.options = options,
	.args_doc = "BASELINE HARDENED",
	.doc = "Print what differs in the code of two kernels: functions in only one of them, "
	       "renamed functions, functions with different code, structures with a different "
	       "layout, and different initial values; for two recordings also static keys.\vEach "
	       "argument is a vmlinux or a recording, whose kernel is found by its build-id. "
	       "Addresses, line numbers, new names of renamed functions and the placement of "
	       "blocks are ignored; differences in registers or structure offsets only are "
	       "reported as such. --format=json and csv are described in docs/json.md.",
	.operands = offsetof(struct changes_options, files),
	.least = 2,
	.most = 2,
	.too_few = "BASELINE and HARDENED are required: each a vmlinux or a recording",
	.too_many = "too many arguments: expected two kernels",
	.parts =
		(const struct cmd_part[]){
			{ &view_syntax, offsetof(struct changes_options, request) },
			{ 0 },
		},
};

static bool is_elf(const char *path)
{
	char magic[4] = "";
	int fd = file_open(path, false);
	ssize_t n = fd < 0 ? 0 : read(fd, magic, sizeof(magic));

	if (fd >= 0)
		close(fd);
	return n == sizeof(magic) && !memcmp(magic, "\177ELF", sizeof(magic));
}

/* One of the two kernels: a vmlinux file, or a recording and its kernel's vmlinux. */
struct side {
	struct profile *p; /* NULL for a vmlinux file */
	struct kernel_image *img;
	struct kernel_index *index;
};

static void open_recorded(const char *path, struct side *s)
{
	scoped_free char *why_not = NULL;

	if (profile_file_read(path, &s->p))
		return;
	if (!profile_image(s->p, NULL, &s->img, &why_not) && !s->img)
		log_error("%s: no vmlinux found for its kernel: pass the vmlinux instead (%s)",
			  path, why_not);
}

static bool open_side(const char *path, struct side *s)
{
	int err;

	if (!is_elf(path))
		open_recorded(path, s);
	else if (kernel_image_open(path, &s->img))
		s->img = NULL;
	if (!s->img)
		return false;
	if (!kernel_image_has_symtab(s->img)) {
		log_error("%s has no symbol table, so its functions are unknown: pass the vmlinux "
			  "with debug symbols",
			  kernel_image_path(s->img));
		return false;
	}
	err = kernel_index_get(NULL, s->img, &s->index);
	if (err)
		log_error("cannot read %s: %s", kernel_image_path(s->img), log_strerror(err));
	return !err;
}

int cmd_changes(int argc, char **argv)
{
	struct changes_options o = { .request.list = &view_changes_list };
	struct side sides[2] = {};
	struct view_changes v = { 0 };
	struct analyze_changes *c = NULL;
	int status = CMD_FAILED;

	cmd_parse(&syntax, argc, argv, &o);
	if (!open_side(o.files[0], &sides[0]) || !open_side(o.files[1], &sides[1]))
		goto out;
	for (int i = 0; i < 2; i++)
		v.images[i] = sides[i].img;
	if (analyze_changes_create(
		    v.images, (struct kernel_index *[]){ sides[0].index, sides[1].index }, &c)) {
		log_error("%s, %s: only x86-64 code can be read", o.files[0], o.files[1]);
		goto out;
	}
	v.functions = analyze_changes_all(c, &v.n_functions, &v.n_same);
	analyze_structs_init(&v.structs, v.images);
	analyze_variables_init(&v.variables, c);
	if (sides[0].p && sides[1].p)
		analyze_static_keys_init(&v.keys, sides[0].p, sides[1].p, sides[1].img);
	view_write(&o.request, &v);
	status = CMD_DONE;
out:
	analyze_static_keys_deinit(&v.keys);
	analyze_variables_deinit(&v.variables);
	analyze_structs_deinit(&v.structs);
	analyze_changes_destroy(c);
	for (int i = 0; i < 2; i++) {
		kernel_index_destroy(sides[i].index);
		kernel_image_destroy(sides[i].img);
		profile_destroy(sides[i].p);
	}
	free(o.request.sections);
	return status;
}
