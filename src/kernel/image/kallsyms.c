// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/image/kallsyms.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sorted.h"
#include "kernel/image/kallsyms_impl.h"
#include "kernel/image/name.h"

/* Maximum size of /proc/kallsyms in bytes: ten times its size with all symbols and many modules. */
#define MAX_FILE (256u << 20)

/*
 * /proc/kallsyms does not tell the end of a module's last function. Assume that the function ends with its page, since BPF
 * programs and trampolines loaded later may come right after the page.
 */
#define PAGE 0x1000

struct kallsyms_module {
	char *name;
	uint64_t start; /* address of its first function */
};

/* Symbols in the same hash bucket: their names without clone suffixes have the same hash, and mostly are the same. */
struct kallsyms_bucket {
	uint32_t start, n; /* N symbols from by_base[START] on */
	bool sorted;
};

define_compare(compare_name, struct kernel_sym *const,
	       kernel_name_compare((*a)->name, (*b)->name) ?:
		       strcmp((*a)->name, (*b)->name)      ?:
							     compare_values(*a, *b));

static bool is_of_base(const char *name, const char *base, size_t len)
{
	return !strncmp(name, base, len) && kernel_name_base_len(name) == len;
}

static struct kallsyms_bucket *bucket_of(const struct kernel_kallsyms *ks, const char *base,
					 size_t len)
{
	return &ks->buckets[hash_bytes(base, len) % ks->n_buckets];
}

/* Return the symbols whose names without clone suffixes are BASE, LEN bytes long; NULL: none. Set *N to their number. */
static const struct kernel_sym **symbols_of(const struct kernel_kallsyms *ks, const char *base,
					    size_t len, size_t *n)
{
	struct kallsyms_bucket *b = bucket_of(ks, base, len);
	const struct kernel_sym **syms = ks->by_base + b->start;
	size_t first = 0;

	if (!b->sorted)
		sort_array(syms, b->n, sizeof(*syms), compare_name);
	b->sorted = true;
	*n = 0;
	while (first < b->n && !is_of_base(syms[first]->name, base, len))
		first++;
	while (first + *n < b->n && is_of_base(syms[first + *n]->name, base, len))
		++*n;
	return *n ? syms + first : NULL;
}

/* Return the module NAME, or NULL if it has no symbols yet. Comparison is fast if NAME is the table's own copy. */
static struct kallsyms_module *find_module(const struct kernel_kallsyms *ks, const char *name)
{
	/* All symbols of a module come one after the other, so mostly the last module is the right one. */
	for (uint32_t i = ks->n_modules; i-- > 0;)
		if (same_text(ks->modules[i].name, name))
			return &ks->modules[i];
	return NULL;
}

const char *kallsyms_intern_module(struct kernel_kallsyms *ks, const char *name)
{
	const struct kallsyms_module *known = find_module(ks, name);

	if (known)
		return known->name;
	vec_push(ks, modules, ((struct kallsyms_module){ alloc_strdup(name), UINT64_MAX }));
	return ks->modules[ks->n_modules - 1].name;
}

static void note_start(const struct kernel_kallsyms *ks, const struct kernel_sym *sym)
{
	struct kallsyms_module *m = sym->module ? find_module(ks, sym->module) : NULL;

	if (m && sym->addr < m->start)
		m->start = sym->addr;
}

static void note_bound(struct kernel_kallsyms *ks, const struct kernel_sym *sym)
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

bool kallsyms_cut_module(char *name, char before, const char **module)
{
	char *cut = strchr(name, before);
	size_t len = cut ? strlen(cut + 1) : 0;

	*module = NULL;
	if (!cut)
		return true;
	*cut = '\0';
	if (len < 3 || cut[1] != '[' || cut[len] != ']')
		return false;
	cut[len] = '\0';
	*module = cut + 2;
	return true;
}

/*
 * Return whether SYM is a variable of the image. Linux 7.3 gives variables the type letters of code. Symbols of the image are
 * added in ascending order: if _etext or _sinittext is below SYM, it is known by now.
 */
static bool is_data(const struct kernel_kallsyms *ks, const struct kernel_sym *sym)
{
	bool is_init = ks->init_start && (!ks->init_end || sym->addr <= ks->init_end);

	return !sym->module && ks->etext && sym->addr > ks->etext && !is_init;
}

static bool is_absolute(const struct kernel_sym *sym)
{
	return (sym->type | 32) == 'a'; /* per-CPU offsets have this type */
}

void kallsyms_add(struct kernel_kallsyms *ks, const struct kernel_sym *sym)
{
	bool is_code = strchr("tTwW", sym->type);

	if (is_code) {
		ks->any_addr |= sym->addr != 0;
		note_bound(ks, sym);
		note_start(ks, sym);
	}
	if (is_code && !is_data(ks, sym))
		vec_push(ks, syms, *sym);
	else if (!sym->module && !is_absolute(sym))
		vec_push(ks, variables, *sym);
}

/* Parse a line "ADDR TYPE NAME[\t[MODULE]]". */
static void add_line(char *line, void *ks)
{
	const char *at = line;
	struct kernel_sym sym = {};
	const char *module;
	char *name;

	if (!number_scan_hex(&at, &sym.addr) || at[0] != ' ' || !at[1] || at[2] != ' ')
		return;
	sym.type = at[1];
	sym.name = name = line + (at - line) + 3;
	if (!kallsyms_cut_module(name, '\t', &module) || !*name || strchr(name, ' '))
		return;
	sym.module = module ? kallsyms_intern_module(ks, module) : NULL;
	kallsyms_add(ks, &sym);
}

/* For equal addresses compare the pointers to the names: in the text of /proc/kallsyms, these have the order of the file. */
define_compare(compare_addr, struct kernel_sym,
	       compare_values(a->addr, b->addr) ?: compare_values(a->name, b->name));

/* Sort the symbols by address. The image's symbols come first, and are sorted already. */
static void sort_by_addr(struct kernel_kallsyms *ks)
{
	struct kernel_sym *syms = ks->syms;
	size_t n = ks->n_syms, sorted = n > 0, from;
	uint64_t low = UINT64_MAX;

	while (sorted < n && syms[sorted].addr >= syms[sorted - 1].addr)
		sorted++;
	for (size_t i = sorted; i < n; i++)
		low = syms[i].addr < low ? syms[i].addr : low;
	from = bisect(sorted, i, syms[i].addr <= low);
	if (sorted < n)
		sort_array(syms + from, n - from, sizeof(*syms), compare_addr);
}

static void group_names(struct kernel_kallsyms *ks)
{
	uint32_t *of = alloc_array(ks->n_syms, sizeof(*of)), start = 0;

	ks->n_buckets = 2 * ks->n_syms + 1;
	ks->buckets = alloc_array(ks->n_buckets, sizeof(*ks->buckets));
	ks->by_base = alloc_array(ks->n_syms, sizeof(*ks->by_base));
	for (size_t i = 0; i < ks->n_syms; i++) {
		const char *name = ks->syms[i].name;
		struct kallsyms_bucket *b = bucket_of(ks, name, kernel_name_base_len(name));

		of[i] = (uint32_t)(b - ks->buckets);
		b->n++;
	}
	for (size_t i = 0; i < ks->n_buckets; i++) {
		ks->buckets[i].start = start;
		start += ks->buckets[i].n;
		ks->buckets[i].n = 0;
	}
	for (size_t i = 0; i < ks->n_syms; i++) {
		struct kallsyms_bucket *b = &ks->buckets[of[i]];

		ks->by_base[b->start + b->n++] = &ks->syms[i];
	}
	free(of);
}

void kallsyms_finish(struct kernel_kallsyms *ks)
{
	sort_by_addr(ks);
	group_names(ks);
}

int kernel_kallsyms_load(const char *path, struct kernel_kallsyms **out)
{
	struct kernel_kallsyms *ks = alloc_new(struct kernel_kallsyms);
	size_t len;
	char *text;
	int err;

	*out = NULL;
	err = file_read(path, MAX_FILE, &text, &len);
	if (err) {
		log_error("cannot read the kernel's symbols from %s: %s", path, log_strerror(err));
		kernel_kallsyms_destroy(ks);
		return err;
	}
	alloc_keep(&ks->names, text);
	file_lines_each(text, len, add_line, ks);
	if (ks->n_syms && !ks->any_addr) {
		err = -EPERM;
		log_error(
			"%s hides the kernel's addresses from this user: run as root, or with CAP_SYSLOG",
			path);
	} else if (!ks->stext) {
		err = -EINVAL;
		log_error("%s: %s", path, ks->n_syms ? "no symbol _stext" : "no function symbols");
	}
	if (err) {
		kernel_kallsyms_destroy(ks);
		return err;
	}
	kallsyms_finish(ks);
	*out = ks;
	return 0;
}

struct kernel_kallsyms *kernel_kallsyms_of(const struct kernel_sym *syms, size_t n)
{
	struct kernel_kallsyms *ks = alloc_new(struct kernel_kallsyms);

	for (size_t i = 0; i < n; i++) {
		struct kernel_sym sym = syms[i];

		sym.name = alloc_keep(&ks->names, alloc_strdup(sym.name));
		sym.module = kallsyms_intern_module(ks, sym.module);
		kallsyms_add(ks, &sym);
	}
	kallsyms_finish(ks);
	return ks;
}

void kernel_kallsyms_destroy(struct kernel_kallsyms *ks)
{
	if (!ks)
		return;
	for (size_t i = 0; i < ks->n_modules; i++)
		free(ks->modules[i].name);
	free(ks->modules);
	free(ks->buckets);
	free(ks->by_base);
	free(ks->syms);
	free(ks->variables);
	alloc_texts_free(&ks->names);
	free(ks);
}

uint64_t kernel_kallsyms_variable(const struct kernel_kallsyms *ks, const char *name)
{
	for (size_t i = 0; i < ks->n_variables; i++)
		if (!strcmp(name, ks->variables[i].name))
			return ks->variables[i].addr;
	return 0;
}

const char *kernel_kallsyms_variable_at(const struct kernel_kallsyms *ks, uint64_t addr,
					uint64_t *offset)
{
	size_t next = bisect(ks->n_variables, i, ks->variables[i].addr <= addr);

	if (!next)
		return NULL;
	*offset = addr - ks->variables[next - 1].addr;
	return ks->variables[next - 1].name;
}

bool kernel_kallsyms_is_bpf(const struct kernel_sym *sym)
{
	return sym->module && !strcmp(sym->module, "bpf");
}

bool kernel_kallsyms_is_probe(const struct kernel_sym *sym)
{
	return sym->module && !strncmp(sym->module, "__builtin__", strlen("__builtin__"));
}

uint64_t kernel_kallsyms_base(const struct kernel_kallsyms *ks, const struct kernel_sym *sym)
{
	const struct kallsyms_module *m = sym->module ? find_module(ks, sym->module) : NULL;

	return m ? m->start : ks->stext;
}

const struct kernel_sym *const *kernel_kallsyms_named(const struct kernel_kallsyms *ks,
						      const char *name, size_t *n)
{
	size_t n_group, start = 0;
	const struct kernel_sym **group =
		symbols_of(ks, name, kernel_name_base_len(name), &n_group);

	*n = 0;
	while (start < n_group && strcmp(group[start]->name, name))
		start++;
	while (start + *n < n_group && !strcmp(group[start + *n]->name, name))
		++*n;
	return *n ? group + start : NULL;
}

size_t kernel_kallsyms_reported_len(const struct kernel_kallsyms *ks, const char *name)
{
	size_t n, base_len = kernel_name_base_len(name);
	scoped_free char *base = NULL;

	if (!strstr(name + base_len, ".part."))
		return base_len;
	base = alloc_strndup(name, base_len);
	kernel_kallsyms_named(ks, base, &n);
	return n ? strlen(name) : base_len;
}

const struct kernel_sym **kernel_kallsyms_clones(const struct kernel_kallsyms *ks, const char *base,
						 size_t *n)
{
	size_t n_group;
	const struct kernel_sym **group = symbols_of(ks, base, strlen(base), &n_group);
	const struct kernel_sym **found = alloc_array(n_group, sizeof(*found));

	*n = 0;
	for (size_t i = 0; i < n_group; i++)
		if (!kernel_name_is_cold(group[i]->name))
			found[(*n)++] = group[i];
	sort_array(found, *n, sizeof(*found), compare_u64);
	return found;
}

static size_t first_after(const struct kernel_kallsyms *ks, uint64_t addr)
{
	return bisect(ks->n_syms, i, ks->syms[i].addr <= addr);
}

/* Return whether NAME is a mark that the linker script defines at the address of the next function. */
static bool is_mark(const char *name)
{
	size_t len = strlen(name);

	return !strcmp(name, "_stext") || !strcmp(name, "_text") || !strcmp(name, "_etext") ||
	       (len > 11 && !strcmp(name + len - 11, "_text_start")) ||
	       (len > 9 && !strcmp(name + len - 9, "_text_end"));
}

static int preference(const struct kernel_sym *sym)
{
	if (is_mark(sym->name))
		return 0;
	return sym->type == 'T' ? 2 : 1;
}

uint64_t kernel_kallsyms_end(const struct kernel_kallsyms *ks, const struct kernel_sym *sym)
{
	uint64_t page = PAGE - sym->addr % PAGE;
	uint64_t size = sym->size ?: kernel_kallsyms_size(ks, sym) ?: page;

	/* Assume that a BPF program ends with its page at most: programs that kallsyms omits (classic filters) may follow. */
	if (!sym->size && kernel_kallsyms_is_bpf(sym) && size > page)
		size = page;
	return sym->addr + size;
}

const struct kernel_sym *kernel_kallsyms_covering(const struct kernel_kallsyms *ks, uint64_t addr,
						  uint64_t *offset)
{
	size_t next = first_after(ks, addr), i = next;
	const struct kernel_sym *best;

	if (!next)
		return NULL;
	best = &ks->syms[--i];
	while (i > 0 && ks->syms[i - 1].addr == best->addr) {
		i--;
		/* This loop goes backwards. With ">=", the first of equally preferred symbols in the file wins. */
		if (preference(&ks->syms[i]) >= preference(best))
			best = &ks->syms[i];
	}
	if (!best->module && ks->etext && addr >= ks->etext &&
	    (addr < ks->init_start || addr >= ks->init_end))
		return NULL;
	if (addr >= kernel_kallsyms_end(ks, best))
		return NULL;
	if (offset)
		*offset = addr - best->addr;
	return best;
}

uint64_t kernel_kallsyms_size(const struct kernel_kallsyms *ks, const struct kernel_sym *sym)
{
	size_t next = first_after(ks, sym->addr);

	if (!sym->module && sym->addr < ks->etext &&
	    (next == ks->n_syms || ks->syms[next].addr > ks->etext))
		return ks->etext - sym->addr;
	if (next == ks->n_syms || ks->syms[next].module != sym->module)
		return 0;
	return ks->syms[next].addr - sym->addr;
}

bool kernel_kallsyms_is_init(const struct kernel_kallsyms *ks, const struct kernel_sym *sym)
{
	return !sym->module && sym->addr >= ks->init_start && sym->addr < ks->init_end;
}

bool kernel_kallsyms_in_image(const struct kernel_kallsyms *ks, uint64_t addr)
{
	const struct kernel_sym *sym;

	if (addr < ks->stext)
		return false;
	if (ks->etext)
		return addr < ks->etext;
	sym = kernel_kallsyms_covering(ks, addr, NULL);
	return sym && !sym->module;
}
