/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Variables and their members, found by the place where the compiler keeps them (DWARF's location lists). Addresses of
 * code are relative to _stext. Variables are missing if DWARF does not describe them, or describes them in a way that is
 * not supported here.
 */
#pragma once

#include "kernel/debuginfo/index.h"
#include "kernel/image/image_elf.h"

/* A place of a variable. */
struct kernel_variable_place {
	bool is_on_stack;
	uint8_t reg; /* DWARF's number */
	int64_t from_frame_base; /* if on the stack: offset from the frame base (see struct kernel_frame_base) */
};

struct kernel_variable {
	const char *name; /* owned by IMG */
	int64_t above; /* the value in the place less the variable's value */
	Dwarf_Die type; /* without qualifiers and typedefs; type.addr is NULL for void */
};

/*
 * Find the variable that is in PLACE before the instruction at ADDR. Inner blocks and inlined bodies come before those
 * around them. Return false if there is none.
 */
bool kernel_variable_in(struct kernel_image *img, uint64_t addr,
			const struct kernel_variable_place *place, struct kernel_variable *out);

/*
 * Set *OUT to the target type of the pointer TYPE, without qualifiers and typedefs. Return false if TYPE is not a
 * pointer, or is a pointer to void.
 */
bool kernel_type_pointed_to(const Dwarf_Die *type, Dwarf_Die *out);

struct kernel_member {
	Dwarf_Die type; /* type of the member, without qualifiers and typedefs */
	uint64_t bits_before; /* number of bits of the member below the bit FROM */
};

/*
 * Return the path ("oo.x") to the member of struct TYPE that consists of BITS bits from bit FROM on. If there is none,
 * and not EXACTLY, take the first member that contains these bits. If BITS is 0, take the member that begins at FROM; it
 * may be a struct. The caller frees the result.
 */
char *kernel_type_member(const Dwarf_Die *type, uint64_t from, uint64_t bits, bool exactly,
			 struct kernel_member *out);
