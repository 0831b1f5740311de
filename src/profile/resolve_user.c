// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of functions of user space, from the symbols of the files that have them. */
#include <libelf.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/image/image_elf.h"
#include "profile/resolve.h"

#define DEBUG_FILES    "/usr/lib/debug/.build-id"
#define BUILD_ID_BYTES 20

/* Is that IMG's build-id, which may be shorter? */
static bool is_of(const struct kernel_image *img, const char *module)
{
	const struct kernel_build_id *id = kernel_image_build_id(img);
	const char *hex = module + strlen(PROFILE_MODULE_USER);
	char own[2 * KERNEL_BUILD_ID_MAX + 1];

	kernel_build_id_format(id, own, sizeof(own));
	return id->len && !strncmp(hex, own, strlen(own)) &&
	       strspn(hex + strlen(own), "0") == strlen(hex + strlen(own));
}

static struct kernel_image *open_file(const char *path, const char *module)
{
	struct kernel_image *img;

	if (!path || *path != '/' || kernel_image_try(path, &img))
		return NULL;
	if (is_of(img, module))
		return img;
	kernel_image_destroy(img);
	return NULL;
}

/* Packages have the symbols of stripped files in files of their own. */
static struct kernel_image *open_debug_file(const char *module)
{
	const char *hex = module + strlen(PROFILE_MODULE_USER);
	scoped_free char *path = NULL;

	if (strlen(hex) != 2 * BUILD_ID_BYTES ||
	    strspn(hex, "0123456789abcdef") != 2 * BUILD_ID_BYTES)
		return NULL;
	path = alloc_printf(DEBUG_FILES "/%.2s/%s.debug", hex, hex + 2);
	return open_file(path, module);
}

/* Set *ADDR, at which the loader puts byte OFFSET of the file, relative to the file's own address. False: nowhere. */
static bool address_of(const struct kernel_image *img, uint64_t offset, uint64_t *addr)
{
	Elf *elf = kernel_image_elf(img);
	Elf64_Phdr *segments = elf64_getphdr(elf);
	size_t n;

	if (!segments || elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		const Elf64_Phdr *s = &segments[i];

		if (s->p_type != PT_LOAD || !(s->p_flags & PF_X) || offset < s->p_offset ||
		    offset - s->p_offset >= s->p_filesz)
			continue;
		*addr = s->p_vaddr + (offset - s->p_offset);
		return true;
	}
	return false;
}

static void resolve_file(struct profile *p, const char *module)
{
	scoped(kernel_image_destroy_at) struct kernel_image *img =
		open_file(profile_user_file(p, module), module);
	scoped(kernel_image_destroy_at) struct kernel_image *debug = NULL;
	struct kernel_image *symbols;

	if (!img)
		return;
	debug = open_debug_file(module);
	symbols = debug && kernel_image_has_symtab(debug) ? debug : img;
	for (uint32_t i = 0; i < p->n_locations; i++) {
		const struct profile_location *l = &p->locations[i];
		struct profile_frame frame = { 0 };
		uint64_t addr, offset;

		if (l->n_frames || !same_text(l->module, module) ||
		    !address_of(img, l->addr, &addr))
			continue;
		frame.name =
			kernel_image_symbol_at(symbols, addr - kernel_image_base(symbols), &offset);
		if (frame.name)
			profile_location_frame_add(p, i, &frame);
	}
}

define_compare(name_compare, char *const, strcmp(*a, *b));

struct files {
	vec_of(const char *, modules);
};

void profile_resolve_user(struct profile *p)
{
	struct files files = { 0 };

	vec_each(const struct profile_location, l, p, locations)
		if (profile_location_is_user(l) && !l->n_frames)
			vec_push(&files, modules, l->module);
	vec_unite(&files, modules, name_compare, NULL);
	for (uint32_t i = 0; i < files.n_modules; i++)
		resolve_file(p, files.modules[i]);
	free(files.modules);
}
