/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The DWARF that an index is made from: units, functions, inlined bodies and their ranges. */
#pragma once

#include "base/alloc.h"
#include "kernel/debuginfo/source.h"
#include "kernel/image/image_elf.h"

/* An inlined body within a function. */
struct dwarf_inlined {
	Dwarf_Die die;
	uint32_t parent; /* index of the inlined body around it; UINT32_MAX: the function itself */
	uint32_t first_range, n_ranges; /* in dwarf_function.ranges; none if no code is left */
};

/* A function with out-of-line code. */
struct dwarf_function {
	Dwarf_Die die;
	uint64_t entry; /* the file's address */
	uint32_t id; /* number of this body in the index */
	/* Set by kernel_dwarf_function_parse(). In preorder: a body comes after the body around it. */
	vec_of(struct dwarf_inlined, inlined);
	vec_of(struct kernel_range, ranges); /* addresses in the file; ascending within each body */
};

/* A range of addresses that belongs to the unit or function INDEX. */
struct dwarf_span {
	uint64_t start, end;
	uint32_t index;
};

struct dwarf_unit {
	Dwarf_Die die;
	vec_of(struct dwarf_function, functions);
	vec_of(Dwarf_Die, inlines); /* functions that are inlined somewhere */
	vec_of(struct dwarf_span, spans); /* ranges of functions, sorted by start */
};

struct dwarf {
	Dwarf *dw; /* NULL: there is no DWARF, or it cannot be read */
	vec_of(struct dwarf_unit, units);
	vec_of(struct dwarf_span, spans); /* ranges of units, sorted by start */
	struct paths *paths;
	/* Number of ranges that may still be read: a hostile file can name one huge list many times. */
	uint64_t range_budget;
};

/* Open the DWARF of IMG, and list its units and their functions. Never return NULL. */
struct dwarf *kernel_dwarf_create(struct kernel_image *img);
void kernel_dwarf_destroy(struct dwarf *d);
/* List the inlined bodies of a function. */
void kernel_dwarf_function_parse(struct dwarf *d, struct dwarf_function *function);
/*
 * Set *RANGE to the next range of DIE that is not empty. Return 0 at the end, otherwise OFFSET for the next call. For the
 * first call OFFSET is 0, and *BASE may be unset.
 */
ptrdiff_t kernel_dwarf_next_range(struct dwarf *d, Dwarf_Die *die, ptrdiff_t offset,
				  Dwarf_Addr *base, struct kernel_range *range);
/* Free what kernel_dwarf_function_parse() has listed. */
void kernel_dwarf_function_forget(struct dwarf_function *function);
/* Return DW_AT_entry_pc of an inlined body, or the start of its first range if it has no such attribute. */
uint64_t kernel_dwarf_entry(Dwarf_Die *die, const struct kernel_range *ranges);
/*
 * Find the declaration of DIE's origin. *FILE is the name that the compiler uses. If unknown, *FILE becomes NULL and
 * *LINE 0.
 */
void kernel_dwarf_declaration(Dwarf_Die *die, const char **file, uint32_t *line);
/*
 * Cut SPANS (sorted) into pieces that do not overlap. Each piece has the INDEX of the last span that contains it. Call FN
 * for each piece, in ascending order.
 */
typedef void (*kernel_dwarf_piece_fn)(uint64_t start, uint64_t end, uint32_t index, void *arg);
void kernel_dwarf_flatten(const struct dwarf_span *spans, uint32_t n, kernel_dwarf_piece_fn fn,
			  void *arg);
/* Find the place that calls the inlined body DIE. *FILE and *LINE are as in kernel_dwarf_declaration(). */
void kernel_dwarf_call_place(Dwarf_Die *die, const char **file, uint32_t *line);
