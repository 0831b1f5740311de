// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/cfg/term.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "kernel/debuginfo/variables.h"

bool term_drop(struct term *t)
{
	free(t->text);
	*t = (struct term){};
	return false;
}

/* Its text becomes FORMAT of that and NUMBER. */
static void term_print(struct term *t, const char *format, int64_t number)
{
	char *text;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	text = alloc_printf(format, t->text, number);
#pragma GCC diagnostic pop
	free(t->text);
	*t = (struct term){ .text = text };
}

/* A load becomes what it loads, by name. False, and nothing is left, where that has none, or not EXACTLY. */
static bool term_load(struct term *t, bool exactly)
{
	struct kernel_member member;
	char *path = kernel_type_member(&t->type, t->from, t->bits, exactly, &member), *text;

	if (!path)
		return term_drop(t);
	text = alloc_printf("%s->%s", t->text, path);
	free(t->text);
	free(path);
	*t = (struct term){ .text = text, .type = member.type, .low_bits = member.bits_before };
	return true;
}

/* Make the added number a part of the text. */
static bool term_sum(struct term *t)
{
	int64_t number = t->add;
	struct kernel_member member;
	Dwarf_Die of;
	char *path;

	t->add = 0;
	if (!number)
		return true;
	if (!kernel_type_pointed_to(&t->type, &of)) {
		term_print(t, number < 0 ? "(%s - %" PRId64 ")" : "(%s + %" PRId64 ")",
			   number < 0 ? -number : number);
		return true;
	}
	path = number > 0 ? kernel_type_member(&of, 8 * (uint64_t)number, 0, true, &member) : NULL;
	if (!path)
		return term_drop(t);
	term_print(t, "&%s->", 0);
	alloc_append(&t->text, "%s", path);
	free(path);
	return true;
}

/* It becomes a text, with its type. */
bool term_settle(struct term *t)
{
	if (t->is_load && !term_load(t, false))
		return false;
	if (t->low_bits) {
		int64_t add = t->add;

		term_print(t, "(%s >> %" PRId64 ")", (int64_t)t->low_bits);
		t->add = add;
	}
	return t->text && term_sum(t);
}

bool term_add(struct term *t, int64_t number)
{
	if (t->is_load && !term_settle(t))
		return false;
	t->add += number;
	return true;
}

/* Only the bits of MASK are left, which may be those of one member. */
bool term_mask(struct term *t, uint64_t mask)
{
	uint64_t low = mask ? (uint64_t)__builtin_ctzll(mask) : 0, ones = mask >> low;
	uint64_t n = (uint64_t)__builtin_popcountll(mask);
	struct term part = *t;

	if (t->is_load && n <= t->bits && low + n <= t->bits && !(ones & (ones + 1))) {
		part.text = alloc_strdup(t->text);
		part.from += low;
		part.bits = n;
		if (term_load(&part, true)) {
			free(t->text);
			*t = part;
			return true;
		}
	}
	if (t->is_load && !term_load(t, false))
		return false;
	mask <<= t->low_bits;
	t->low_bits = 0;
	if (!term_settle(t))
		return false;
	if ((int64_t)mask < 0)
		term_print(t, "(%s & ~0x%" PRIx64 ")", (int64_t)~mask);
	else
		term_print(t, "(%s & 0x%" PRIx64 ")", (int64_t)mask);
	return true;
}

bool term_shift(struct term *t, const char *format, int64_t number)
{
	if (t->is_load && number >= 0 && (uint64_t)number < t->bits && strstr(format, ">>")) {
		t->from += (uint64_t)number;
		t->bits -= (uint64_t)number;
		return true;
	}
	if (!term_settle(t))
		return false;
	term_print(t, format, number);
	return true;
}

bool term_number(struct term *t, int64_t number)
{
	*t = (struct term){ .text = number > -65536 && number < 65536 ?
					    alloc_printf("%" PRId64, number) :
					    alloc_printf("0x%" PRIx64, (uint64_t)number) };
	return true;
}
