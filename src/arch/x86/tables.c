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

/* Return the entry of table NAME at offset AT of S. */
static struct arch_entry entry_at(const struct reader *r, const struct arch_section *s,
				  enum arch_section_name name, size_t at, size_t size)
{
	struct arch_entry e = { .addr = relative(r, s, at) };
	uint16_t flags;

	switch (name) {
	case ARCH_SECTION_LABELS:
		e.target = relative(r, s, at + 4);
		e.key = key_of(r, s, at);
		break;
	case ARCH_SECTION_FIXUPS:
		e.target = relative(r, s, at + 4);
		break;
	case ARCH_SECTION_BUGS:
		/* The flags are the last 16 bits of an entry. In an entry of 8 bytes, padding follows the flags. */
		memcpy(&flags, s->data + at + (size == 8 ? 4 : size - 2), sizeof(flags));
		e.warning = flags & BUGFLAG_WARNING;
		break;
	case ARCH_SECTION_FTRACE:
		memcpy(&e.addr, s->data + at, sizeof(e.addr));
		e.addr -= r->base;
		break;
	case ARCH_SECTION_ALTERNATIVES:
		e.len = *alternative_lengths(s, at, size);
		break;
	default:
		break;
	}
	return e;
}

void arch_tables_read(struct arch_tables *out, const struct arch_section sections[ARCH_N_SECTIONS],
		      uint64_t base, arch_data_fn data, void *arg)
{
	const struct reader r = { base, data, arg };
	const struct arch_section *bugs = &sections[ARCH_SECTION_BUGS];
	const struct arch_section *alternatives = &sections[ARCH_SECTION_ALTERNATIVES];
	const size_t sizes[ARCH_N_SECTIONS] = {
		[ARCH_SECTION_LABELS] = 16,
		[ARCH_SECTION_FIXUPS] = 12,
		[ARCH_SECTION_BUGS] = entry_size(&r, bugs, (const size_t[]){ 12, 16, 8 }, is_bug),
		[ARCH_SECTION_STATIC_CALLS] = 8,
		[ARCH_SECTION_FTRACE] = 8,
		[ARCH_SECTION_RETPOLINES] = 4,
		[ARCH_SECTION_ALTERNATIVES] = entry_size(
			&r, alternatives, (const size_t[]){ 12, 14, 13 }, is_alternative),
	};

	*out = (struct arch_tables){ .has_bugs = sizes[ARCH_SECTION_BUGS] != 0 };
	for (int i = 0; i < ARCH_N_SECTIONS; i++) {
		const struct arch_section *s = &sections[i];
		struct arch_table *t = &out->of[i];

		for (size_t at = 0; sizes[i] && at + sizes[i] <= s->len; at += sizes[i])
			vec_push(t, items, entry_at(&r, s, i, at, sizes[i]));
		sort_array(t->items, t->n_items, sizeof(*t->items), compare_u64);
	}
}

void arch_tables_clear(struct arch_tables *t)
{
	for (int i = 0; i < ARCH_N_SECTIONS; i++)
		free(t->of[i].items);
	*t = (struct arch_tables){ 0 };
}
