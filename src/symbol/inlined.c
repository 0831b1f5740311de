// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a function is inlined.
 *
 * DWARF has no index of inlined bodies, and walking all of a kernel's takes tens of seconds. But a
 * unit that inlines NAME has a DIE of that name, so the bytes of its DIEs hold either the name itself
 * or its offset in .debug_str: searching .debug_info for those tells which few units to walk. A
 * chance hit only costs a walk. Images of link-time optimization, in which one unit inlines what
 * another one names, and of clang's DWARF 5, with another level of indirection, are walked whole.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/image_impl.h"

const char *symbol_dwarf_section(struct symbol_image *img, const char *name, size_t *size)
{
	Elf_Scn *scn = NULL;
	size_t names;

	*size = 0;
	if (elf_getshdrstrndx(img->elf, &names))
		return NULL;
	while ((scn = elf_nextscn(img->elf, scn)) != NULL) {
		const Elf64_Shdr *shdr = elf64_getshdr(scn);
		const char *scn_name = shdr ? elf_strptr(img->elf, names, shdr->sh_name) : NULL;
		Elf_Data *data;

		if (!scn_name || strcmp(scn_name, name))
			continue;
		/* libdw has unpacked it already where it was packed; if not, this bears no fruit. */
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf || (shdr->sh_flags & SHF_COMPRESSED))
			return NULL;
		*size = data->d_size;
		return data->d_buf;
	}
	return NULL;
}

struct search {
	struct symbol_image *img;
	struct dwarf *dwarf;
	const char *name;
	bool *candidate; /* one for each unit */
	bool known; /* a function of that name was seen */
	symbol_inlined_fn fn;
	void *arg;
	struct symbol_range *ranges; /* of the body at hand */
	uint32_t n_ranges, cap_ranges;
};

/* The unit that holds OFFSET of .debug_info becomes a candidate. */
static void mark_unit(struct search *s, uint64_t offset)
{
	uint32_t lo = 0, hi = s->dwarf->n_units;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (dwarf_dieoffset(&s->dwarf->units[mid].die) <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo > 0)
		s->candidate[lo - 1] = true;
}

static void mark_all(struct search *s)
{
	memset(s->candidate, true, s->dwarf->n_units);
}

/*
 * A bit for each offset of .debug_str at which NAME stands. It may be the end of a longer string,
 * which linkers share. NULL if it is nowhere; for free().
 */
static uint8_t *find_offsets(const char *str, size_t size, const char *name)
{
	size_t len = strlen(name) + 1;
	const char *p = str;
	uint8_t *bits = NULL;

	while ((p = memmem(p, size - (size_t)(p - str), name, len)) != NULL) {
		size_t offset = (size_t)(p - str);

		if (!bits)
			bits = alloc_array(size / 8 + 1, 1);
		bits[offset / 8] |= (uint8_t)(1 << offset % 8);
		p++;
	}
	return bits;
}

static void find_candidates(struct search *s)
{
	size_t info_size, str_size, other_size, len = strlen(s->name) + 1;
	const char *info = symbol_dwarf_section(s->img, ".debug_info", &info_size);
	const char *str = symbol_dwarf_section(s->img, ".debug_str", &str_size);
	const char *p = info;
	uint8_t *bits;

	if (!info || symbol_dwarf_section(s->img, ".debug_str_offsets", &other_size)) {
		mark_all(s);
		return;
	}
	while ((p = memmem(p, info_size - (size_t)(p - info), s->name, len)) != NULL)
		mark_unit(s, (uint64_t)(p++ - info));
	bits = str ? find_offsets(str, str_size, s->name) : NULL;
	for (size_t i = 0; bits && i + sizeof(uint32_t) <= info_size; i++) {
		uint32_t offset;

		memcpy(&offset, info + i, sizeof(offset));
		if (offset < str_size && bits[offset / 8] & 1 << offset % 8)
			mark_unit(s, i);
	}
	free(bits);
}

static bool is_named(Dwarf_Die *die, const char *name)
{
	const char *own = dwarf_diename(die);

	return own && !strcmp(own, name);
}

static int report(struct search *s, struct dwarf_function *f, struct dwarf_inlined *inl)
{
	uint64_t base = symbol_image_base(s->img), offset;
	const struct symbol_range *ranges = &f->ranges[inl->first_range];
	struct symbol_inlined out = {
		.into = dwarf_diename(&f->die),
		.into_addr = f->entry - base,
		.entry = symbol_dwarf_entry(&inl->die, ranges) - base,
	};

	out.into_symbol = symbol_image_symbol_at(s->img, out.into_addr, &offset);
	if (!out.into)
		out.into = out.into_symbol ? out.into_symbol : "[unknown]";
	out.caller =
		inl->parent == UINT32_MAX ? out.into : dwarf_diename(&f->inlined[inl->parent].die);
	if (!out.caller)
		out.caller = "[unknown]";
	symbol_dwarf_call_place(s->dwarf, &inl->die, &out.file, &out.line);
	s->n_ranges = 0;
	for (uint32_t i = 0; i < inl->n_ranges; i++) {
		struct symbol_range range = { ranges[i].start - base, ranges[i].end - base };

		vec_push(s, ranges, range);
	}
	out.ranges = s->ranges;
	out.n_ranges = s->n_ranges;
	return s->fn(&out, s->arg);
}

/* Does the unit itself have a function of the name, not only a declaration? */
static bool defines(struct dwarf_unit *unit, const char *name)
{
	Dwarf_Die die;

	if (dwarf_child(&unit->die, &die) != 0)
		return false;
	do {
		if (dwarf_tag(&die) == DW_TAG_subprogram && is_named(&die, name) &&
		    !dwarf_hasattr(&die, DW_AT_declaration))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

static int search_unit(struct search *s, struct dwarf_unit *unit)
{
	if (!s->known)
		s->known = defines(unit, s->name);
	symbol_dwarf_unit_parse(s->dwarf, unit);
	for (uint32_t i = 0; i < unit->n_functions; i++) {
		struct dwarf_function *f = &unit->functions[i];

		symbol_dwarf_function_parse(s->dwarf, f);
		for (uint32_t j = 0; j < f->n_inlined; j++) {
			int ret;

			if (!is_named(&f->inlined[j].die, s->name))
				continue;
			s->known = true;
			if (!f->inlined[j].n_ranges)
				continue;
			ret = report(s, f, &f->inlined[j]);
			if (ret)
				return ret;
		}
	}
	return 0;
}

int symbol_image_inlined_each(struct symbol_image *img, const char *name, symbol_inlined_fn fn,
			      void *arg)
{
	struct search s = { .img = img, .name = name, .fn = fn, .arg = arg };
	int ret = 0;

	s.dwarf = symbol_image_dwarf(img);
	if (!s.dwarf->n_units)
		return -ENODATA;
	s.candidate = alloc_array(s.dwarf->n_units, sizeof(*s.candidate));
	find_candidates(&s);
	for (uint32_t i = 0; i < s.dwarf->n_units && !ret; i++)
		if (s.candidate[i])
			ret = search_unit(&s, &s.dwarf->units[i]);
	free(s.candidate);
	free(s.ranges);
	return ret || s.known ? ret : -ENOENT;
}
