// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/image_impl.h"

struct object {
	uint64_t addr, size;
	const char *name;
};

struct symbol_objects {
	struct object *items; /* by address */
	uint32_t n_items, cap_items;
};

static int object_compare(const void *left, const void *right)
{
	const struct object *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	/* The longest of those at one address is the last, which is found. */
	return a->size < b->size ? -1 : a->size > b->size;
}

static void read_objects(struct symbol_objects *o, Elf_Data *symbols, Elf_Data *names)
{
	const Elf64_Sym *syms = symbols->d_buf;

	for (size_t i = 0; i < symbols->d_size / sizeof(*syms); i++) {
		const Elf64_Sym *sym = &syms[i];
		const char *name = (const char *)names->d_buf + sym->st_name;

		if (ELF64_ST_TYPE(sym->st_info) != STT_OBJECT || !sym->st_size ||
		    sym->st_shndx == SHN_UNDEF || sym->st_name >= names->d_size ||
		    !memchr(name, '\0', names->d_size - sym->st_name))
			continue;
		vec_push(o, items, ((struct object){ sym->st_value, sym->st_size, name }));
	}
}

struct symbol_objects *symbol_objects_create(struct symbol_image *img)
{
	struct symbol_objects *o = alloc_new(struct symbol_objects);
	Elf64_Shdr *shdr = img->symtab_scn ? elf64_getshdr(img->symtab_scn) : NULL;
	Elf_Data *symbols = shdr ? elf_getdata(img->symtab_scn, NULL) : NULL;
	Elf_Scn *scn = shdr ? elf_getscn(img->elf, shdr->sh_link) : NULL;
	Elf_Data *names = scn ? elf_getdata(scn, NULL) : NULL;

	if (symbols && symbols->d_buf && symbols->d_type == ELF_T_SYM && names && names->d_buf)
		read_objects(o, symbols, names);
	if (o->n_items)
		qsort(o->items, o->n_items, sizeof(*o->items), object_compare);
	return o;
}

void symbol_objects_destroy(struct symbol_objects *o)
{
	if (!o)
		return;
	free(o->items);
	free(o);
}

const char *symbol_objects_at(const struct symbol_objects *o, uint64_t addr, uint64_t *offset)
{
	uint32_t lo = 0, hi = o->n_items;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (o->items[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr - o->items[lo - 1].addr >= o->items[lo - 1].size)
		return NULL;
	*offset = addr - o->items[lo - 1].addr;
	return o->items[lo - 1].name;
}
