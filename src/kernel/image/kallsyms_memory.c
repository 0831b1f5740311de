// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read the kernel's symbols from its memory, from the tables behind /proc/kallsyms. This is faster: each line of that file takes
 * some 1,400 instructions of the kernel, and 500 of the reader. The tables' addresses are in the vmcoreinfo of /proc/kcore
 * (since Linux 6.0).
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "kernel/image/btf.h"
#include "kernel/image/kallsyms_impl.h"
#include "kernel/image/kcore.h"

#define SYMBOLS_MAX (1u << 22)
#define NAMES_MAX   (64u << 20) /* maximum bytes of all compressed names, or a module's names */
#define LIST_MAX    (1u << 16) /* a longer list is circular: it changed during the reading */

#define TOKENS 256
#define CHUNK  (1u << 20) /* size in bytes of an allocation for names */
#define AT_ONCE \
	8 /* bytes copied of a token at once, even of a shorter token; most have two or three */

struct reading {
	const struct kernel_kcore *kcore;
	const struct btf *btf; /* types of the kernel, or NULL */
	struct kernel_kallsyms *ks;
	const struct kernel_kallsyms *image; /* table with symbols and variables of the image */
};

static int read_memory(const struct reading *r, uint64_t addr, void *buf, size_t len)
{
	return kernel_kcore_read(r->kcore, addr, buf, len);
}

/* Return LEN bytes at ADDR, followed by a NUL. On error return NULL and set *ERR. The caller frees the result. */
static char *read_bytes(const struct reading *r, uint64_t addr, size_t len, int *err)
{
	char *bytes;

	if (!addr || len > NAMES_MAX)
		*err = -EINVAL;
	if (*err)
		return NULL;
	bytes = alloc_array(len + 1, 1);
	*err = read_memory(r, addr, bytes, len);
	if (!*err)
		return bytes;
	free(bytes);
	return NULL;
}

/* The texts of the tokens. In a compressed name, each byte is the number of a token. */
struct tokens {
	char *texts;
	uint16_t start[TOKENS], len[TOKENS];
};

static int read_tokens(const struct reading *r, struct tokens *t)
{
	uint64_t index = kernel_kcore_symbol(r->kcore, "kallsyms_token_index");
	int err = index ? read_memory(r, index, t->start, sizeof(t->start)) : -ENOENT;
	size_t len = t->start[TOKENS - 1] + KALLSYMS_NAME_MAX;

	t->texts = read_bytes(r, kernel_kcore_symbol(r->kcore, "kallsyms_token_table"), len, &err);
	for (size_t i = 0; !err && i < TOKENS; i++) {
		size_t n = t->start[i] + (size_t)AT_ONCE <= len ? strlen(t->texts + t->start[i]) :
								  KALLSYMS_NAME_MAX;

		if (n >= KALLSYMS_NAME_MAX)
			return -EINVAL;
		t->len[i] = (uint16_t)n;
	}
	return err;
}

struct names {
	char *bytes; /* compressed names, one after the other: number of tokens, then the tokens */
	const uint8_t *at, *end;
	struct tokens tokens;
	struct alloc_texts *kept;
	char *to; /* address at which the next name is unpacked */
	size_t room; /* number of free bytes at TO */
};

/* Return the size in bytes of the table of names, which ends where the next of the tables begins. */
static size_t names_size(const struct reading *r, uint64_t names)
{
	static const char *const others[] = { "kallsyms_num_syms", "kallsyms_token_table",
					      "kallsyms_token_index", "kallsyms_offsets",
					      "kallsyms_relative_base" };
	uint64_t end = UINT64_MAX;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		uint64_t other = kernel_kcore_symbol(r->kcore, others[i]);

		end = other > names && other < end ? other : end;
	}
	return end - names;
}

static int read_names(const struct reading *r, struct names *names)
{
	uint64_t at = kernel_kcore_symbol(r->kcore, "kallsyms_names");
	size_t len = at ? names_size(r, at) : 0;
	int err = read_tokens(r, &names->tokens);

	names->bytes = read_bytes(r, at, len, &err);
	if (err)
		return err;
	names->at = (const uint8_t *)names->bytes;
	names->end = names->at + len;
	names->kept = &r->ks->names;
	return 0;
}

/* If the free bytes do not suffice for a name of N tokens, allocate new memory. */
static void make_room(struct names *names, size_t n)
{
	size_t most = n * KALLSYMS_NAME_MAX + AT_ONCE;

	if (most <= names->room)
		return;
	names->room = most > CHUNK ? most : CHUNK;
	names->to = alloc_array(names->room, 1);
	alloc_keep(names->kept, names->to);
}

/* Unpack and return the next symbol's text: its type letter, then its name. Return NULL at the end. */
static const char *next_name(struct names *names)
{
	size_t left = (size_t)(names->end - names->at), len = left ? *names->at : 0;
	const struct tokens *t = &names->tokens;
	const char *name;

	if (len & 0x80 && left > 1) { /* since Linux 6.1 a length may have two bytes */
		len = (len & 0x7f) | (size_t)names->at[1] << 7;
		names->at++;
	}
	if (!len || len >= left)
		return NULL;
	make_room(names, len);
	name = names->to;
	for (names->at++; len--; names->at++) {
		const char *text = t->texts + t->start[*names->at];
		size_t size = t->len[*names->at];

		memcpy(names->to, text, AT_ONCE);
		if (size > AT_ONCE)
			memcpy(names->to + AT_ONCE, text + AT_ONCE, size - AT_ONCE);
		names->to += size;
	}
	*names->to++ = '\0';
	names->room -= (size_t)(names->to - name);
	return *name ? name : NULL;
}

struct offsets {
	int32_t *items;
	uint64_t at; /* address of ITEMS in the kernel's memory */
	uint64_t base; /* 0: an offset is relative to its own address (since Linux 7.0) */
	bool any_below;
};

/*
 * Return the address of symbol I. With a base, the negative offset -1 - N means the address base + N. If any offset is negative
 * (until Linux 6.14), offsets that are not negative are absolute (per-CPU) addresses.
 */
static uint64_t address(const struct offsets *o, uint32_t i)
{
	int64_t offset = o->items[i];

	if (!o->base)
		return o->at + i * sizeof(*o->items) + (uint64_t)offset;
	if (offset < 0)
		return o->base - 1 - (uint64_t)offset;
	return (o->any_below ? 0 : o->base) + (uint64_t)offset;
}

static int read_offsets(const struct reading *r, uint32_t n, struct offsets *o)
{
	uint64_t base = kernel_kcore_symbol(r->kcore, "kallsyms_relative_base");
	int err = base ? read_memory(r, base, &o->base, sizeof(o->base)) : 0;

	o->at = kernel_kcore_symbol(r->kcore, "kallsyms_offsets");
	o->items = (int32_t *)read_bytes(r, o->at, n * sizeof(*o->items), &err);
	for (uint32_t i = 0; !err && i < n; i++)
		o->any_below |= o->items[i] < 0;
	return err;
}

static int add_image(const struct reading *r, struct names *names, const struct offsets *offsets,
		     uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const char *name = next_name(names);
		struct kernel_sym sym = { .addr = address(offsets, i) };

		if (!name)
			return -EINVAL;
		sym.type = name[0];
		sym.name = name + 1;
		kallsyms_add(r->ks, &sym);
	}
	return 0;
}

static int read_image(const struct reading *r)
{
	uint64_t count = kernel_kcore_symbol(r->kcore, "kallsyms_num_syms");
	struct offsets offsets = {};
	struct names names = {};
	uint32_t n = 0;
	int err = count ? read_memory(r, count, &n, sizeof(n)) : -ENOENT;

	err = err ?: n && n <= SYMBOLS_MAX ? 0 : -EINVAL;
	err = err ?: read_offsets(r, n, &offsets);
	err = err ?: read_names(r, &names);
	err = err ?: add_image(r, &names, &offsets, n);
	if (!err && (!r->ks->stext || r->ks->stext != kernel_kcore_symbol(r->kcore, "_stext")))
		err = -EINVAL;
	free(offsets.items);
	free(names.bytes);
	free(names.tokens.texts);
	return err;
}

struct member {
	const char *name;
	void *to;
	size_t len;
	int at; /* offset of the member in bytes, set by find_members() */
};

/* A struct of the kernel: the members to read, and the function to call when they have been read. */
struct item {
	const char *type, *link; /* LINK: member that links a list of these structs, or NULL */
	struct member members[5]; /* the last one has no name */
	int (*add)(const struct reading *r, const struct item *i);
	const void *to; /* object that contains the copies of the members */
	struct item *inner; /* struct to which a member of this struct points, or NULL */
	int link_at;
};

static int find_member(const struct reading *r, const struct item *i, const char *name, int *at)
{
	*at = r->btf ? kernel_btf_offset(r->btf, i->type, name) : -ENOENT;
	return *at < 0 ? -ENOENT : 0;
}

static int find_members(const struct reading *r, struct item *i)
{
	int err = i->link ? find_member(r, i, i->link, &i->link_at) : 0;

	for (struct member *m = i->members; m->name && !err; m++)
		err = find_member(r, i, m->name, &m->at);
	return err || !i->inner ? err : find_members(r, i->inner);
}

static int read_members(const struct reading *r, uint64_t addr, const struct item *i)
{
	int err = 0;

	for (const struct member *m = i->members; m->name && !err; m++)
		err = read_memory(r, addr + (uint64_t)m->at, m->to, m->len);
	return err;
}

/* HEAD is the address of a list_head; 0: unknown. For each struct in that list, read the members and call I->add(). */
static int read_list(const struct reading *r, uint64_t head, struct item *i)
{
	uint64_t at = head;
	int err = head ? 0 : -ENOENT;

	for (uint32_t n = 0; !err; n++) {
		err = read_memory(r, at, &at, sizeof(at));
		if (err || at == head)
			break;
		err = n ? 0 : find_members(r, i);
		err = err ?: n < LIST_MAX ? 0 : -ELOOP;
		err = err ?: read_members(r, at - (uint64_t)i->link_at, i);
		err = err ?: i->add(r, i);
	}
	return err;
}

static uint64_t variable(const struct reading *r, const char *name)
{
	return kernel_kallsyms_variable(r->image, name);
}

#define member_to(where, what)                                       \
	{                                                            \
		.name = (what), .to = &(where), .len = sizeof(where) \
	}

struct module {
	char name[56]; /* MODULE_NAME_LEN */
	uint64_t kallsyms;
};

struct module_tables {
	uint64_t symtab, strtab, typetab;
	uint32_t n;
};

/* Add N symbols SYMS of MODULE. R->ks already owns the text NAMES. */
static void add_module_symbols(const struct reading *r, const char *module, const Elf64_Sym *syms,
			       const char *types, uint32_t n, const char *names)
{
	for (uint32_t i = 0; i < n; i++) {
		struct kernel_sym sym = { .addr = syms[i].st_value,
					  .type = types[i],
					  .name = names + syms[i].st_name };

		if (!*sym.name || !sym.type)
			continue;
		sym.module = kallsyms_intern_module(r->ks, module);
		kallsyms_add(r->ks, &sym);
	}
}

static int add_module(const struct reading *r, const struct item *i)
{
	const struct module *m = i->to;
	const struct module_tables *t = i->inner->to;
	int err = m->kallsyms ? read_members(r, m->kallsyms, i->inner) : -EINVAL;
	uint32_t n = t->n;
	scoped_free char *types = NULL, *syms = NULL;
	size_t len = 0;
	char *names;

	err = err ?: n <= SYMBOLS_MAX ? 0 : -EINVAL;
	types = read_bytes(r, t->typetab, n, &err);
	syms = read_bytes(r, t->symtab, n * sizeof(Elf64_Sym), &err);
	for (uint32_t s = 0; !err && s < n; s++) {
		uint32_t at = ((const Elf64_Sym *)syms)[s].st_name;

		len = at > len ? at : len;
	}
	names = read_bytes(r, t->strtab, len + KALLSYMS_NAME_MAX, &err);
	if (err)
		return err;
	alloc_keep(&r->ks->names, names);
	add_module_symbols(r, strndupa(m->name, sizeof(m->name)), (const Elf64_Sym *)syms, types, n,
			   names);
	return 0;
}

static int read_modules(const struct reading *r)
{
	struct module_tables t = {};
	struct item tables = {
		.type = "mod_kallsyms",
		.members = { member_to(t.symtab, "symtab"), member_to(t.strtab, "strtab"),
			     member_to(t.typetab, "typetab"), member_to(t.n, "num_symtab") },
		.to = &t
	};
	struct module m;
	struct item module = { .type = "module",
			       .link = "list",
			       .members = { member_to(m.name, "name"),
					    member_to(m.kallsyms, "kallsyms") },
			       .add = add_module,
			       .to = &m,
			       .inner = &tables };

	return read_list(r, variable(r, "modules"), &module);
}

/* Code that the kernel made at run time. */
struct code {
	const char *module;
	uint64_t addr, end; /* END 0: the end is unknown */
	char name[KALLSYMS_NAME_MAX];
};

static int add_code(const struct reading *r, const struct item *i)
{
	const struct code *c = i->to;
	struct kernel_sym sym = { .addr = c->addr, .type = 't' };

	if (!c->addr)
		return 0;
	if (c->end > c->addr && c->end - c->addr <= UINT32_MAX)
		sym.size = (uint32_t)(c->end - c->addr);
	sym.name = alloc_keep(&r->ks->names, alloc_strndup(c->name, sizeof(c->name)));
	sym.module = kallsyms_intern_module(r->ks, c->module);
	kallsyms_add(r->ks, &sym);
	return 0;
}

/*
 * Read a LIST of structs TYPE, which are linked by the member LINK. Copy the members called ADDR, END and NAME into C. If END and
 * NAME are NULL, C keeps its END and NAME.
 */
static int read_code(const struct reading *r, struct code c, uint64_t list, const char *type,
		     const char *link, const char *addr, const char *end, const char *name)
{
	struct item item = { .type = type,
			     .link = link,
			     .members = { member_to(c.addr, addr), member_to(c.end, end),
					  member_to(c.name, name) },
			     .add = add_code,
			     .to = &c };

	return read_list(r, list, &item);
}

static int read_trampolines(const struct reading *r)
{
	struct code c = { .module = "__builtin__ftrace", .name = "ftrace_trampoline" };

	return read_code(r, c, variable(r, "ftrace_ops_trampoline_list"), "ftrace_ops", "list",
			 "trampoline", NULL, NULL);
}

/* Read the pages of code in CACHE, a variable of type struct kprobe_insn_cache. Add each page as a symbol called NAME. */
static int read_kprobe_pages(const struct reading *r, const char *cache, const char *name)
{
	struct code c = { .module = "__builtin__kprobes" };
	uint64_t at = variable(r, cache);
	int pages =
		r->btf && at ? kernel_btf_offset(r->btf, "kprobe_insn_cache", "pages") : -ENOENT;

	strcpy(c.name, name);
	return pages < 0 ? -ENOENT :
			   read_code(r, c, at + (uint64_t)pages, "kprobe_insn_page", "list",
				     "insns", NULL, NULL);
}

static int read_bpf(const struct reading *r)
{
	struct code c = { .module = "bpf" };

	return read_code(r, c, variable(r, "bpf_kallsyms"), "bpf_ksym", "lnode", "start", "end",
			 "name");
}

/*
 * Add all symbols outside of the image in the order of /proc/kallsyms, and set *OUT to the table. On failure, also an earlier one
 * (ERR), free the table.
 */
static int finish(const struct reading *r, int err, struct kernel_kallsyms **out)
{
	err = err ?: read_modules(r);
	err = err ?: read_trampolines(r);
	err = err ?: read_bpf(r);
	err = err ?: read_kprobe_pages(r, "kprobe_insn_slots", "kprobe_insn_page");
	err = err ?: read_kprobe_pages(r, "kprobe_optinsn_slots", "kprobe_optinsn_page");
	if (err) {
		kernel_kallsyms_destroy(r->ks);
		return err;
	}
	kallsyms_finish(r->ks);
	*out = r->ks;
	return 0;
}

int kernel_kallsyms_read(const struct kernel_kcore *kcore, const struct btf *btf,
			 struct kernel_kallsyms **out)
{
	struct kernel_kallsyms *ks = alloc_new(struct kernel_kallsyms);
	const struct reading r = { kcore, btf, ks, ks };

	return finish(&r, read_image(&r), out);
}

int kernel_kallsyms_read_dynamic(const struct kernel_kcore *kcore, const struct btf *btf,
				 const struct kernel_kallsyms *image, struct kernel_kallsyms **out)
{
	const struct reading r = { kcore, btf, alloc_new(struct kernel_kallsyms), image };

	return finish(&r, 0, out);
}
