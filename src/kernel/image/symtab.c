// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the image's .symtab: the addresses of functions and data, and of _stext. */
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/image/image_impl.h"
#include "kernel/image/name.h"

struct entry {
	uint64_t addr, size;
	const char *name;
	bool global;
};

struct entries {
	vec_of(struct entry, items);
};

struct symtab {
	struct entries functions; /* STT_FUNC with a size; sorted by address */
	struct entries labels; /* other symbols of code; sorted by address */
	struct entries objects; /* data with a size; sorted by address */
	uint64_t stext;
	bool has_stext, has_objects; /* OBJECTS are filled at the first use */
};

/* A search finds the last symbol at an address. So sort global symbols behind local ones. */
define_compare(compare_entry, struct entry,
	       compare_values(a->addr, b->addr)             ?:
		       compare_values(a->global, b->global) ?:
							      strcmp(a->name, b->name));

static bool is_code(Elf *elf, uint32_t section)
{
	Elf_Scn *scn = elf_getscn(elf, section);
	const Elf64_Shdr *shdr = scn ? elf64_getshdr(scn) : NULL;

	return shdr && shdr->sh_flags & SHF_EXECINSTR;
}

static void add_symbol(const Elf64_Sym *sym, const char *name, void *arg)
{
	struct kernel_image *img = arg;
	struct symtab *tab = img->symtab;
	struct entry e = {
		.addr = sym->st_value,
		.size = sym->st_size,
		.name = name,
		.global = ELF64_ST_BIND(sym->st_info) != STB_LOCAL,
	};
	unsigned int type = ELF64_ST_TYPE(sym->st_info);

	if (!strcmp(name, "_stext")) {
		tab->stext = sym->st_value;
		tab->has_stext = true;
	}
	if (!*name || !is_code(img->elf, sym->st_shndx))
		return;
	if (type == STT_FUNC && e.size)
		vec_push(&tab->functions, items, e);
	else if (type == STT_NOTYPE || type == STT_FUNC)
		vec_push(&tab->labels, items, e);
}

static void sort_entries(struct entries *e)
{
	sort_array(e->items, e->n_items, sizeof(*e->items), compare_entry);
}

/* Addresses in a module are relative to its first symbol of code, as kallsyms lists them. */
static void begin_module(struct symtab *tab)
{
	const struct entries *f = &tab->functions, *l = &tab->labels;

	tab->has_stext = f->n_items || l->n_items;
	if (f->n_items)
		tab->stext = f->items[0].addr;
	if (l->n_items && (!f->n_items || l->items[0].addr < tab->stext))
		tab->stext = l->items[0].addr;
}

static void read_symbols(struct kernel_image *img)
{
	struct symtab *tab = img->symtab = alloc_new(struct symtab);

	kernel_image_elf_symbols_each(img, add_symbol, img);
	sort_entries(&tab->functions);
	sort_entries(&tab->labels);
	if (img->is_module)
		begin_module(tab);
}

void kernel_image_elf_symbols_each(struct kernel_image *img, kernel_elf_symbol_fn fn, void *arg)
{
	Elf64_Shdr *shdr = img->symtab_scn ? elf64_getshdr(img->symtab_scn) : NULL;
	Elf_Data *data = shdr ? elf_getdata(img->symtab_scn, NULL) : NULL;
	Elf_Scn *names_scn = shdr ? elf_getscn(img->elf, shdr->sh_link) : NULL;
	Elf_Data *names = names_scn ? elf_getdata(names_scn, NULL) : NULL;
	const Elf64_Sym *syms;

	if (!data || !data->d_buf || data->d_type != ELF_T_SYM || !names || !names->d_buf)
		return;
	syms = data->d_buf;
	for (size_t i = 0; i < data->d_size / sizeof(*syms); i++) {
		const char *name = (const char *)names->d_buf + syms[i].st_name;
		Elf64_Sym sym = syms[i];

		if (sym.st_shndx < img->n_sections)
			sym.st_value += img->layout[sym.st_shndx]; /* was section-relative */
		if (sym.st_name < names->d_size && memchr(name, '\0', names->d_size - sym.st_name))
			fn(&sym, name, arg);
	}
}

/* Return the symbol table, which may be empty but is never NULL. Read the table at the first call. */
static struct symtab *symtab_of(struct kernel_image *img)
{
	if (!img->symtab)
		read_symbols(img);
	return img->symtab;
}

void kernel_symtab_destroy(struct symtab *tab)
{
	if (!tab)
		return;
	free(tab->functions.items);
	free(tab->labels.items);
	free(tab->objects.items);
	free(tab);
}

uint64_t kernel_image_base(struct kernel_image *img)
{
	struct symtab *tab = symtab_of(img);

	/* Without a symbol _stext, assume that it is at the start of .text, where linker scripts put it. */
	return tab->has_stext ? tab->stext : img->text_addr;
}

static uint32_t first_after(const struct entries *e, uint64_t addr)
{
	return bisect(e->n_items, i, e->items[i].addr <= addr);
}

bool kernel_image_is_function(struct kernel_image *img, const char *name, uint64_t addr,
			      uint64_t *size)
{
	struct symtab *tab = symtab_of(img);

	addr += kernel_image_base(img);
	if (kernel_name_is_cold(name))
		return false;
	for (uint32_t i = first_after(&tab->functions, addr); i-- > 0;) {
		const struct entry *e = &tab->functions.items[i];

		if (e->addr != addr)
			return false;
		if (!strcmp(e->name, name)) {
			if (size)
				*size = e->size;
			return true;
		}
	}
	return false;
}

/* Maximum number of functions in a backward search. The starts of shorter functions may lie in a long function. */
#define MAX_NESTED 8

/* Assumed maximum size of a label in bytes. Symbol tables give labels no size. */
#define MAX_LABEL_REACH 0x10000

/* Return the function that covers address ADDR of the file, or NULL. */
static const struct entry *function_at(const struct symtab *tab, uint64_t addr)
{
	uint32_t i = first_after(&tab->functions, addr);

	for (uint32_t n = 0; n < MAX_NESTED && i-- > 0; n++) {
		const struct entry *e = &tab->functions.items[i];

		if (addr - e->addr < e->size)
			return e;
	}
	return NULL;
}

const char *kernel_image_extent(struct kernel_image *img, uint64_t addr, struct kernel_range *range)
{
	uint64_t base = kernel_image_base(img);
	const struct entry *e = function_at(symtab_of(img), addr + base);

	if (!e)
		return NULL;
	*range = (struct kernel_range){ e->addr - base, e->addr - base + e->size };
	return e->name;
}

/*
 * Return whether ADDR is a made-up address (MODULE_EXTERN), which stands for a symbol outside of the module. If so, set *NAME to
 * the symbol's name (NULL: unknown).
 */
static bool extern_at(const struct kernel_image *img, uint64_t addr, uint64_t *offset,
		      const char **name)
{
	Elf64_Shdr *shdr = img->symtab_scn ? elf64_getshdr(img->symtab_scn) : NULL;
	Elf_Data *data = shdr ? elf_getdata(img->symtab_scn, NULL) : NULL;
	uint64_t number = (addr - MODULE_EXTERN) / MODULE_EXTERN_STEP;
	const Elf64_Sym *syms;

	if (!img->is_module || addr < MODULE_EXTERN || addr > UINT32_MAX)
		return false;
	*name = NULL;
	if (!data || !data->d_buf || data->d_type != ELF_T_SYM ||
	    number >= data->d_size / sizeof(*syms))
		return true;
	syms = data->d_buf;
	if (syms[number].st_shndx == SHN_UNDEF)
		*name = elf_strptr(img->elf, shdr->sh_link, syms[number].st_name);
	if (offset)
		*offset = addr % MODULE_EXTERN_STEP;
	return true;
}

const char *kernel_image_symbol_at(struct kernel_image *img, uint64_t addr, uint64_t *offset)
{
	struct symtab *tab = symtab_of(img);
	const struct entry *found;
	const char *name;
	uint32_t i;

	addr += kernel_image_base(img);
	if (extern_at(img, addr, offset, &name))
		return name;
	found = function_at(tab, addr);
	i = first_after(&tab->labels, addr);
	if (!found && i > 0) {
		const struct entry *e = &tab->labels.items[i - 1];
		uint32_t f = first_after(&tab->functions, addr);

		/* The next label or function ends a label. */
		if ((!f || tab->functions.items[f - 1].addr <= e->addr) &&
		    addr - e->addr < MAX_LABEL_REACH)
			found = e;
	}
	if (!found)
		return NULL;
	if (offset)
		*offset = addr - found->addr;
	return found->name;
}

void kernel_image_symbols_each(struct kernel_image *img, kernel_symtab_fn fn, void *arg)
{
	const struct symtab *tab = symtab_of(img);
	uint64_t base = kernel_image_base(img), *at;
	size_t n = 0;

	at = alloc_array(2 * ((size_t)tab->functions.n_items + tab->labels.n_items), sizeof(*at));
	for (uint32_t i = 0; i < tab->functions.n_items; i++) {
		at[n++] = tab->functions.items[i].addr;
		at[n++] = tab->functions.items[i].addr + tab->functions.items[i].size;
	}
	for (uint32_t i = 0; i < tab->labels.n_items; i++) {
		at[n++] = tab->labels.items[i].addr;
		at[n++] = tab->labels.items[i].addr + MAX_LABEL_REACH;
	}
	sort_array(at, n, sizeof(*at), compare_u64);
	for (size_t i = 0; i < n; i++) {
		uint64_t offset = 0;
		const char *name;

		if (at[i] < base || (i && at[i] == at[i - 1]))
			continue;
		name = kernel_image_symbol_at(img, at[i] - base, &offset);
		fn(at[i] - base, name, offset, arg);
	}
	free(at);
}

/* A search finds the last object at an address. So sort the longest one last. */
define_compare(compare_object, struct entry,
	       compare_values(a->addr, b->addr) ?: compare_values(a->size, b->size));

static void add_object(const Elf64_Sym *sym, const char *name, void *arg)
{
	struct entry e = { .addr = sym->st_value, .size = sym->st_size, .name = name };
	struct entries *objects = arg;

	if (ELF64_ST_TYPE(sym->st_info) == STT_OBJECT && e.size && sym->st_shndx != SHN_UNDEF)
		vec_push(objects, items, e);
}

const char *kernel_image_object_at(struct kernel_image *img, uint64_t addr, uint64_t *offset)
{
	struct symtab *tab = symtab_of(img);
	const struct entry *e;
	const char *name;
	uint32_t next;

	if (extern_at(img, addr, offset, &name))
		return name;
	if (!tab->has_objects) {
		kernel_image_elf_symbols_each(img, add_object, &tab->objects);
		sort_array(tab->objects.items, tab->objects.n_items, sizeof(*tab->objects.items),
			   compare_object);
		tab->has_objects = true;
	}
	next = first_after(&tab->objects, addr);
	e = next ? &tab->objects.items[next - 1] : NULL;
	if (!e || addr - e->addr >= e->size)
		return NULL;
	*offset = addr - e->addr;
	return e->name;
}
