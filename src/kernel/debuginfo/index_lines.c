// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/debuginfo/index_lines.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/sorted.h"

static void put_varint(struct index_lines *l, uint32_t v)
{
	while (v >= 0x80) {
		vec_push(l, bytes, (unsigned char)(v | 0x80));
		v >>= 7;
	}
	vec_push(l, bytes, (unsigned char)v);
}

/* Encode a difference of lines or files as described at struct index_line_block. Differences wrap around at 32 bits. */
static uint32_t zigzag(uint32_t difference)
{
	uint32_t twice = difference << 1;

	return difference >> 31 ? ~twice : twice;
}

/* Add a row: from ADDR on, instructions come from LINE of FILE, the offset of a string (0: unknown). */
static void add_row(struct index_lines *l, uint32_t addr, uint32_t file, uint32_t line)
{
	if (!file)
		line = 0;
	if (file == l->file && line == l->line)
		return;
	if (!l->n_blocks || l->blocks[l->n_blocks - 1].n_rows == INDEX_LINE_BLOCK) {
		struct index_line_block block = { .addr = addr, .offset = l->n_bytes };

		vec_push(l, blocks, block);
		l->addr = addr;
		l->file = l->line = 0;
	}
	put_varint(l, addr - l->addr);
	put_varint(l, zigzag(file - l->file));
	put_varint(l, zigzag(line - l->line));
	l->blocks[l->n_blocks - 1].n_rows++;
	l->addr = addr;
	l->file = file;
	l->line = line;
}

static uint64_t row_addr(Dwarf_Lines *lines, size_t i)
{
	Dwarf_Addr addr;

	return dwarf_lineaddr(dwarf_onesrcline(lines, i), &addr) ? 0 : addr;
}

/* Return the number of the N rows that begin at or before ADDR. */
static size_t rows_before(Dwarf_Lines *lines, size_t n, uint64_t addr)
{
	return bisect(n, i, row_addr(lines, i) <= addr);
}

static void put_row(struct index_lines *l, struct index_strings *s, struct dwarf *d,
		    Dwarf_Line *row, uint32_t addr)
{
	const char *raw;
	bool is_end;
	int line;

	if (!row || dwarf_lineendsequence(row, &is_end) || is_end) {
		add_row(l, addr, 0, 0);
		return;
	}
	raw = dwarf_linesrc(row, NULL, NULL);
	if (dwarf_lineno(row, &line) || line < 0)
		line = 0;
	add_row(l, addr, index_strings_add_file(s, d->paths, raw), (uint32_t)line);
}

void index_lines_end(struct index_lines *l, uint64_t base)
{
	add_row(l, (uint32_t)(l->end > base ? l->end - base : 0), 0, 0);
}

void index_lines_add(struct index_lines *l, struct index_strings *s, struct dwarf *d,
		     struct dwarf_unit *unit, uint64_t start, uint64_t end, uint64_t base)
{
	Dwarf_Lines *lines;
	size_t n, i;

	if (start < base || end - base > UINT32_MAX)
		return;
	/* Addresses between the units have no source lines. */
	if (l->end < start)
		index_lines_end(l, base);
	l->end = end;
	if (dwarf_getsrclines(&unit->die, &lines, &n))
		n = 0;
	i = n ? rows_before(lines, n, start) : 0;
	put_row(l, s, d, i ? dwarf_onesrcline(lines, i - 1) : NULL, (uint32_t)(start - base));
	for (; i < n; i++) {
		uint64_t addr = row_addr(lines, i);

		if (addr >= end)
			break;
		/* If several rows have the same address, use the last row. */
		if (i + 1 < n && row_addr(lines, i + 1) == addr)
			continue;
		put_row(l, s, d, dwarf_onesrcline(lines, i), (uint32_t)(addr - base));
	}
}

void index_lines_deinit(struct index_lines *l)
{
	free(l->blocks);
	free(l->bytes);
}

void index_strings_init(struct index_strings *s)
{
	s->cap_bytes = 1 << 20;
	s->bytes = alloc_array(s->cap_bytes, 1);
	s->n_bytes = 1; /* offset 0 means no string */
}

void index_strings_deinit(struct index_strings *s)
{
	hash_deinit(&s->offsets);
	free(s->bytes);
}

static bool is_text(const void *bytes, uint32_t offset, const void *text)
{
	return !strcmp((const char *)bytes + offset, text);
}

static void append(struct index_strings *s, const char *text)
{
	size_t len = strlen(text) + 1;

	while (s->n_bytes + len > s->cap_bytes) {
		s->cap_bytes *= 2;
		s->bytes = alloc_resize(s->bytes, s->cap_bytes, 1);
	}
	memcpy(s->bytes + s->n_bytes, text, len);
	s->n_bytes += len;
}

uint32_t index_strings_add(struct index_strings *s, const char *text)
{
	uint32_t next = (uint32_t)s->n_bytes, offset;

	if (!text || !*text)
		return 0;
	offset = hash_find_or_add(&s->offsets, hash_string(text), is_text, s->bytes, text, next);
	if (offset == next)
		append(s, text);
	return offset;
}

uint32_t index_strings_add_file(struct index_strings *s, struct paths *paths, const char *raw)
{
	/* In most calls RAW is the same as in the previous call. */
	if (raw && raw != s->last_raw) {
		s->last_raw = raw;
		s->last_file = index_strings_add(s, kernel_paths_relative(paths, raw));
	}
	return raw ? s->last_file : 0;
}
