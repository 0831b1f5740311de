// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/why.h"

#include <string.h>

#include "analyze/diff/diff.h"
#include "analyze/diff/renames.h"
#include "analyze/why/why.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/view.h"
#include "profile/resolve.h"
#include "view/why.h"

#define N_FILES 4 /* maximum: two exact recordings, then two recordings with probes */

struct why_options {
	struct view_options view;
	const char *plan;
	vec_of(const char *, contexts); /* names of contexts; empty: the whole command */
	struct why_patches patches;
	char **files;
};

static int count(char **files)
{
	int n = 0;

	while (files[n])
		n++;
	return n;
}

static void parse_context(void *input, const struct cmd_argument *argument)
{
	struct why_options *o = input;

	vec_push(o, contexts, argument->text);
}

static const struct cmd_option options[] = {
	{ "context", "NAME",
	  "Explain the change of this syscall or other context instead of the whole command's; may be "
	  "repeated",
	  .parse = parse_context },
	{ "plan", "FILE",
	  "Write what to time to check the answer with probes, for record --plan=FILE",
	  CMD_SET(why_options, plan) },
	{ 0 },
};

static void check_usage(void *input, struct argp_state *state)
{
	const struct why_options *o = input;

	if (count(o->files) == 3)
		argp_error(state, "specify probed recordings for both sides or for neither");
	if (o->n_contexts > 1 &&
	    (o->plan || view_writers[o->view.request.format].place == VIEW_IN_CSV))
		argp_error(state, "--plan and --format=csv are for one --context");
}

static const struct cmd_syntax syntax = {
	.options = options,
	.args_doc = "BASELINE HARDENED [PROBED-BASELINE PROBED-HARDENED]",
	.doc = "Find which function's code makes one kernel execute more than the other. Exact "
	       "recordings (scripts/lab ab --exact) know all code, others the functions that were "
	       "timed.\vdocs/why.md explains how causes are found.",
	.operands = offsetof(struct why_options, files),
	.least = 2,
	.most = N_FILES,
	.too_few = "two files are required: BASELINE and HARDENED",
	.too_many = "too many arguments: expected at most four files",
	.end = check_usage,
	.parts =
		(const struct cmd_part[]){
			{ &view_recordings_syntax, offsetof(struct why_options, view) },
			{ &cmd_patches_syntax, offsetof(struct why_options, patches) },
			{ 0 },
		},
};

/* Return CMD_DONE if the recordings can be compared with these options; otherwise CMD_FAILED after a message. */
static int check_recordings(const struct why_options *o, struct profile *const p[])
{
	bool exact = profile_is_exact(p[0]);

	if (!why_can_tell(p[0], p[1]))
		log_error(
			"%s and %s are not recordings of one kind with any calls: record both with "
			"the same options",
			o->files[0], o->files[1]);
	else if (!exact && (o->plan || p[2]))
		log_error("%s is not an exact recording (scripts/lab ab --exact): --plan and "
			  "a check by probes need those",
			  o->files[0]);
	else
		return CMD_DONE;
	return CMD_FAILED;
}

/* Return the context NAME, or NULL after a message. */
static const struct why_context *find_context(const struct why *w, const char *name)
{
	for (uint32_t i = 0; i < w->n_contexts; i++)
		if (!strcmp(w->contexts[i].name, name))
			return &w->contexts[i];
	log_error("--context: neither side has '%s'", name);
	return NULL;
}

/* Write a plan that times functions around the largest cause, as one glob: some functions may be impossible to time. */
static int write_plan(const struct view_why *w, const char *path)
{
	const char *names[WHY_PROBED];
	uint32_t n = w->main ? why_probed_functions(&w->why.pair, w->main, names) : 0;
	scoped_free char *text = alloc_strdup(n ? "--func=@(" : "");

	for (uint32_t i = 0; i < n; i++)
		alloc_append(&text, "%s%s", names[i], i + 1 < n ? "|" : ")\n");
	return output_replace_text(path, text);
}

static void why_view_deinit(struct view_why *w)
{
	analyze_diff_deinit(&w->diff);
	varies_shifts_deinit(&w->shifts);
	analyze_misses_deinit(&w->misses);
	analyze_warnings_deinit(&w->warnings);
	why_deinit(&w->why);
}

static int explain_context(const struct why_options *o, struct view_why *w,
			   const struct why_context *of, struct profile *const p[N_FILES])
{
	const struct profile *const exact[] = { p[0], p[1] }, *const probed[] = { p[2], p[3] };

	w->of = of;
	w->main = of && of->is_command ? why_main_context(&w->why) : of;
	w->checked = p[2] && of;
	if (w->checked && why_check_init(&w->check, &w->why.pair, w->main, exact, probed))
		return CMD_FAILED;
	if (o->plan && write_plan(w, o->plan))
		return CMD_FAILED;
	view_write(&o->view.request, w);
	return CMD_DONE;
}

static int explain(struct why_options *o, struct profile *const p[N_FILES])
{
	scoped_free const struct why_context **of = alloc_array(o->n_contexts + 1, sizeof(*of));
	int status = CMD_DONE;
	scoped(why_view_deinit) struct view_why w = {
		.common = { p[0]->clock, NULL, { p[0], p[1] }, &w.warnings },
		.files = { o->files[0], o->files[1] }
	};

	if (!profile_is_exact(p[0]) &&
	    analyze_diff_init(&w.diff, p[0], p[1], &(struct analyze_options){}))
		return CMD_FAILED;
	cmd_explain(&w.why, w.common.p, &w.diff, &o->patches);
	analyze_misses_init(&w.misses, p[0], p[1], ANALYZE_MISSES_BY_FUNCTION);
	analyze_warnings_of_pair(&w.warnings, p[0], p[1], NULL, false);
	if (p[2])
		varies_shifts_init(&w.shifts, p[2], p[3]);
	of[0] = w.why.n_contexts ? &w.why.command : NULL;
	for (uint32_t i = 0; i < o->n_contexts; i++) {
		of[i] = find_context(&w.why, o->contexts[i]);
		if (!of[i])
			return CMD_FAILED;
	}
	status = explain_context(o, &w, of[0], p);
	for (uint32_t i = 1; i < o->n_contexts && status == CMD_DONE; i++) {
		if (view_writers[o->view.request.format].place == VIEW_IN_PAGE)
			putchar('\n');
		status = explain_context(o, &w, of[i], p);
	}
	return status;
}

int cmd_why(int argc, char **argv)
{
	struct why_options o = { .view.request.list = &view_why_list };
	scoped(analyze_renames_deinit) struct analyze_renames renames = {};
	struct profile *p[N_FILES] = {};
	int status = CMD_DONE;

	cmd_parse(&syntax, argc, argv, &o);
	for (int i = 0; o.files[i] && status == CMD_DONE; i++) {
		p[i] = view_open(o.files[i], NULL);
		if (!p[i])
			status = CMD_FAILED;
	}
	if (status == CMD_DONE)
		status = check_recordings(&o, p);
	if (status == CMD_DONE) {
		analyze_renames_apply(&renames, p[0], p[1]);
		status = explain(&o, p);
	}
	for (int i = 0; i < N_FILES; i++)
		profile_destroy(p[i]);
	why_patches_deinit(&o.patches);
	free(o.contexts);
	free(o.view.request.sections);
	return status;
}

/* ---- explain ---- */

static void parse_patch(void *patches, const struct cmd_argument *argument)
{
	if (!*argument->text)
		argp_error(argument->state, "--patch needs a file");
	if (why_patches_add(patches, argument->text))
		exit(CMD_FAILED);
}

static const struct cmd_option explain_options[] = {
	{ "patch", "FILE",
	  "Name the lines of this patch that are in the code of a cause (the hardened kernel is the baseline with this patch); may be repeated",
	  .parse = parse_patch },
	{ 0 },
};

const struct cmd_syntax cmd_patches_syntax = { .options = explain_options };

/* Open the image of P's kernel, found by its build-id; for kernel_image_destroy(). Return NULL, not reported, if none is found. */
static struct kernel_image *open_image(const struct profile *p)
{
	struct kernel_image *img = NULL;
	scoped_free char *why_not = NULL;

	if (profile_image(p, NULL, &img, &why_not))
		img = NULL;
	return img;
}

/* Find reasons for the difference: changed code of the functions that cause it, changed static keys, and conditions of calls. */
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
		images[i] = open_image(p[i]);
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

/* Find the static keys that differ. If there are any, open the kernel image to find the functions that test them. */
static void find_static_keys(struct why *w, const struct profile *const p[2])
{
	struct kernel_image *img;

	analyze_static_keys_init(&w->keys, p[0], p[1], NULL);
	if (!w->keys.n_rows)
		return;
	analyze_static_keys_deinit(&w->keys);
	img = open_image(p[1]);
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
