// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/annotated.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/sorted.h"
#include "cmd/cmd.h"
#include "profile/resolve.h"
#include "kernel/image/kallsyms.h"
#include "kernel/image/kcore.h"
#include "kernel/image/name.h"

static const char *const colors[] = { "auto", "always", "never", NULL };

static const struct cmd_option options[] = {
	{ "all", NULL, "Show all code, not only code with samples",
	  CMD_SET(annotated_options, all) },
	{ "color", "WHEN", "Use color: auto (default), always or never",
	  CMD_SET(annotated_options, color), .choices = colors },
	{ "context", "CONTEXT",
	  "Show samples of this syscall or context only (clone, [page_fault])",
	  CMD_SET(annotated_options, context) },
	{ "source", "DIR", "The kernel's source tree, if not where the kernel was built",
	  CMD_SET(annotated_options, source) },
	{ 0 },
};

const struct cmd_syntax annotated_syntax = { .options = options };

/* --- images and their code ------------------------------------------------------------------- */

static bool is_running(const struct annotated *f)
{
	struct kernel_build_id id;

	return !(f->module ? kernel_module_build_id(f->module, &id) :
			     kernel_build_id_read(KERNEL_NOTES_PATH, &id)) &&
	       kernel_build_id_equal(&id, kernel_image_build_id(f->image));
}

/* Return the address of MODULE (NULL: the kernel's image) in the running kernel; 0: unknown. */
static uint64_t base_of(const struct kernel_kallsyms *ks, const char *module)
{
	vec_each(const struct kernel_sym, sym, ks, syms)
		if (module && sym->module && !strcmp(sym->module, module))
			return kernel_kallsyms_base(ks, sym);
	return module ? 0 : ks->stext;
}

/* Open the code of F's image. Read it from memory if the recorded kernel is running and this user may read its memory. */
static int open_code(struct annotated *f)
{
	struct kernel_live live = {};
	int err;

	if (is_running(f) && !kernel_kcore_open(KERNEL_KCORE_PATH, &f->kcore) &&
	    !kernel_kallsyms_load(KERNEL_KALLSYMS_PATH, &f->ks))
		live = (struct kernel_live){ f->kcore, base_of(f->ks, f->module), f->ks };
	if (!live.base) {
		kernel_kcore_destroy(f->kcore);
		live.kcore = f->kcore = NULL;
	}
	err = kernel_code_create(f->image, &live, &f->code);
	if (err == -ENOTSUP)
		log_error("%s is not x86-64: only x86-64 code can be read",
			  kernel_image_path(f->image));
	return err;
}

static int open_kernel(struct annotated *f, const char *vmlinux, const struct annotated_options *o)
{
	struct kernel_build_id id;
	scoped_free char *why_not;
	int err = profile_image(f->p, vmlinux, &f->image, &why_not);

	if (!err && !f->image) {
		log_error("%s: no vmlinux found for its kernel %s: specify one with %s (%s)",
			  f->path, view_release(f->p), o->vmlinux_option ?: "--vmlinux", why_not);
		err = -ENOENT;
	}
	if (err)
		return err;
	profile_build_id(f->p, &id);
	err = kernel_index_get(id.len ? &id : NULL, f->image, &f->index);
	if (err)
		log_error("cannot read %s: %s", kernel_image_path(f->image), log_strerror(err));
	return err;
}

static int open_module(struct annotated *f)
{
	const char *release = view_release(f->p);
	char hex[2 * KERNEL_BUILD_ID_MAX + 1];
	struct kernel_build_id id;
	int err;

	profile_module_build_id(f->p, f->module, &id);
	f->image = profile_module_image(f->p, f->module);
	if (!id.len)
		log_error("%s is in module %s, but %s does not contain the module's build-id: "
			  "record again",
			  f->name, f->module, f->path);
	else if (!f->image)
		log_error("%s is in module %s, whose file was not found: put its .ko or debug file "
			  "with build-id %s below /lib/modules/%s",
			  f->name, f->module, kernel_build_id_format(&id, hex, sizeof(hex)),
			  release);
	if (!f->image)
		return -ENOENT;
	err = kernel_index_get(&id, f->image, &f->index);
	if (err)
		log_error("cannot read %s: %s", kernel_image_path(f->image), log_strerror(err));
	return err;
}

/* --- the image that contains the function ---------------------------------------------------- */

/* Return whether the location L is in F's function. */
static bool is_in(const struct annotated *f, const struct profile_location *l)
{
	if (f->within && l->n_frames && !same_text(l->frames[l->n_frames - 1].name, f->within))
		return false;
	for (uint32_t i = 0; i < l->n_frames; i++)
		if (same_text(l->frames[i].name, f->name))
			return true;
	return false;
}

/* Return the module of F's function as recorded; NULL: unknown, or the kernel's image contains the function, too. */
static const char *module_recorded(const struct annotated *f)
{
	const char *module = NULL;

	vec_each(const struct profile_location, l, f->p, locations) {
		if (!is_in(f, l))
			continue;
		if (!l->module)
			return NULL;
		module = l->module;
	}
	return module;
}

static int ignore_body(const struct kernel_body *body, void *arg)
{
	(void)body;
	(void)arg;
	return 1;
}

static int ignore_function(const struct kernel_function *function, void *arg)
{
	(void)function;
	(void)arg;
	return 1;
}

/* Return whether the image of IDX contains F's function, inlined or not. For INLINED@FUNC, look for FUNC. */
static bool has_function(const struct annotated *f, const struct kernel_index *idx)
{
	const char *name = f->within ?: f->name;
	scoped_free char *base = alloc_strndup(name, kernel_name_base_len(name));
	bool found = kernel_index_functions_each(idx, base, ignore_function, NULL) == 1 ||
		     kernel_index_bodies_each(idx, base, ignore_body, NULL, NULL) == 1;

	return found;
}

/* Return the first of the recording's modules whose file contains F's function, or NULL. */
static const char *module_with(const struct annotated *f)
{
	const char *found = NULL;

	for (uint32_t i = 0; i < f->p->n_envs && !found; i++) {
		const char *module = profile_module_of_env(&f->p->envs[i]);
		scoped(kernel_index_destroy_at) struct kernel_index *idx =
			module ? profile_module_index(f->p, module) : NULL;

		if (idx && has_function(f, idx))
			found = module;
	}
	return found;
}

/* Open the image that contains F's function, the kernel's or a module's, and its index. */
static int open_image(struct annotated *f, const char *vmlinux, const struct annotated_options *o)
{
	int err = 0;

	f->module = module_recorded(f);
	if (!f->module) {
		err = open_kernel(f, vmlinux, o);
		f->module = err || has_function(f, f->index) ? NULL : module_with(f);
		if (f->module) {
			kernel_index_destroy(f->index);
			kernel_image_destroy(f->image);
			f->index = NULL;
			f->image = NULL;
		}
	}
	if (f->module)
		err = open_module(f);
	if (!err && !kernel_index_has_dwarf(f->index))
		log_warn("%s has no DWARF%s: inlined bodies and lines are unknown",
			 kernel_image_path(f->image),
			 f->module ? ", and no debug file below /usr/lib/debug has any" : "");
	return err;
}

static int open_source(struct annotated *f, const char *dir)
{
	const char *release = profile_env_get(f->p, PROFILE_ENV_RELEASE);

	f->source = kernel_source_create(f->image, dir);
	if (dir && !kernel_source_dir(f->source)) {
		log_error("cannot read the directory %s: %s", dir, log_strerror(errno));
		return -ENOENT;
	}
	if ((dir || !f->module) && !kernel_source_fits(f->source, release))
		log_warn("%s is not the source of %s: lines do not match the code",
			 kernel_source_dir(f->source), release);
	return 0;
}

/* --- errors ---------------------------------------------------------------------------------- */

static int say_unknown(const struct annotated *f)
{
	const char *path = kernel_image_path(f->image);
	bool inlined =
		kernel_index_bodies_each(f->index, f->name, ignore_body, NULL, NULL) != -ENOENT;

	if (f->module && !kernel_index_has_dwarf(f->index))
		log_error("%s is in module %s: it has no samples, and %s has no DWARF to find it",
			  f->name, f->module, path);
	else if (f->within)
		log_error("%s is not inlined into %s in this kernel; kprotperf list --vmlinux=%s "
			  "%s shows where it is inlined",
			  f->name, f->within, path, f->name);
	else if (inlined)
		log_error("%s is inlined, but has no instructions left in this kernel: annotate "
			  "its caller instead",
			  f->name);
	else
		log_error("no function %s in this kernel, inlined or not; kprotperf list "
			  "--vmlinux=%s '*%.8s*' lists similar names",
			  f->name, path, f->name);
	return CMD_FAILED;
}

/* Limit for forged files; workloads have fewer contexts. */
#define MAX_CONTEXTS 500

/* Return the contexts with samples of F's function, "clone (31), mmap (2)", for free(); "" if there are none. */
static char *contexts_with_samples(const struct annotated *f)
{
	struct analyze_annotate_options wanted = { .name = f->name,
						   .module = f->module,
						   .within = f->within };
	char *text = alloc_strdup("");

	for (uint32_t i = 0; i < f->p->n_contexts && i < MAX_CONTEXTS; i++) {
		scoped(analyze_annotation_deinit) struct analyze_annotation a;

		wanted.context = f->p->contexts[i].name;
		if (!analyze_annotation_init(&a, f->p, &f->ranges, f->index, f->code, &wanted) &&
		    a.samples >= 1)
			alloc_append_item(&text,
					  alloc_printf("%s (%.0f)", wanted.context, a.samples));
	}
	return text;
}

static int say_no_samples(const struct annotated *f, const struct annotated_options *o)
{
	scoped_free char *contexts = NULL;

	if (!f->p->n_samples) {
		log_error(VIEW_NO_SAMPLES, f->path);
		return CMD_FAILED;
	}
	if (!o->context) {
		log_error("%s: no samples in %s or its callees: record with a higher --freq or for "
			  "longer, or use --all to show the code without samples",
			  f->path, f->name);
		return CMD_FAILED;
	}
	contexts = contexts_with_samples(f);
	if (*contexts)
		log_error("%s: no samples of %s in %s; it has samples in %s", f->path, f->name,
			  o->context, contexts);
	else
		log_error("%s: no samples of %s in %s or any other context", f->path, f->name,
			  o->context);
	return CMD_FAILED;
}

static int annotate(struct annotated *f, const struct annotated_options *o)
{
	const struct analyze_annotate_options wanted = { .name = f->name,
							 .module = f->module,
							 .within = f->within,
							 .context = o->context,
							 .all = o->all };
	const struct analyze_options corrected = { .time = ANALYZE_TIME_ONCPU };
	int err;

	analyze_ranges_init(&f->ranges, f->p, &corrected);
	err = analyze_annotation_init(&f->a, f->p, &f->ranges, f->index, f->code, &wanted);
	f->ready = true;
	if (err && err != -ENOENT) {
		log_error("cannot read the code of %s from %s", f->name,
			  kernel_image_path(f->image));
		return CMD_FAILED;
	}
	return CMD_DONE;
}

int annotated_check(const struct annotated *f, const struct annotated_options *o)
{
	if (!f->a.n_places)
		return say_unknown(f);
	if (!(f->a.samples > 0) && !f->a.counted && !o->all)
		return say_no_samples(f, o);
	return CMD_DONE;
}

int annotated_open(struct annotated *f, const char *path, const char *func, const char *vmlinux,
		   const struct annotated_options *o)
{
	const char *at = strchr(func, '@');

	memset(f, 0, sizeof(*f));
	f->path = path;
	f->name = at ? alloc_strndup(func, (size_t)(at - func)) : alloc_strdup(func);
	f->within = at ? alloc_strdup(at + 1) : NULL;
	f->p = view_open(path, vmlinux);
	if (!f->p || open_image(f, vmlinux, o) || open_code(f) || open_source(f, o->source))
		return CMD_FAILED;
	return annotate(f, o);
}

void annotated_close(struct annotated *f)
{
	if (f->ready) {
		analyze_annotation_deinit(&f->a);
		analyze_ranges_deinit(&f->ranges);
	}
	kernel_source_destroy(f->source);
	kernel_code_destroy(f->code);
	kernel_kcore_destroy(f->kcore);
	kernel_kallsyms_destroy(f->ks);
	kernel_index_destroy(f->index);
	kernel_image_destroy(f->image);
	profile_destroy(f->p);
	free(f->name);
	free(f->within);
}
