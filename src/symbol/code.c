// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/code.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/image_impl.h"
#include "symbol/kcore.h"

/* Of this, the kernel's own header and ours agree: bit 0 of a bug's flags. */
#define BUGFLAG_WARNING 1

struct symbol_code {
	struct symbol_image *img;
	const struct symbol_kcore *kcore;
	uint64_t stext; /* absolute, of KCORE */
	uint64_t base; /* the file's address of _stext */
	struct symbol_code_tables tables;
};

/* What lies between two symbols of the image. */
struct table {
	uint64_t addr; /* the file's address */
	const uint8_t *data;
	size_t len;
};

enum bound {
	LABELS,
	FIXUPS,
	BUGS,
	STATIC_CALLS,
	FTRACE,
	RETPOLINES,
	ALTERNATIVES,
	N_TABLES,
};

static const struct {
	const char *start, *stop;
} bounds[N_TABLES] = {
	[LABELS] = { "__start___jump_table", "__stop___jump_table" },
	[FIXUPS] = { "__start___ex_table", "__stop___ex_table" },
	[BUGS] = { "__start___bug_table", "__stop___bug_table" },
	[STATIC_CALLS] = { "__start_static_call_sites", "__stop_static_call_sites" },
	[FTRACE] = { "__start_mcount_loc", "__stop_mcount_loc" },
	[RETPOLINES] = { "__retpoline_sites", "__retpoline_sites_end" },
	[ALTERNATIVES] = { "__alt_instructions", "__alt_instructions_end" },
};

/* The file's bytes at its address ADDR and in *AVAIL how many there are up to the section's end. */
static const uint8_t *file_data(const struct symbol_image *img, uint64_t addr, size_t *avail)
{
	Elf_Scn *scn = NULL;
	size_t size;
	const char *raw = elf_rawfile(img->elf, &size);

	while (raw && (scn = elf_nextscn(img->elf, scn)) != NULL) {
		const Elf64_Shdr *s = elf64_getshdr(scn);
		uint64_t at;

		if (!s || s->sh_type == SHT_NOBITS || !(s->sh_flags & SHF_ALLOC) ||
		    addr < s->sh_addr || addr - s->sh_addr >= s->sh_size)
			continue;
		at = addr - s->sh_addr;
		if (s->sh_offset > size || s->sh_size > size - s->sh_offset)
			continue;
		*avail = (size_t)(s->sh_size - at);
		return (const uint8_t *)raw + s->sh_offset + at;
	}
	*avail = 0;
	return NULL;
}

bool symbol_code_read_file(const struct symbol_code *code, uint64_t addr, void *buf, size_t len)
{
	size_t avail;
	const uint8_t *data = file_data(code->img, code->base + addr, &avail);

	if (!data || avail < len)
		return false;
	memcpy(buf, data, len);
	return true;
}

int symbol_code_read_live(const struct symbol_code *code, uint64_t addr, void *buf, size_t len)
{
	if (!code->kcore)
		return -ENODATA;
	return symbol_kcore_read(code->kcore, code->stext + addr, buf, len);
}

static void note_bound(const char *name, uint64_t addr, uint64_t start[], uint64_t stop[])
{
	for (int i = 0; i < N_TABLES; i++) {
		if (!strcmp(name, bounds[i].start))
			start[i] = addr;
		else if (!strcmp(name, bounds[i].stop))
			stop[i] = addr;
	}
}

/* One pass over all symbols: these are data, which the image's own table leaves out. */
static void find_tables(struct symbol_image *img, struct table tables[])
{
	uint64_t start[N_TABLES] = { 0 }, stop[N_TABLES] = { 0 };
	Elf64_Shdr *shdr = img->symtab_scn ? elf64_getshdr(img->symtab_scn) : NULL;
	Elf_Data *data = shdr ? elf_getdata(img->symtab_scn, NULL) : NULL;
	Elf_Scn *str_scn = shdr ? elf_getscn(img->elf, shdr->sh_link) : NULL;
	Elf_Data *str = str_scn ? elf_getdata(str_scn, NULL) : NULL;
	const Elf64_Sym *syms;

	memset(tables, 0, N_TABLES * sizeof(*tables));
	if (!data || !data->d_buf || data->d_type != ELF_T_SYM || !str || !str->d_buf)
		return;
	syms = data->d_buf;
	for (size_t i = 0; i < data->d_size / sizeof(*syms); i++) {
		const char *name = (const char *)str->d_buf + syms[i].st_name;

		if (syms[i].st_name < str->d_size && name[0] == '_' && syms[i].st_value &&
		    memchr(name, '\0', str->d_size - syms[i].st_name))
			note_bound(name, syms[i].st_value, start, stop);
	}
	for (int i = 0; i < N_TABLES; i++) {
		size_t avail;
		const uint8_t *bytes = start[i] ? file_data(img, start[i], &avail) : NULL;

		if (bytes && stop[i] >= start[i] && stop[i] - start[i] <= avail)
			tables[i] = (struct table){ start[i], bytes, (size_t)(stop[i] - start[i]) };
	}
}

/* The address that the 32 bits at offset AT tell, counted from where they are. */
static uint64_t relative(const struct symbol_code *code, const struct table *t, size_t at)
{
	int32_t rel;

	memcpy(&rel, t->data + at, sizeof(rel));
	return t->addr + at + (uint64_t)(int64_t)rel - code->base;
}

static void read_labels(struct symbol_code *code, const struct table *t)
{
	for (size_t at = 0; at + 16 <= t->len; at += 16) {
		struct symbol_jump_label l = {
			.code = relative(code, t, at),
			.target = relative(code, t, at + 4),
		};

		vec_push(&code->tables, labels, l);
	}
}

static void read_fixups(struct symbol_code *code, const struct table *t)
{
	for (size_t at = 0; at + 12 <= t->len; at += 12) {
		struct symbol_fixup f = {
			.insn = relative(code, t, at),
			.fixup = relative(code, t, at + 4),
		};

		vec_push(&code->tables, fixups, f);
	}
}

static bool is_ud(const struct symbol_code *code, uint64_t addr)
{
	uint8_t op[2];

	return symbol_code_read_file(code, addr, op, sizeof(op)) && op[0] == 0x0f &&
	       (op[1] == 0x0b || op[1] == 0xb9);
}

/* Entries have grown over the years; the first size at which all point to a ud is theirs. */
static size_t bug_entry_size(const struct symbol_code *code, const struct table *t)
{
	static const size_t sizes[] = { 12, 16, 8 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t at = 0;

		while (at + sizes[i] <= t->len && is_ud(code, relative(code, t, at)))
			at += sizes[i];
		if (t->len && at == t->len)
			return sizes[i];
	}
	return 0;
}

static void read_bugs(struct symbol_code *code, const struct table *t)
{
	size_t size = bug_entry_size(code, t);

	code->tables.has_bugs = size != 0;
	for (size_t at = 0; size && at + size <= t->len; at += size) {
		/* The flags are the last 16 bits, or those in front of padding in the short one. */
		size_t flags_at = at + (size == 8 ? 4 : size - 2);
		uint16_t flags;
		struct symbol_bug b = { .addr = relative(code, t, at) };

		memcpy(&flags, t->data + flags_at, sizeof(flags));
		b.warning = flags & BUGFLAG_WARNING;
		vec_push(&code->tables, bugs, b);
	}
}

/*
 * An alternative's entry has two offsets, to the code and to what may replace it, a feature, and in its
 * last bytes the lengths of both. It has grown; the size is right at which all lie in the file.
 */
static bool read_alternative(const struct symbol_code *code, const struct table *t, size_t at,
			     size_t size, struct symbol_alternative *out)
{
	size_t lengths = at + (size == 13 ? 10 : size - 2), avail, other;
	uint64_t replacement = relative(code, t, at + 4);

	out->addr = relative(code, t, at);
	out->len = t->data[lengths];
	return out->len && file_data(code->img, out->addr + code->base, &avail) &&
	       out->len <= avail && file_data(code->img, replacement + code->base, &other) &&
	       t->data[lengths + 1] <= other;
}

static void read_alternatives(struct symbol_code *code, const struct table *t)
{
	static const size_t sizes[] = { 12, 14, 13 };
	struct symbol_alternative a;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t at = 0;

		while (at + sizes[i] <= t->len && read_alternative(code, t, at, sizes[i], &a))
			at += sizes[i];
		if (!t->len || at != t->len)
			continue;
		for (at = 0; at < t->len; at += sizes[i]) {
			read_alternative(code, t, at, sizes[i], &a);
			vec_push(&code->tables, alternatives, a);
		}
		return;
	}
}

static int compare_first(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

#define sort_by_first(t, items)                                                                \
	do {                                                                                   \
		if ((t)->n_##items)                                                            \
			qsort((t)->items, (t)->n_##items, sizeof(*(t)->items), compare_first); \
	} while (0)

static void read_tables(struct symbol_code *code)
{
	struct symbol_code_tables *out = &code->tables;
	struct table t[N_TABLES];

	find_tables(code->img, t);
	read_labels(code, &t[LABELS]);
	read_fixups(code, &t[FIXUPS]);
	read_bugs(code, &t[BUGS]);
	read_alternatives(code, &t[ALTERNATIVES]);
	for (size_t at = 0; at + 8 <= t[STATIC_CALLS].len; at += 8)
		vec_push(out, static_calls, relative(code, &t[STATIC_CALLS], at));
	for (size_t at = 0; at + 8 <= t[FTRACE].len; at += 8) {
		uint64_t addr;

		memcpy(&addr, t[FTRACE].data + at, sizeof(addr));
		vec_push(out, ftrace, addr - code->base);
	}
	for (size_t at = 0; at + 4 <= t[RETPOLINES].len; at += 4)
		vec_push(out, retpolines, relative(code, &t[RETPOLINES], at));
	sort_by_first(out, labels);
	sort_by_first(out, fixups);
	sort_by_first(out, bugs);
	sort_by_first(out, alternatives);
	sort_by_first(out, static_calls);
	sort_by_first(out, ftrace);
	sort_by_first(out, retpolines);
}

int symbol_code_create(struct symbol_image *img, const struct symbol_kcore *kcore, uint64_t stext,
		       struct symbol_code **out)
{
	const Elf64_Ehdr *ehdr = elf64_getehdr(img->elf);
	struct symbol_code *code;

	*out = NULL;
	if (!ehdr || ehdr->e_machine != EM_X86_64)
		return -ENOTSUP;
	code = alloc_new(struct symbol_code);
	code->img = img;
	code->kcore = kcore;
	code->stext = stext;
	code->base = symbol_image_base(img);
	read_tables(code);
	*out = code;
	return 0;
}

void symbol_code_destroy(struct symbol_code *code)
{
	if (!code)
		return;
	free(code->tables.labels);
	free(code->tables.fixups);
	free(code->tables.bugs);
	free(code->tables.alternatives);
	free(code->tables.static_calls);
	free(code->tables.ftrace);
	free(code->tables.retpolines);
	free(code);
}

struct symbol_image *symbol_code_image(const struct symbol_code *code)
{
	return code->img;
}

uint64_t symbol_code_file_base(const struct symbol_code *code)
{
	return code->base;
}

uint64_t symbol_code_live_base(const struct symbol_code *code)
{
	return code->kcore ? code->stext : 0;
}

const struct symbol_code_tables *symbol_code_tables(const struct symbol_code *code)
{
	return &code->tables;
}
