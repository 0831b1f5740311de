// SPDX-License-Identifier: GPL-2.0-or-later
/* The image's .symtab: which addresses are functions, and where _stext is. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/image_impl.h"
#include "symbol/name.h"

struct entry {
	uint64_t addr, size;
	const char *name;
	bool global;
};

struct entries {
	struct entry *items;
	uint32_t n_items, cap_items;
};

struct symtab {
	struct entries functions; /* STT_FUNC with a size; by address */
	struct entries labels; /* other names of code; by address */
	uint64_t stext;
	bool has_stext;
};

static int compare_entry(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	/* Of several at one address a search finds the last: let it be a global one. */
	if (x->global != y->global)
		return x->global ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* For each section by index: does it hold code? *N entries, for free(). */
static bool *code_sections(Elf *elf, size_t *n)
{
	bool *code;

	if (elf_getshdrnum(elf, n))
		*n = 0;
	code = alloc_array(*n, sizeof(*code));
	for (size_t i = 0; i < *n; i++) {
		Elf_Scn *scn = elf_getscn(elf, i);
		Elf64_Shdr *shdr = scn ? elf64_getshdr(scn) : NULL;

		code[i] = shdr && (shdr->sh_flags & SHF_EXECINSTR);
	}
	return code;
}

static void add_symbol(struct symtab *tab, const Elf64_Sym *sym, const char *name, bool code)
{
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
	if (!code || !*name)
		return;
	if (type == STT_FUNC && e.size)
		vec_push(&tab->functions, items, e);
	else if (type == STT_NOTYPE || type == STT_FUNC)
		vec_push(&tab->labels, items, e);
}

static void read_symbols(struct symtab *tab, Elf *elf, Elf_Scn *scn)
{
	Elf64_Shdr *shdr = elf64_getshdr(scn);
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Scn *str_scn = shdr ? elf_getscn(elf, shdr->sh_link) : NULL;
	Elf_Data *str = str_scn ? elf_getdata(str_scn, NULL) : NULL;
	const Elf64_Sym *syms;
	size_t n_sections;
	bool *code;

	if (!data || !data->d_buf || data->d_type != ELF_T_SYM || !str || !str->d_buf)
		return;
	syms = data->d_buf;
	code = code_sections(elf, &n_sections);
	for (size_t i = 0; i < data->d_size / sizeof(*syms); i++) {
		const Elf64_Sym *sym = &syms[i];
		const char *name;

		if (sym->st_name >= str->d_size)
			continue;
		name = (const char *)str->d_buf + sym->st_name;
		if (!memchr(name, '\0', str->d_size - sym->st_name))
			continue;
		add_symbol(tab, sym, name, sym->st_shndx < n_sections && code[sym->st_shndx]);
	}
	free(code);
	if (tab->functions.n_items)
		qsort(tab->functions.items, tab->functions.n_items, sizeof(struct entry),
		      compare_entry);
	if (tab->labels.n_items)
		qsort(tab->labels.items, tab->labels.n_items, sizeof(struct entry), compare_entry);
}

struct symtab *symbol_image_symtab(struct symbol_image *img)
{
	if (!img->symtab) {
		img->symtab = alloc_new(struct symtab);
		if (img->symtab_scn)
			read_symbols(img->symtab, img->elf, img->symtab_scn);
	}
	return img->symtab;
}

void symbol_symtab_destroy(struct symtab *tab)
{
	if (!tab)
		return;
	free(tab->functions.items);
	free(tab->labels.items);
	free(tab);
}

uint64_t symbol_image_base(struct symbol_image *img)
{
	struct symtab *tab = symbol_image_symtab(img);

	/* Linker scripts put _stext at the start of .text. */
	return tab->has_stext ? tab->stext : img->text_addr;
}

/* The index of the first entry beyond ADDR. */
static uint32_t first_after(const struct entries *e, uint64_t addr)
{
	uint32_t lo = 0, hi = e->n_items;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (e->items[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool symbol_image_is_function(struct symbol_image *img, const char *name, uint64_t addr,
			      uint64_t *size)
{
	struct symtab *tab = symbol_image_symtab(img);

	addr += symbol_image_base(img);
	if (symbol_name_is_cold(name))
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

/* How many functions to look back over for one that covers an address behind shorter ones. */
#define MAX_NESTED 8

/* How far a label, which has no size, may reach. */
#define MAX_LABEL_REACH 0x10000

/* The function whose bytes cover the file's address ADDR. */
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

const char *symbol_image_extent(struct symbol_image *img, uint64_t addr, struct symbol_range *range)
{
	uint64_t base = symbol_image_base(img);
	const struct entry *e = function_at(symbol_image_symtab(img), addr + base);

	if (!e)
		return NULL;
	*range = (struct symbol_range){ e->addr - base, e->addr - base + e->size };
	return e->name;
}

const char *symbol_image_symbol_at(struct symbol_image *img, uint64_t addr, uint64_t *offset)
{
	struct symtab *tab = symbol_image_symtab(img);
	const struct entry *found;
	uint32_t i;

	addr += symbol_image_base(img);
	found = function_at(tab, addr);
	i = first_after(&tab->labels, addr);
	if (!found && i > 0) {
		const struct entry *e = &tab->labels.items[i - 1];
		uint32_t f = first_after(&tab->functions, addr);

		/* A label reaches as far as nothing else begins, so not over a function. */
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

static int compare_addr(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void symbol_image_symbols_each(struct symbol_image *img, symbol_symtab_fn fn, void *arg)
{
	const struct symtab *tab = symbol_image_symtab(img);
	uint64_t base = symbol_image_base(img), *at;
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
	qsort(at, n, sizeof(*at), compare_addr);
	for (size_t i = 0; i < n; i++) {
		uint64_t offset = 0;
		const char *name;

		if (at[i] < base || (i && at[i] == at[i - 1]))
			continue;
		name = symbol_image_symbol_at(img, at[i] - base, &offset);
		fn(at[i] - base, name, offset, arg);
	}
	free(at);
}
