/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find variables and their members by the register or stack address where the compiler keeps them (DWARF's location
 * lists). Addresses of code are relative to _stext. Variables are missing if DWARF does not describe them, or describes
 * them in a way that is not supported here.
 */
#pragma once

#include "kernel/debuginfo/index.h"
#include "kernel/image/image_elf.h"

/* The register or stack address where a variable is kept. */
struct kernel_variable_place {
	bool is_on_stack;
	uint8_t reg; /* DWARF's register number */
	int64_t from_frame_base; /* if on the stack: offset from the frame base (see struct kernel_frame_base) */
};

struct kernel_variable {
	const char *name; /* owned by the image */
	int64_t above; /* difference of the register's value and the variable's */
	Dwarf_Die type; /* without qualifiers and typedefs; type.addr is NULL for void */
};

/*
 * Find the variable that is kept in PLACE before the instruction at ADDR. Prefer variables of inner blocks and inlined functions.
 * Return false if there is none.
 */
bool kernel_variable_in(struct kernel_image *img, uint64_t addr,
			const struct kernel_variable_place *place, struct kernel_variable *out);

/*
 * Set *OUT to the target type of the pointer TYPE, without qualifiers and typedefs. Return false if TYPE is not a
 * pointer, or is a pointer to void.
 */
bool kernel_type_pointed_to(const Dwarf_Die *type, Dwarf_Die *out);

struct kernel_member {
	Dwarf_Die type; /* type of the member; qualifiers and typedefs are left out */
	uint64_t bits_before; /* number of low bits of the member that are before FROM */
};

/*
 * Return the path, such as "oo.x", to the member of struct TYPE that has just the BITS bits from bit FROM on. If no member does,
 * take the first one that contains these bits, unless EXACTLY is true. If BITS is 0, take the member at FROM, which may be a
 * struct. Return NULL if there is no such member. The caller frees the result.
 */
char *kernel_type_member(const Dwarf_Die *type, uint64_t from, uint64_t bits, bool exactly,
			 struct kernel_member *out);
