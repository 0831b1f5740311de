/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Read compilation units, functions, inlined functions and their address ranges from DWARF, to make an index (index.h). */
#pragma once

#include "base/alloc.h"
#include "kernel/debuginfo/source.h"
#include "kernel/image/image_elf.h"

/* One call of a function that was inlined into another function. */
struct dwarf_inlined {
	Dwarf_Die die;
	uint32_t parent; /* index of the next outer inlined function; UINT32_MAX: none */
	uint32_t first_range, n_ranges; /* in dwarf_function.ranges; N_RANGES 0: no code left */
};

/* A function with out-of-line code. */
struct dwarf_function {
	Dwarf_Die die;
	uint64_t entry; /* address in the file */
	uint32_t id; /* id of the function in the index */
	/* Set by kernel_dwarf_function_parse(). Inlined functions are in preorder: outer ones before those inlined into them. */
	vec_of(struct dwarf_inlined, inlined);
	vec_of(struct kernel_range, ranges); /* in the file; ascending in each inlined function */
};

/* Addresses from START to END, which belong to the unit or function with the number INDEX. */
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
	/* Number of ranges that may still be read: a hostile file can name one huge list of ranges again and again. */
	uint64_t range_budget;
};

/* Open the DWARF of IMG, and list its units and their functions. Never return NULL. */
struct dwarf *kernel_dwarf_create(struct kernel_image *img);
void kernel_dwarf_destroy(struct dwarf *d);
/* List the functions that are inlined into FUNCTION. */
void kernel_dwarf_function_parse(struct dwarf *d, struct dwarf_function *function);
/*
 * Set *RANGE to the next range of DIE that is not empty. Return 0 at the end, otherwise OFFSET for the next call. In the first
 * call OFFSET is 0, and *BASE may be uninitialized.
 */
ptrdiff_t kernel_dwarf_next_range(struct dwarf *d, Dwarf_Die *die, ptrdiff_t offset,
				  Dwarf_Addr *base, struct kernel_range *range);
/* Free the lists that kernel_dwarf_function_parse() has made for FUNCTION. */
void kernel_dwarf_function_forget(struct dwarf_function *function);
/* Return DW_AT_entry_pc of the inlined function DIE. If DIE lacks this attribute, return the start of the first of RANGES. */
uint64_t kernel_dwarf_entry(Dwarf_Die *die, const struct kernel_range *ranges);
/*
 * Find the source file and line that declare DIE's function. *FILE is the compiler's name of the file. If the file is unknown,
 * *FILE becomes NULL and *LINE 0.
 */
void kernel_dwarf_declaration(Dwarf_Die *die, const char **file, uint32_t *line);
/*
 * Cut the N sorted SPANS into ranges that do not overlap. Call FN for each of these ranges, in ascending order. INDEX is that of
 * the last span that contains the range.
 */
typedef void (*kernel_dwarf_piece_fn)(uint64_t start, uint64_t end, uint32_t index, void *arg);
void kernel_dwarf_flatten(const struct dwarf_span *spans, uint32_t n, kernel_dwarf_piece_fn fn,
			  void *arg);
/* Find the source file and line that call the inlined function DIE. *FILE and *LINE are as in kernel_dwarf_declaration(). */
void kernel_dwarf_call_place(Dwarf_Die *die, const char **file, uint32_t *line);
