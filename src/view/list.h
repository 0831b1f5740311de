/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of `kprotperf list`: the functions and inlined functions of a kernel, or the kernel's protections. */
#pragma once

#include "base/alloc.h"
#include "catalogue/state.h"
#include "kernel/debuginfo/index.h"
#include "view/page/table.h"

/* A function, or an inlined copy of a function. */
struct view_code_row {
	const char *kind; /* "function" or "inlined" */
	const char *name;
	const char *how; /* method to time the function; NULL: unknown, or there is none */
	const char *note;
	const char *module;
	const char *function; /* symbol of the function that contains the inlined copy */
	const char *chain; /* functions through which NAME is inlined into FUNCTION */
	const char *place; /* "FILE:LINE" of the inlined call, or of the function's declaration */
	const char *entry, *addresses; /* offset in FUNCTION, "+0x11e", or "NAME.cold+0x2" */
	double n_bytes;
	struct kernel_body body;
};

struct view_code_rows {
	vec_of(struct view_code_row, items);
};

struct view_code {
	struct view_data common;
	struct view_code_rows functions, bodies;
	struct alloc_texts texts; /* owns strings in the rows */
	const struct kernel_index *index; /* NULL: inlined functions are not known */
	uint32_t n_empty; /* inlined copies that match the operand GLOB but have no instructions */
	bool is_other_kernel; /* the kernel does not run, so HOW of its functions is unknown */
};

extern const struct view_list view_code_list; /* outputs a struct view_code */

struct view_protection {
	const struct catalogue_protection *protection;
	enum catalogue_state state;
	char *how; /* the evidence for STATE */
};

struct view_protections {
	struct view_data common;
	struct view_protection *rows;
	size_t n;
};

/* Outputs for a struct view_protections: a table with a row per protection, and an explanation of a single protection. */
extern const struct view_list view_protections_list, view_protection_list;
