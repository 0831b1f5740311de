/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Read compilation units, functions, inlined functions and their address ranges from DWARF, to make an index (index.h). */
#pragma once

#include "base/alloc.h"
#include "kernel/debuginfo/source.h"
#include "kernel/image/image_elf.h"

/* Addresses in the file from START to END, which belong to the unit, function or inlined function with the number ID. */
struct dwarf_span {
	uint64_t start, end;
	uint32_t id;
};

struct dwarf_spans {
	vec_of(struct dwarf_span, items);
};

/* One call of a function that was inlined into another function. */
struct dwarf_inlined {
	Dwarf_Die die;
	uint32_t parent; /* index of the next outer inlined function; UINT32_MAX: none */
	uint32_t first_span, n_spans; /* in dwarf_function.spans; N_SPANS 0: no code left */
};

/* A function with out-of-line code. */
struct dwarf_function {
	Dwarf_Die die;
	uint64_t entry; /* address in the file */
	uint32_t id; /* id of the function in the index */
	/* Set by kernel_dwarf_function_parse(). Inlined functions are in preorder: outer ones before those inlined into them. */
	vec_of(struct dwarf_inlined, inlined);
	struct dwarf_spans spans; /* ranges of inlined functions; ascending in each of them */
};

struct dwarf_unit {
	Dwarf_Die die;
	vec_of(struct dwarf_function, functions);
	vec_of(Dwarf_Die, inlines); /* functions that are inlined somewhere */
	struct dwarf_spans spans; /* ranges of functions, sorted by start */
};

struct dwarf {
	Dwarf *dw; /* NULL: there is no DWARF, or it cannot be read */
	vec_of(struct dwarf_unit, units);
	struct dwarf_spans spans; /* ranges of units, sorted by start */
	struct paths *paths;
	/* Number of ranges that may still be read: a hostile file can name one huge list of ranges again and again. */
	uint64_t range_budget;
};

/* Open the DWARF of IMG, and list its units and their functions. Never return NULL. */
struct dwarf *kernel_dwarf_create(struct kernel_image *img);
void kernel_dwarf_destroy(struct dwarf *d);
/* List the functions that are inlined into FUNCTION. */
void kernel_dwarf_function_parse(struct dwarf *d, struct dwarf_function *function);
/* Append the ranges of DIE that are not empty to OUT, with the number ID. */
void kernel_dwarf_ranges(struct dwarf *d, Dwarf_Die *die, uint32_t id, struct dwarf_spans *out);
/* Free the lists that kernel_dwarf_function_parse() has made for FUNCTION. */
void kernel_dwarf_function_forget(struct dwarf_function *function);
/* Return DW_AT_entry_pc of the inlined function DIE. If DIE lacks this attribute, return START, where its first range begins. */
uint64_t kernel_dwarf_entry(Dwarf_Die *die, uint64_t start);
/*
 * Find the source file and line in DIE's attributes FILE_NAME and LINE_NAME, such as DW_AT_decl_file and DW_AT_decl_line. *FILE is
 * the compiler's name of the file. If the file is unknown, *FILE becomes NULL and *LINE 0.
 */
void kernel_dwarf_place(Dwarf_Die *die, unsigned int file_name, unsigned int line_name,
			const char **file, uint32_t *line);
