// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/explain.h"

#include "analyze/why/guard.h"
#include "base/alloc.h"
#include "cmd/cmd.h"
#include "cmd/view.h"
#include "profile/resolve.h"

static void parse_patch(void *patches, char *arg, struct argp_state *state)
{
	if (!*arg)
		argp_error(state, "--patch needs a file");
	if (why_patches_add(patches, arg))
		exit(CMD_FAILED);
}

static const struct cmd_option options[] = {
	{ "patch", "FILE",
	  "Name the lines of this patch that are in the code of a cause (the hardened kernel is the baseline with this patch); may be repeated",
	  .parse = parse_patch },
	{ 0 },
};

const struct cmd_syntax cmd_patches_syntax = { .options = options };

/* Compare the code of the functions that make the difference, the static keys in it, and its conditions. */
static void compare_code(struct why *w, const struct profile *const p[2])
{
	struct kernel_image *images[2] = {};
	struct kernel_index *indexes[2] = {};
	struct analyze_changes *changes = NULL;
	struct kernel_build_id ids[2];
	bool one_kernel = profile_same_kernel(p[0], p[1]), found = true;

	for (int i = 0; i < 2; i++)
		profile_build_id(p[i], &ids[i]);
	for (int i = one_kernel; i < 2; i++) {
		images[i] = view_open_image(p[i]);
		found &= images[i] && kernel_image_has_symtab(images[i]);
	}
	analyze_static_keys_init(&w->keys, p[0], p[1], images[1]);
	for (int i = 0; i < 2 && found && !one_kernel; i++)
		found = !kernel_index_get(&ids[i], images[i], &indexes[i]);
	if (one_kernel)
		why_compare_code(w, NULL);
	else if (found && !analyze_changes_create(images, indexes, &changes))
		why_compare_code(w, changes);
	if (images[1])
		why_guards_find(w, p[1], images[1]);
	analyze_changes_destroy(changes);
	for (int i = 0; i < 2; i++) {
		kernel_index_destroy(indexes[i]);
		kernel_image_destroy(images[i]);
	}
}

/* Find the static keys that differ and, if there are any, the functions that test them. */
static void find_static_keys(struct why *w, const struct profile *const p[2])
{
	struct kernel_image *img;

	analyze_static_keys_init(&w->keys, p[0], p[1], NULL);
	if (!w->keys.n_rows)
		return;
	analyze_static_keys_deinit(&w->keys);
	img = view_open_image(p[1]);
	analyze_static_keys_init(&w->keys, p[0], p[1], img);
	kernel_image_destroy(img);
}

void cmd_explain(struct why *w, const struct profile *const p[2], const struct analyze_diff *diff,
		 struct why_patches *patches)
{
	why_init(w, p[0], p[1]);
	if (w->tree.has_callers) {
		compare_code(w, p);
	} else {
		find_static_keys(w, p);
		why_set_command(w, diff);
	}
	why_set_patches(w, patches);
}
