/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A value that code computes, in the source's words: "slab->objects", "(flags & 0x100)". */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* Its text is to be freed, by term_drop() or by who takes it. */
struct term {
	char *text; /* of LOAD: of the pointer */
	Dwarf_Die type; /* as of struct kernel_variable; of LOAD: of what is pointed to */
	int64_t add; /* to it */
	bool is_load, is_object; /* a variable of the kernel itself */
	uint64_t from, bits; /* of LOAD */
	uint64_t low_bits; /* of it that are left out */
};

/* Each returns whether T still has words: if not, nothing is left of it. */
bool term_number(struct term *t, int64_t number);
bool term_drop(struct term *t);
bool term_add(struct term *t, int64_t number);
/* Only the bits of MASK are left, which may be those of one member. */
bool term_mask(struct term *t, uint64_t mask);
/* FORMAT has the text and NUMBER: "(%s >> %" PRId64 ")". */
bool term_shift(struct term *t, const char *format, int64_t number);
/* It becomes a text, with its type. */
bool term_settle(struct term *t);
