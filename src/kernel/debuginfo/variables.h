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
	int64_t above; /* the place has the variable and so much more */
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

/* --- parameters of inlined bodies ------------------------------------------------------------ */

struct kernel_parameter {
	const char *name; /* IMG's */
	Dwarf_Die die; /* in the body; its address is NULL where nothing is left of it there */
	Dwarf_Die type; /* as of struct kernel_variable */
};

#define KERNEL_NO_REGISTER UINT8_MAX

/* The place or the value of a parameter. */
struct kernel_location {
	bool in_memory; /* it is there, at REG and OFFSET; else it is their sum */
	bool is_address; /* OFFSET is an address, relative to _stext */
	uint8_t reg; /* DWARF's number, or KERNEL_NO_REGISTER */
	int64_t offset;
};

/* Find the first MAX parameters of BODY, of IMG's index, and return their number. */
uint32_t kernel_parameters_of(struct kernel_image *img, const struct kernel_body *body,
			      struct kernel_parameter *out, uint32_t max);
/* Before the instruction at ADDR. False: not there, or not in a way that is understood. */
bool kernel_parameter_at(struct kernel_image *img, const struct kernel_parameter *parameter,
			 uint64_t addr, struct kernel_location *out);
