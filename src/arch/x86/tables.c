// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the tables in the kernel image about its code, in the layout of x86-64. */
#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* The flag of a WARN in an entry of the bug table, as in the kernel's own header. */
#define BUGFLAG_WARNING 1

const struct arch_section_bounds arch_section_bounds[ARCH_N_SECTIONS] = {
	[ARCH_SECTION_LABELS] = { "__start___jump_table", "__stop___jump_table", "__jump_table" },
	[ARCH_SECTION_FIXUPS] = { "__start___ex_table", "__stop___ex_table", "__ex_table" },
	[ARCH_SECTION_BUGS] = { "__start___bug_table", "__stop___bug_table", "__bug_table" },
	[ARCH_SECTION_STATIC_CALLS] = { "__start_static_call_sites", "__stop_static_call_sites",
					".static_call_sites" },
	[ARCH_SECTION_FTRACE] = { "__start_mcount_loc", "__stop_mcount_loc", "__mcount_loc" },
	[ARCH_SECTION_RETPOLINES] = { "__retpoline_sites", "__retpoline_sites_end",
				      ".retpoline_sites" },
	[ARCH_SECTION_ALTERNATIVES] = { "__alt_instructions", "__alt_instructions_end",
					".altinstructions" },
};

void arch_relocate(uint32_t type, uint64_t value, uint64_t place, uint8_t *at)
{
	uint32_t difference = (uint32_t)(value - place);

	if (type == R_X86_64_PC32 || type == R_X86_64_PLT32)
		memcpy(at, &difference, sizeof(difference));
}

struct reader {
	struct arch_tables *out;
	uint64_t base;
	arch_data_fn data;
	void *arg;
};

/* Return the address to which the 32-bit self-relative offset at AT points. */
static uint64_t relative(const struct reader *r, const struct arch_section *s, size_t at)
{
	int32_t rel;

	memcpy(&rel, s->data + at, sizeof(rel));
	return s->addr + at + (uint64_t)(int64_t)rel - r->base;
}

/* Return the address of the static key of the jump label at offset AT. Two bits of the key's offset in the table are flags. */
static uint64_t key_of(const struct reader *r, const struct arch_section *s, size_t at)
{
	uint64_t rel;

	memcpy(&rel, s->data + at + 8, sizeof(rel));
	return s->addr + at + 8 + (rel & ~(uint64_t)3) - r->base;
}

/* Set *DATA to the LEN bytes at ADDR in the file. Return false if the file does not have these bytes. */
static bool has_data(const struct reader *r, uint64_t addr, size_t len, const uint8_t **data)
{
	size_t avail;

	*data = r->data(addr + r->base, &avail, r->arg);
	return *data && len <= avail;
}

/* Return the size of a table's entries, which differs between kernels: the first of SIZES that is GOOD for all entries, or 0. */
static size_t entry_size(const struct reader *r, const struct arch_section *s,
			 const size_t sizes[3],
			 bool (*good)(const struct reader *r, const struct arch_section *s,
				      size_t at, size_t size))
{
	for (int i = 0; i < 3 && s->len; i++) {
		size_t at = 0;

		while (at + sizes[i] <= s->len && good(r, s, at, sizes[i]))
			at += sizes[i];
		if (at == s->len)
			return sizes[i];
	}
	return 0;
}

static bool is_bug(const struct reader *r, const struct arch_section *s, size_t at, size_t size)
{
	const uint8_t *code;

	(void)size;
	return has_data(r, relative(r, s, at), 2, &code) && decode_is_bug(code);
}

static void read_bugs(const struct reader *r, const struct arch_section *s)
{
	size_t size = entry_size(r, s, (const size_t[]){ 12, 16, 8 }, is_bug);

	r->out->has_bugs = size != 0;
	for (size_t at = 0; size && at < s->len; at += size) {
		/* The flags are the last 16 bits of an entry. In an entry of 8 bytes, padding follows the flags. */
		size_t flags_at = at + (size == 8 ? 4 : size - 2);
		uint16_t flags;

		memcpy(&flags, s->data + flags_at, sizeof(flags));
		vec_push(r->out, bugs,
			 ((struct arch_bug){ relative(r, s, at), flags & BUGFLAG_WARNING }));
	}
}

/* Return a pointer to two bytes: the lengths of an alternative's code and of its replacement. */
static const uint8_t *alternative_lengths(const struct arch_section *s, size_t at, size_t size)
{
	return s->data + at + (size == 13 ? 10 : size - 2);
}

/*
 * Return whether an alternative's entry may have SIZE bytes: its code and replacement must be in the file. An entry has two
 * offsets (of the code and of its replacement), a feature, and, as its last bytes, two lengths.
 */
static bool is_alternative(const struct reader *r, const struct arch_section *s, size_t at,
			   size_t size)
{
	const uint8_t *len = alternative_lengths(s, at, size), *data;

	return len[0] && has_data(r, relative(r, s, at), len[0], &data) &&
	       has_data(r, relative(r, s, at + 4), len[1], &data);
}

static void read_alternatives(const struct reader *r, const struct arch_section *s)
{
	size_t size = entry_size(r, s, (const size_t[]){ 12, 14, 13 }, is_alternative);

	for (size_t at = 0; size && at < s->len; at += size)
		vec_push(r->out, alternatives,
			 ((struct arch_alternative){ relative(r, s, at),
						     *alternative_lengths(s, at, size) }));
}

static void read_ftrace(const struct reader *r, const struct arch_section *s)
{
	for (size_t at = 0; at + 8 <= s->len; at += 8) {
		uint64_t addr;

		memcpy(&addr, s->data + at, sizeof(addr));
		vec_push(r->out, ftrace, addr - r->base);
	}
}

/* Sort a table of T by the first member of its items, an address. */
#define sort_by_address(t, items) \
	sort_array((t)->items, (t)->n_##items, sizeof(*(t)->items), compare_u64)

void arch_tables_read(struct arch_tables *out, const struct arch_section sections[ARCH_N_SECTIONS],
		      uint64_t base, arch_data_fn data, void *arg)
{
	struct reader r = { out, base, data, arg };
	const struct arch_section *s = &sections[ARCH_SECTION_LABELS];

	*out = (struct arch_tables){ 0 };
	for (size_t at = 0; at + 16 <= s->len; at += 16)
		vec_push(out, labels,
			 ((struct arch_jump_label){ relative(&r, s, at), relative(&r, s, at + 4),
						    key_of(&r, s, at) }));
	s = &sections[ARCH_SECTION_FIXUPS];
	for (size_t at = 0; at + 12 <= s->len; at += 12)
		vec_push(out, fixups,
			 ((struct arch_fixup){ relative(&r, s, at), relative(&r, s, at + 4) }));
	s = &sections[ARCH_SECTION_STATIC_CALLS];
	for (size_t at = 0; at + 8 <= s->len; at += 8)
		vec_push(out, static_calls, relative(&r, s, at));
	s = &sections[ARCH_SECTION_RETPOLINES];
	for (size_t at = 0; at + 4 <= s->len; at += 4)
		vec_push(out, retpolines, relative(&r, s, at));
	read_bugs(&r, &sections[ARCH_SECTION_BUGS]);
	read_ftrace(&r, &sections[ARCH_SECTION_FTRACE]);
	read_alternatives(&r, &sections[ARCH_SECTION_ALTERNATIVES]);
	sort_by_address(out, labels);
	sort_by_address(out, fixups);
	sort_by_address(out, bugs);
	sort_by_address(out, alternatives);
	sort_by_address(out, static_calls);
	sort_by_address(out, ftrace);
	sort_by_address(out, retpolines);
}

void arch_tables_clear(struct arch_tables *t)
{
	free(t->labels);
	free(t->fixups);
	free(t->bugs);
	free(t->alternatives);
	free(t->static_calls);
	free(t->ftrace);
	free(t->retpolines);
	*t = (struct arch_tables){ 0 };
}
