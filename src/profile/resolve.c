// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/resolve.h"

#include <glob.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/plural.h"
#include "base/sorted.h"
#include "kernel/image/image_elf.h"
#include "profile/conditions.h"

#define SYMBOLS_DWARF    "dwarf"
#define SYMBOLS_SYMTAB   "symtab"
#define SYMBOLS_KALLSYMS "kallsyms"

bool profile_is_resolved(const struct profile *p)
{
	const char *symbols = profile_env_get(p, PROFILE_ENV_SYMBOLS);

	return symbols && strcmp(symbols, SYMBOLS_DWARF) == 0;
}

void profile_resolve_kallsyms(struct profile *p, const struct kernel_kallsyms *ks)
{
	for (uint32_t i = 0; i < p->n_locations; i++) {
		const struct kernel_sym *sym;
		struct profile_frame frame = {};

		if (p->locations[i].module || p->locations[i].n_frames)
			continue;
		sym = kernel_kallsyms_covering(ks, p->locations[i].addr + ks->stext, NULL);
		if (!sym)
			continue;
		frame.name = sym->name;
		profile_location_frame_add(p, i, &frame);
	}
	profile_env_set(p, PROFILE_ENV_SYMBOLS, SYMBOLS_KALLSYMS);
}

uint32_t profile_function_add(struct profile *p, const struct kernel_kallsyms *ks,
			      const struct kernel_sym *sym)
{
	scoped_free char *name =
		alloc_strndup(sym->name, kernel_kallsyms_reported_len(ks, sym->name));
	/* kallsyms and perf write "NAME [MODULE]". */
	scoped_free char *symbol =
		sym->module ? alloc_printf("%s [%s]", sym->name, sym->module) : NULL;
	uint32_t site = profile_site_add(
		p, &(struct profile_site){ .name = name,
					   .symbol = symbol ?: sym->name,
					   .kind = PROFILE_SITE_FUNCTION,
					   .addr = sym->addr - kernel_kallsyms_base(ks, sym) });

	return site;
}

uint32_t profile_location_label(struct profile *p, const char *label)
{
	const struct profile_frame frame = { .name = label };
	uint32_t index = profile_location_add(p, 0, label);

	if (!p->locations[index].n_frames)
		profile_location_frame_add(p, index, &frame);
	return index;
}

uint32_t profile_location_at(struct profile *p, const struct kernel_kallsyms *ks, uint64_t addr)
{
	const struct kernel_sym *sym;
	struct profile_frame frame = {};
	uint32_t index;

	if (kernel_kallsyms_in_image(ks, addr))
		return profile_location_add(p, addr - ks->stext, NULL);
	sym = kernel_kallsyms_covering(ks, addr, NULL);
	if (!sym)
		return profile_location_label(p, "[unknown]");
	/* Code generated at run time has no image: use its symbol's name as its module. */
	index = kernel_kallsyms_is_bpf(sym) || kernel_kallsyms_is_probe(sym) ?
			profile_location_add(p, addr - sym->addr, sym->name) :
			profile_location_add(p, addr - kernel_kallsyms_base(ks, sym), sym->module);
	frame.name = sym->name;
	if (!p->locations[index].n_frames)
		profile_location_frame_add(p, index, &frame);
	return index;
}

struct resolving {
	struct profile *p;
	uint32_t location;
};

static int add_frame(const struct kernel_frame *f, void *arg)
{
	struct resolving *r = arg;
	struct profile_frame frame = {
		.name = f->name, .file = f->file, .line = f->line, .inlined = f->inlined
	};

	profile_location_frame_add(r->p, r->location, &frame);
	return 0;
}

/* Return whether SYMBOL is NULL or at ADDR in IDX. If the kernel laid out a module differently, IDX gives wrong names. */
static bool agrees(const struct kernel_index *idx, uint64_t addr, const char *symbol)
{
	struct kernel_place place;

	return !symbol || (!kernel_index_at(idx, addr, &place) && same_text(place.symbol, symbol));
}

/* Set the frames of the locations in MODULE (NULL: the kernel's image) from the symbol index IDX. */
static void resolve_locations(struct profile *p, const struct kernel_index *idx, const char *module)
{
	for (uint32_t i = 0; i < p->n_locations; i++) {
		struct profile_location *l = &p->locations[i];
		struct profile_frame *old = l->frames;
		uint32_t n_old = l->n_frames, cap_old = l->cap_frames;
		struct resolving r = { p, i };

		if (!same_text(l->module, module) ||
		    (module && !agrees(idx, l->addr, n_old == 1 ? old->name : NULL)))
			continue;
		l->frames = NULL;
		l->n_frames = l->cap_frames = 0;
		kernel_index_frames(idx, l->addr, add_frame, &r);
		if (l->n_frames) {
			free(old);
		} else {
			l->frames = old;
			l->n_frames = n_old;
			l->cap_frames = cap_old;
		}
	}
}

/* Set FILE and LINE of the functions in MODULE (NULL: the kernel's image) to their declarations. */
static void resolve_sites(struct profile *p, const struct kernel_index *idx, const char *module)
{
	vec_each(struct profile_site, s, p, sites) {
		const char *file;
		uint32_t line;

		/* Skip inlined functions: their FILE and LINE tell the inlined call, and ADDR is in the containing function. */
		if (s->kind != PROFILE_SITE_FUNCTION || !profile_site_is_in(s, module) ||
		    kernel_index_declaration(idx, s->addr, &file, &line))
			continue;
		s->file = profile_intern(p, file);
		s->line = line;
	}
}

struct inlined_of {
	const struct profile *p;
	const struct profile_site *function;
};

/* Return whether BODY is an untimed inlined copy of the function in ARG, not of another function with this name. */
static int is_left_out(const struct kernel_body *body, void *arg)
{
	const struct inlined_of *of = arg;

	if (body->line != of->function->line || !same_text(body->file, of->function->file))
		return false;
	vec_each(const struct profile_site, s, of->p, sites)
		if (s->kind == PROFILE_SITE_RANGE && s->addr == body->entry && !s->estimated &&
		    !strcmp(s->name, body->name))
			return false;
	return true;
}

static bool is_also_inlined(const struct profile *p, const struct kernel_index *idx,
			    const struct profile_site *function)
{
	struct inlined_of of = { p, function };

	return kernel_index_bodies_each(idx, function->name, is_left_out, &of, NULL) == true;
}

#define MOST_NAMED 3

/* Record the timed functions of the kernel's image that are also inlined: their inlined calls were not timed. */
static void note_inlined(struct profile *p, const struct kernel_index *idx)
{
	scoped_free char *names = NULL;
	const char *last = NULL;
	uint32_t n = 0;

	vec_each(const struct profile_site, s, p, sites) {
		if (s->kind != PROFILE_SITE_FUNCTION || !s->file || !profile_site_is_in(s, NULL) ||
		    same_text(s->name, last) || !is_also_inlined(p, idx, s))
			continue;
		if (n++ < MOST_NAMED)
			alloc_append(&names, "%s%s", n > 1 ? ", " : "", s->name);
		last = s->name;
	}
	if (n > MOST_NAMED)
		alloc_append(&names, " and %u %s", n - MOST_NAMED,
			     plural(n - MOST_NAMED, "other", "others"));
	if (names)
		profile_env_set(p, PROFILE_ENV_INLINED, names);
}

void profile_resolve_index(struct profile *p, const struct kernel_index *idx)
{
	resolve_locations(p, idx, NULL);
	resolve_sites(p, idx, NULL);
	/* An exact recording also counts inlined calls. */
	if (!profile_is_exact(p))
		note_inlined(p, idx);
	profile_env_set(p, PROFILE_ENV_SYMBOLS,
			kernel_index_has_dwarf(idx) ? SYMBOLS_DWARF : SYMBOLS_SYMTAB);
}

/* Convert a build-id from hexadecimal text to bytes. */
static void build_id_parse(const char *text, struct kernel_build_id *id)
{
	id->len = 0;
	for (; text && text[0] && text[1] && id->len < sizeof(id->bytes); text += 2) {
		const char pair[3] = { text[0], text[1] }, *digits = pair;
		uint64_t byte;

		if (!number_scan_hex(&digits, &byte) || *digits)
			break;
		id->bytes[id->len++] = (uint8_t)byte;
	}
}

void profile_build_id(const struct profile *p, struct kernel_build_id *id)
{
	build_id_parse(profile_env_get(p, PROFILE_ENV_BUILD_ID), id);
}

/* Open the file PATH if it has the build-id ID. */
static struct kernel_image *image_of_build(const char *path, const struct kernel_build_id *id)
{
	struct kernel_image *img;

	if (kernel_image_try(path, &img))
		return NULL;
	if (kernel_build_id_equal(kernel_image_build_id(img), id))
		return img;
	kernel_image_destroy(img);
	return NULL;
}

/* Search the kernels that scripts/lab built. */
static struct kernel_image *image_of_lab(const struct kernel_build_id *id)
{
	scoped_free char *pattern = kernel_lab_path("/kernels/*/vmlinux");
	struct kernel_image *img = NULL;
	glob_t found = { 0 };

	if (!glob(pattern, 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc && !img; i++)
			img = image_of_build(found.gl_pathv[i], id);
	globfree(&found);
	return img;
}

int profile_image(const struct profile *p, const char *vmlinux, struct kernel_image **out,
		  char **why_not)
{
	const char *release = profile_env_get(p, PROFILE_ENV_RELEASE);
	const char *noted = profile_env_get(p, PROFILE_ENV_VMLINUX);
	struct kernel_build_id id;

	*out = NULL;
	*why_not = NULL;
	profile_build_id(p, &id);
	if (vmlinux)
		return kernel_image_find(vmlinux, release, &id, out, NULL);
	if (!id.len) {
		*why_not = alloc_strdup("the recording does not contain the kernel's build-id");
		return 0;
	}
	if (noted && *noted == '/')
		*out = image_of_build(noted, &id);
	if (!*out)
		*out = image_of_lab(&id);
	if (*out)
		return 0;
	return kernel_image_find(NULL, release ? release : "", &id, out, why_not);
}

const char *profile_module_of_env(const struct profile_env *env)
{
	size_t prefix = strlen(PROFILE_ENV_MODULE);

	return strncmp(env->key, PROFILE_ENV_MODULE, prefix) ? NULL : env->key + prefix;
}

void profile_module_build_id(const struct profile *p, const char *name, struct kernel_build_id *id)
{
	scoped_free char *key = alloc_printf(PROFILE_ENV_MODULE "%s", name);

	build_id_parse(profile_env_get(p, key), id);
}

struct kernel_image *profile_module_image(const struct profile *p, const char *name)
{
	const char *release = profile_env_get(p, PROFILE_ENV_RELEASE);
	struct kernel_build_id id;

	profile_module_build_id(p, name, &id);
	return id.len ? kernel_module_find(name, release ?: "", &id) : NULL;
}

struct kernel_index *profile_module_index(const struct profile *p, const char *name)
{
	struct kernel_index *idx = NULL;
	struct kernel_build_id id;
	scoped(kernel_image_destroy_at) struct kernel_image *img = NULL;

	profile_module_build_id(p, name, &id);
	if (!id.len || !kernel_index_get(&id, NULL, &idx))
		return idx;
	img = profile_module_image(p, name);
	if (img && kernel_index_get(&id, img, &idx))
		idx = NULL;
	return idx;
}

/* A kernel module whose build-id is in P's environment. */
struct module {
	const char *name;
	bool used; /* P has addresses in the module */
	bool has_lines; /* some of these addresses have a source line */
};

struct modules {
	vec_of(struct module, items); /* sorted by name */
};

define_compare(module_compare, struct module, compare_text(a->name, b->name));

static void note_use(struct modules *m, const char *name, bool has_lines)
{
	struct module *found = search_array(&(struct module){ .name = name }, m->items, m->n_items,
					    sizeof(*m->items), module_compare);

	if (found) {
		found->used = true;
		found->has_lines |= has_lines;
	}
}

static void modules_init(struct modules *m, const struct profile *p)
{
	*m = (struct modules){};
	vec_each(const struct profile_env, env, p, envs) {
		const char *name = profile_module_of_env(env);

		if (name)
			vec_push(m, items, (struct module){ .name = name });
	}
	sort_array(m->items, m->n_items, sizeof(*m->items), module_compare);
	vec_each(const struct profile_location, l, p, locations)
		if (l->module)
			note_use(m, l->module, l->n_frames && l->frames[0].file);
	vec_each(const struct profile_site, s, p, sites) {
		const char *open = s->symbol ? strstr(s->symbol, " [") : NULL;
		scoped_free char *name =
			open ? alloc_strndup(open + 2, strcspn(open + 2, "]")) : NULL;

		if (name)
			note_use(m, name, s->file);
	}
}

bool profile_resolve_modules(struct profile *p)
{
	struct modules modules;
	bool found = false;

	modules_init(&modules, p);
	vec_each(const struct module, m, &modules, items) {
		struct kernel_index *idx =
			m->used && !m->has_lines ? profile_module_index(p, m->name) : NULL;

		if (!idx)
			continue;
		resolve_locations(p, idx, m->name);
		resolve_sites(p, idx, m->name);
		found |= kernel_index_has_dwarf(idx);
		kernel_index_destroy(idx);
	}
	free(modules.items);
	return found;
}

int profile_index(const struct profile *p, const char *vmlinux, struct kernel_index **out)
{
	scoped(kernel_image_destroy_at) struct kernel_image *img = NULL;
	struct kernel_build_id id;
	scoped_free char *why_not = NULL;
	int err = 0;

	*out = NULL;
	profile_build_id(p, &id);
	if (!vmlinux && !id.len)
		return 0;
	if (vmlinux || kernel_index_get(&id, NULL, out)) {
		err = profile_image(p, vmlinux, &img, &why_not);
		if (err || !img || kernel_index_get(&id, img, out))
			*out = NULL;
	}
	return err;
}

int profile_resolve(struct profile *p, const char *vmlinux)
{
	bool resolved = !vmlinux && profile_is_resolved(p);
	struct kernel_index *idx = NULL;
	int err = resolved ? 0 : profile_index(p, vmlinux, &idx);

	if (err)
		return err;
	if (idx)
		profile_resolve_index(p, idx);
	if (profile_resolve_modules(p) || !resolved)
		profile_resolve_conditions(p, vmlinux);
	kernel_index_destroy(idx);
	return 0;
}
