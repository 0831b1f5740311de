/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of list: the functions and inlined bodies of a kernel, or the kernel's protections. */
#pragma once

#include "base/alloc.h"
#include "catalogue/state.h"
#include "kernel/debuginfo/index.h"
#include "view/page/table.h"

/* One function, or one inlined body. */
struct view_code_row {
	const char *kind; /* "function", "inlined" */
	const char *name;
	const char *how; /* how it would be timed; NULL: not known, or not at all */
	const char *note;
	const char *module;
	const char *function; /* around an inlined body, as in the symbol table */
	const char *chain; /* bodies between NAME and FUNCTION */
	const char *place; /* "FILE:LINE": call of a body, declaration of a function */
	const char *entry, *addresses; /* as offsets from the symbols that contain them */
	double n_bytes;
	struct kernel_body body;
};

struct view_code_rows {
	vec_of(struct view_code_row, items);
};

struct view_code {
	struct view_data common; /* no times */
	struct view_code_rows functions, bodies;
	struct alloc_texts texts; /* made for the rows */
	const struct kernel_index *index; /* NULL: inlined bodies are not known */
	uint32_t n_empty; /* matching bodies without code */
	bool is_other_kernel; /* not the running one: it is unknown how functions would be timed */
};

extern const struct view_list view_code_list; /* of a struct view_code */

struct view_protection {
	const struct catalogue_protection *protection;
	enum catalogue_state state;
	char *how; /* how the state is known */
};

struct view_protections {
	struct view_data common; /* no times */
	struct view_protection *rows;
	size_t n;
};

/* Lists for a struct view_protections: a row per protection; an explanation of its only protection. */
extern const struct view_list view_protections_list, view_protection_list;
