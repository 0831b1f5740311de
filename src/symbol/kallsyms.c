// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "symbol/file.h"
#include "symbol/name.h"

/* Ten times what a kernel with every symbol and many modules prints. */
#define MAX_FILE (256u << 20)

/*
 * How far the last function of a module is taken to reach, whose end the file does not tell: to that
 * of its page. BPF programs and trampolines that came later lie right behind.
 */
#define PAGE 0x1000

struct module {
	char *name;
	uint64_t start; /* where its first function is */
};

struct symbol_kallsyms {
	char *text; /* the file; names point into it */
	struct symbol_sym *syms;
	size_t n_syms, cap_syms;
	struct module *modules;
	size_t n_modules, cap_modules;
	uint64_t stext, etext;
	uint64_t init_start, init_end;
	/*
	 * Chains of a hash over names less their clone suffixes, end to end: chain i is
	 * by_name[chain[i]] to by_name[chain[i + 1]], sorted by name, then address.
	 */
	const struct symbol_sym **by_name;
	uint32_t *chain;
	uint32_t mask;
};

static uint32_t hash_bytes(const char *s, size_t n)
{
	uint32_t h = 2166136261u;

	while (n--)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h ^ h >> 15;
}

static uint32_t name_bucket(const struct symbol_kallsyms *ks, const char *name)
{
	return hash_bytes(name, symbol_name_base_len(name)) & ks->mask;
}

static const char *intern_module(struct symbol_kallsyms *ks, const char *name)
{
	/* Symbols of a module follow each other, so the search ends at its first step. */
	for (size_t i = ks->n_modules; i-- > 0;)
		if (!strcmp(ks->modules[i].name, name))
			return ks->modules[i].name;
	vec_push(ks, modules, ((struct module){ alloc_strdup(name), UINT64_MAX }));
	return ks->modules[ks->n_modules - 1].name;
}

static struct module *module_of(const struct symbol_kallsyms *ks, const struct symbol_sym *sym)
{
	/* While the file is parsed it is the last one. */
	for (size_t i = ks->n_modules; i-- > 0;)
		if (ks->modules[i].name == sym->module)
			return &ks->modules[i];
	return NULL;
}

static void note_start(const struct symbol_kallsyms *ks, const struct symbol_sym *sym)
{
	struct module *m = sym->module ? module_of(ks, sym) : NULL;

	if (m && sym->addr < m->start)
		m->start = sym->addr;
}

static void note_bound(struct symbol_kallsyms *ks, const struct symbol_sym *sym)
{
	const char *name = sym->name;

	if (name[0] != '_' || sym->module)
		return;
	if (!strcmp(name, "_stext"))
		ks->stext = sym->addr;
	else if (!strcmp(name, "_etext"))
		ks->etext = sym->addr;
	else if (!strcmp(name, "_sinittext"))
		ks->init_start = sym->addr;
	else if (!strcmp(name, "_einittext"))
		ks->init_end = sym->addr;
}

/*
 * Parses "ADDR TYPE NAME[\t[MODULE]]", which is NUL-terminated in place of its newline. By hand:
 * with 200,000 lines, in a guest whose clock counts instructions, sscanf() would be most of what
 * the program does.
 */
static bool parse_line(struct symbol_kallsyms *ks, char *p, struct symbol_sym *sym)
{
	char *start = p, *name, *tab;

	sym->addr = 0;
	for (;; p++) {
		unsigned int c = (unsigned char)*p, digit;

		if (c - '0' < 10)
			digit = c - '0';
		else if ((c | 32) - 'a' < 6)
			digit = (c | 32) - 'a' + 10;
		else
			break;
		sym->addr = sym->addr << 4 | digit;
	}
	if (p == start || p - start > 16 || p[0] != ' ' || !p[1] || p[2] != ' ')
		return false;
	sym->type = p[1];
	sym->module = NULL;
	name = p + 3;
	if ((sym->type | 32) != 't' && (sym->type | 32) != 'w')
		return false;
	tab = strchr(name, '\t');
	if (tab) {
		size_t len = strlen(tab + 1);

		*tab = '\0';
		if (len < 3 || tab[1] != '[' || tab[len] != ']')
			return false;
		tab[len] = '\0';
		sym->module = intern_module(ks, tab + 2);
	}
	sym->name = name;
	return *name != '\0' && !strchr(name, ' ');
}

static void parse(struct symbol_kallsyms *ks, size_t len, bool *any_addr)
{
	char *p = ks->text, *end = ks->text + len;

	*any_addr = false;
	while (p < end) {
		char *nl = memchr(p, '\n', (size_t)(end - p));
		struct symbol_sym sym;

		/* What has no newline was cut off: its name may be only half of one. */
		if (!nl)
			break;
		*nl = '\0';
		if (parse_line(ks, p, &sym)) {
			*any_addr |= sym.addr != 0;
			note_bound(ks, &sym);
			note_start(ks, &sym);
			vec_push(ks, syms, sym);
		}
		p = nl + 1;
	}
}

static int compare_addr(const void *a, const void *b)
{
	const struct symbol_sym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	/* Names lie in the file's order. */
	return x->name < y->name ? -1 : x->name > y->name;
}

static void sort_by_addr(struct symbol_kallsyms *ks)
{
	for (size_t i = 1; i < ks->n_syms; i++) {
		if (ks->syms[i].addr < ks->syms[i - 1].addr) {
			qsort(ks->syms, ks->n_syms, sizeof(*ks->syms), compare_addr);
			return;
		}
	}
}

static int compare_name(const struct symbol_sym *x, const struct symbol_sym *y)
{
	int c = strcmp(x->name, y->name);

	return c ? c : (x > y) - (x < y);
}

static void index_names(struct symbol_kallsyms *ks)
{
	uint32_t n = 1;
	uint32_t *bucket;

	while (n < ks->n_syms)
		n *= 2;
	ks->mask = n - 1;
	ks->chain = alloc_array((size_t)n + 1, sizeof(*ks->chain));
	ks->by_name = alloc_array(ks->n_syms, sizeof(*ks->by_name));
	bucket = alloc_array(ks->n_syms, sizeof(*bucket));
	for (size_t i = 0; i < ks->n_syms; i++) {
		bucket[i] = name_bucket(ks, ks->syms[i].name);
		ks->chain[bucket[i] + 1]++;
	}
	for (uint32_t i = 0; i < n; i++)
		ks->chain[i + 1] += ks->chain[i];
	/* chain[i + 1] serves as the cursor of chain i, and ends up at its end. */
	for (uint32_t i = n; i > 0; i--)
		ks->chain[i] = ks->chain[i - 1];
	for (size_t i = 0; i < ks->n_syms; i++)
		ks->by_name[ks->chain[bucket[i] + 1]++] = &ks->syms[i];
	free(bucket);
	for (uint32_t i = 0; i < n; i++) {
		const struct symbol_sym **chain = ks->by_name + ks->chain[i];
		uint32_t len = ks->chain[i + 1] - ks->chain[i];

		for (uint32_t j = 1; j < len; j++) {
			const struct symbol_sym *sym = chain[j];
			uint32_t k = j;

			for (; k > 0 && compare_name(chain[k - 1], sym) > 0; k--)
				chain[k] = chain[k - 1];
			chain[k] = sym;
		}
	}
}

int symbol_kallsyms_load(const char *path, struct symbol_kallsyms **out)
{
	struct symbol_kallsyms *ks = alloc_new(struct symbol_kallsyms);
	bool any_addr;
	size_t len;
	int err;

	*out = NULL;
	err = symbol_file_read(path, MAX_FILE, &ks->text, &len);
	if (err) {
		log_error("cannot read the kernel's symbols from %s: %s", path, log_strerror(err));
		symbol_kallsyms_destroy(ks);
		return err;
	}
	parse(ks, len, &any_addr);
	if (ks->n_syms && !any_addr) {
		err = -EPERM;
		log_error("%s hides the kernel's addresses from this user: run as root", path);
	} else if (!ks->stext) {
		err = -EINVAL;
		log_error("%s: %s", path,
			  ks->n_syms ? "no symbol _stext" : "no symbols of functions");
	}
	if (err) {
		symbol_kallsyms_destroy(ks);
		return err;
	}
	sort_by_addr(ks);
	index_names(ks);
	*out = ks;
	return 0;
}

void symbol_kallsyms_destroy(struct symbol_kallsyms *ks)
{
	if (!ks)
		return;
	for (size_t i = 0; i < ks->n_modules; i++)
		free(ks->modules[i].name);
	free(ks->modules);
	free(ks->chain);
	free(ks->by_name);
	free(ks->syms);
	free(ks->text);
	free(ks);
}

uint64_t symbol_kallsyms_stext(const struct symbol_kallsyms *ks)
{
	return ks->stext;
}

uint64_t symbol_kallsyms_etext(const struct symbol_kallsyms *ks)
{
	return ks->etext;
}

uint64_t symbol_kallsyms_base(const struct symbol_kallsyms *ks, const struct symbol_sym *sym)
{
	const struct module *m = sym->module ? module_of(ks, sym) : NULL;

	return m ? m->start : ks->stext;
}

const struct symbol_sym *symbol_kallsyms_all(const struct symbol_kallsyms *ks, size_t *n)
{
	*n = ks->n_syms;
	return ks->syms;
}

const struct symbol_sym *const *symbol_kallsyms_named(const struct symbol_kallsyms *ks,
						      const char *name, size_t *n)
{
	uint32_t bucket = name_bucket(ks, name);
	uint32_t i = ks->chain[bucket], end = ks->chain[bucket + 1], start;

	while (i < end && strcmp(ks->by_name[i]->name, name))
		i++;
	start = i;
	while (i < end && !strcmp(ks->by_name[i]->name, name))
		i++;
	*n = i - start;
	return *n ? ks->by_name + start : NULL;
}

static int compare_pointer(const void *a, const void *b)
{
	const struct symbol_sym *x = *(const struct symbol_sym *const *)a;
	const struct symbol_sym *y = *(const struct symbol_sym *const *)b;

	return (x > y) - (x < y);
}

const struct symbol_sym **symbol_kallsyms_clones(const struct symbol_kallsyms *ks, const char *base,
						 size_t *n)
{
	size_t len = strlen(base);
	uint32_t bucket = hash_bytes(base, len) & ks->mask;
	const struct symbol_sym **found =
		alloc_array(ks->chain[bucket + 1] - ks->chain[bucket], sizeof(*found));

	*n = 0;
	for (uint32_t i = ks->chain[bucket]; i < ks->chain[bucket + 1]; i++) {
		const char *name = ks->by_name[i]->name;

		if (symbol_name_base_len(name) == len && !memcmp(name, base, len) &&
		    !symbol_name_is_cold(name))
			found[(*n)++] = ks->by_name[i];
	}
	qsort(found, *n, sizeof(*found), compare_pointer);
	return found;
}

/* The index of the first symbol beyond ADDR. */
static size_t first_after(const struct symbol_kallsyms *ks, uint64_t addr)
{
	size_t lo = 0, hi = ks->n_syms;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (ks->syms[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Marks of the linker script share their address with the first function behind them. */
static bool is_mark(const char *name)
{
	size_t len = strlen(name);

	return !strcmp(name, "_stext") || !strcmp(name, "_text") || !strcmp(name, "_etext") ||
	       (len > 11 && !strcmp(name + len - 11, "_text_start")) ||
	       (len > 9 && !strcmp(name + len - 9, "_text_end"));
}

static int preference(const struct symbol_sym *sym)
{
	if (is_mark(sym->name))
		return 0;
	return sym->type == 'T' ? 2 : 1;
}

const struct symbol_sym *symbol_kallsyms_covering(const struct symbol_kallsyms *ks, uint64_t addr,
						  uint64_t *offset)
{
	size_t next = first_after(ks, addr), i = next;
	const struct symbol_sym *best;
	uint64_t end;

	if (!next)
		return NULL;
	best = &ks->syms[--i];
	while (i > 0 && ks->syms[i - 1].addr == best->addr) {
		i--;
		/* "At least": at equal preference the first in the file wins. */
		if (preference(&ks->syms[i]) >= preference(best))
			best = &ks->syms[i];
	}
	if (!best->module && ks->etext && addr >= ks->etext &&
	    (addr < ks->init_start || addr >= ks->init_end))
		return NULL;
	end = symbol_kallsyms_size(ks, best);
	if (!end)
		end = PAGE - best->addr % PAGE;
	if (addr - best->addr >= end)
		return NULL;
	if (offset)
		*offset = addr - best->addr;
	return best;
}

uint64_t symbol_kallsyms_size(const struct symbol_kallsyms *ks, const struct symbol_sym *sym)
{
	size_t next = first_after(ks, sym->addr);

	if (!sym->module && sym->addr < ks->etext &&
	    (next == ks->n_syms || ks->syms[next].addr > ks->etext))
		return ks->etext - sym->addr;
	if (next == ks->n_syms || ks->syms[next].module != sym->module)
		return 0;
	return ks->syms[next].addr - sym->addr;
}

bool symbol_kallsyms_is_init(const struct symbol_kallsyms *ks, const struct symbol_sym *sym)
{
	return !sym->module && sym->addr >= ks->init_start && sym->addr < ks->init_end;
}

bool symbol_kallsyms_in_image(const struct symbol_kallsyms *ks, uint64_t addr)
{
	const struct symbol_sym *sym;

	if (addr < ks->stext)
		return false;
	if (ks->etext)
		return addr < ks->etext;
	sym = symbol_kallsyms_covering(ks, addr, NULL);
	return sym && !sym->module;
}
