/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source's variables, and members of what they lead to, by where the compiler keeps them (DWARF's location lists). Addresses of
 * code are relative to _stext. Variables that DWARF does not describe, or not in a way that is understood here, are missing.
 */
#pragma once

#include "kernel/debuginfo/index.h"
#include "kernel/image/image_elf.h"

/* A place of a variable. */
struct kernel_variable_place {
	bool is_on_stack;
	uint8_t reg; /* DWARF's number */
	int64_t from_frame_base; /* on the stack: see struct kernel_frame_base */
};

struct kernel_variable {
	const char *name; /* IMG's */
	int64_t above; /* the place's value is the variable's plus this */
	Dwarf_Die type; /* without qualifiers and typedefs; of void its address is NULL */
};

/* The variable that PLACE has before the instruction at ADDR, of the innermost body there. False: none. */
bool kernel_variable_in(struct kernel_image *img, uint64_t addr,
			const struct kernel_variable_place *place, struct kernel_variable *out);

/* Set *OUT to the target type of the pointer TYPE, likewise. False: not a pointer, or to void. */
bool kernel_type_pointed_to(const Dwarf_Die *type, Dwarf_Die *out);

struct kernel_member {
	Dwarf_Die type; /* as of struct kernel_variable */
	uint64_t bits_before; /* of it, in front of those asked for */
};

/*
 * The path ("oo.x") to the member of struct TYPE that has BITS bits from bit FROM on, for free(): the one that has these and no others;
 * unless EXACTLY, where there is none, the first that has them all. With BITS 0 the member that begins there, which may be a struct.
 */
char *kernel_type_member(const Dwarf_Die *type, uint64_t from, uint64_t bits, bool exactly,
			 struct kernel_member *out);
