// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/code/code.h"

#include <elf.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/image/image_elf.h"
#include "kernel/image/kallsyms.h"
#include "kernel/image/kcore.h"

/* Return the bytes that the file has for address ADDR, or NULL. Set *AVAIL to their number up to the section's end. */
static const uint8_t *file_data(uint64_t addr, size_t *avail, void *img)
{
	Elf *elf = kernel_image_elf(img);
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		const Elf64_Shdr *s = elf64_getshdr(scn);
		uint64_t start = kernel_image_section_address(img, scn), at = addr - start;
		Elf_Data *data;

		if (!start || addr < start || at >= s->sh_size || s->sh_type == SHT_NOBITS)
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf || at >= data->d_size)
			continue;
		*avail = data->d_size - at;
		return (const uint8_t *)data->d_buf + at;
	}
	*avail = 0;
	return NULL;
}

bool kernel_code_read_file(const struct kernel_code *code, uint64_t addr, void *buf, size_t len)
{
	size_t avail;
	const uint8_t *data = file_data(code->base + addr, &avail, code->img);

	if (!data || avail < len)
		return false;
	memcpy(buf, data, len);
	return true;
}

int kernel_code_read_live(const struct kernel_code *code, uint64_t addr, void *buf, size_t len)
{
	if (!code->live.kcore)
		return -ENODATA;
	return kernel_kcore_read(code->live.kcore, code->live.base + addr, buf, len);
}

const char *kernel_code_symbol_at(const struct kernel_code *code, uint64_t addr, uint64_t *offset)
{
	const char *name = kernel_image_symbol_at(code->img, addr, offset);
	const struct kernel_sym *sym;

	if (name || !code->live.ks)
		return name;
	sym = kernel_kallsyms_covering(code->live.ks, code->live.base + addr, offset);
	return sym && !sym->module ? sym->name : NULL;
}

struct bounds {
	uint64_t start[ARCH_N_SECTIONS], stop[ARCH_N_SECTIONS];
};

static void note_bound(const Elf64_Sym *sym, const char *name, void *arg)
{
	struct bounds *b = arg;

	for (int i = 0; name[0] == '_' && i < ARCH_N_SECTIONS; i++) {
		if (!strcmp(name, arch_section_bounds[i].start))
			b->start[i] = sym->st_value;
		else if (!strcmp(name, arch_section_bounds[i].stop))
			b->stop[i] = sym->st_value;
	}
}

/* Find the bounds of tables for arch_tables_read(). Use section names: a module has no symbols for the bounds. */
static void note_sections(struct kernel_image *img, struct bounds *b)
{
	Elf *elf = kernel_image_elf(img);
	Elf_Scn *scn = NULL;
	size_t names;

	while (!elf_getshdrstrndx(elf, &names) && (scn = elf_nextscn(elf, scn)) != NULL) {
		const Elf64_Shdr *s = elf64_getshdr(scn);
		const char *name = s ? elf_strptr(elf, names, s->sh_name) : NULL;

		for (int i = 0; name && i < ARCH_N_SECTIONS; i++)
			if (!b->start[i] && !strcmp(name, arch_section_bounds[i].section)) {
				b->start[i] = kernel_image_section_address(img, scn);
				b->stop[i] = b->start[i] + s->sh_size;
			}
	}
}

static void read_tables(struct kernel_code *code)
{
	struct arch_section sections[ARCH_N_SECTIONS] = { 0 };
	struct bounds b = { 0 };

	kernel_image_elf_symbols_each(code->img, note_bound, &b);
	note_sections(code->img, &b);
	for (int i = 0; i < ARCH_N_SECTIONS; i++) {
		size_t avail;
		const uint8_t *data = b.start[i] ? file_data(b.start[i], &avail, code->img) : NULL;

		if (data && b.stop[i] >= b.start[i] && b.stop[i] - b.start[i] <= avail)
			sections[i] = (struct arch_section){ b.start[i], data,
							     (size_t)(b.stop[i] - b.start[i]) };
	}
	arch_tables_read(&code->tables, sections, code->base, file_data, code->img);
}

int kernel_code_create(struct kernel_image *img, const struct kernel_live *live,
		       struct kernel_code **out)
{
	const Elf64_Ehdr *ehdr = elf64_getehdr(kernel_image_elf(img));
	struct kernel_code *code;

	*out = NULL;
	if (!ehdr || ehdr->e_machine != ARCH_ELF_MACHINE)
		return -ENOTSUP;
	code = alloc_new(struct kernel_code);
	code->img = img;
	if (live && live->kcore)
		code->live = *live;
	code->base = kernel_image_base(img);
	read_tables(code);
	*out = code;
	return 0;
}

void kernel_code_destroy(struct kernel_code *code)
{
	if (!code)
		return;
	arch_tables_clear(&code->tables);
	free(code);
}

/* Add a function that a livepatch has replaced. PATH is PATCH/OBJECT/FUNCTION,POSITION; POSITION tells namesakes apart. */
static void add(struct kernel_livepatches *l, const char *path)
{
	struct kernel_livepatched item = { .patch = alloc_strdup(path) };

	item.object = strchr(item.patch, '/');
	*item.object++ = '\0';
	item.function = strchr(item.object, '/');
	*item.function++ = '\0';
	*strchr(item.function, ',') = '\0';
	vec_push(l, items, item);
}

void kernel_livepatches_load(const char *folder, struct kernel_livepatches *out)
{
	scoped_free char *pattern = alloc_printf("%s/*/*/*,*", folder);
	glob_t found = { 0 };

	*out = (struct kernel_livepatches){ 0 };
	if (!glob(pattern, GLOB_NOSORT, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			add(out, found.gl_pathv[i] + strlen(folder) + 1);
	globfree(&found);
}

void kernel_livepatches_deinit(struct kernel_livepatches *l)
{
	for (uint32_t i = 0; i < l->n_items; i++)
		free(l->items[i].patch);
	free(l->items);
	*l = (struct kernel_livepatches){ 0 };
}

const char *kernel_livepatch_of(const struct kernel_livepatches *l, const struct kernel_sym *sym)
{
	vec_each(const struct kernel_livepatched, item, l, items)
		if (!strcmp(item->function, sym->name) &&
		    !strcmp(item->object, sym->module ?: "vmlinux"))
			return item->patch;
	return NULL;
}

/* Maximum size of the jump label table in bytes: ten times the size in a kernel with all options enabled. */
#define MAX_TABLE (8u << 20)

/* Read the table of jump labels from the kernel's memory. If that fails, OUT is empty. The caller calls arch_tables_clear(). */
static void read_jumps(struct arch_tables *out, const struct kernel_kcore *kcore,
		       const struct kernel_kallsyms *ks)
{
	const struct arch_section_bounds *bounds = &arch_section_bounds[ARCH_SECTION_LABELS];
	uint64_t start = kernel_kallsyms_variable(ks, bounds->start);
	uint64_t stop = kernel_kallsyms_variable(ks, bounds->stop);
	struct arch_section sections[ARCH_N_SECTIONS] = {};
	scoped_free uint8_t *bytes = NULL;

	*out = (struct arch_tables){};
	if (!kcore || !start || stop <= start || stop - start > MAX_TABLE)
		return;
	bytes = alloc_array(stop - start, 1);
	sections[ARCH_SECTION_LABELS] = (struct arch_section){ start, bytes, stop - start };
	if (!kernel_kcore_read(kcore, start, bytes, stop - start))
		arch_tables_read(out, sections, 0, NULL, NULL);
}

char *kernel_static_key_name(const char *name, uint64_t offset)
{
	/* "NAME.NUMBER" is a static variable of a function. The number, chosen by the compiler, may differ in another build. */
	if (strchr(name, '.'))
		return NULL;
	return offset ? alloc_printf("%s+0x%" PRIx64, name, offset) : alloc_strdup(name);
}

char *kernel_static_keys_on(const struct kernel_kcore *kcore, const struct kernel_kallsyms *ks)
{
	scoped(arch_tables_clear) struct arch_tables tables;
	const struct arch_table *labels = &tables.of[ARCH_SECTION_LABELS];
	char *text = NULL;
	scoped_free uint64_t *keys;

	read_jumps(&tables, kcore, ks);
	keys = alloc_array(labels->n_items, sizeof(*keys));
	for (uint32_t i = 0; i < labels->n_items; i++)
		keys[i] = labels->items[i].key;
	sort_array(keys, labels->n_items, sizeof(*keys), compare_u64);
	if (labels->n_items)
		text = alloc_strdup("");
	for (uint32_t i = 0; i < labels->n_items; i++) {
		uint64_t offset;
		const char *in = kernel_kallsyms_variable_at(ks, keys[i], &offset);
		int32_t enabled = 0;
		scoped_free char *name = NULL;

		if ((i && keys[i] == keys[i - 1]) || !in ||
		    kernel_kcore_read(kcore, keys[i], &enabled, sizeof(enabled)) || enabled <= 0)
			continue;
		name = kernel_static_key_name(in, offset);
		if (name)
			alloc_append(&text, "%s%s", *text ? " " : "", name);
	}
	return text;
}

void kernel_static_keys_in(const struct kernel_kcore *kcore, const struct kernel_kallsyms *ks,
			   uint64_t start, uint64_t len, struct alloc_texts *names)
{
	scoped(arch_tables_clear) struct arch_tables tables;
	size_t before = names->n_texts;

	read_jumps(&tables, kcore, ks);
	vec_each(const struct arch_entry, label, &tables.of[ARCH_SECTION_LABELS], items) {
		uint64_t offset;
		const char *name;
		size_t known = before;

		if (label->addr - start >= len)
			continue;
		name = kernel_kallsyms_variable_at(ks, label->key, &offset);
		if (!name || offset || strchr(name, '.'))
			continue;
		while (known < names->n_texts && strcmp(names->texts[known], name) != 0)
			known++;
		if (known == names->n_texts)
			alloc_keep(names, alloc_strdup(name));
	}
}
