// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/code/code.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "kernel/image/kcore.h"
#include "kernel/image/image_elf.h"
#include "kernel/image/kallsyms.h"

/* The file's bytes at its address ADDR and in *AVAIL how many there are up to the section's end. */
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

/* A module's have no symbols around them. */
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
