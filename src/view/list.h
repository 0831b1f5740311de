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
	const char *chain; /* the bodies between */
	const char *place; /* "FILE:LINE", where a body is called, a function declared */
	const char *entry, *addresses; /* from the symbols they lie in */
	double n_bytes;
	struct kernel_body body;
};

struct view_code_rows {
	vec_of(struct view_code_row, items);
};

struct view_code {
	struct view_data common; /* no times */
	struct view_code_rows functions, bodies;
	struct alloc_texts texts; /* of theirs, those that are made for them */
	const struct kernel_index *index; /* NULL: inlined bodies are not known */
	uint32_t n_empty; /* bodies that matched, and have no code */
	bool is_other_kernel; /* than the running one: how functions would be timed is not known */
};

extern const struct view_list view_code_list; /* of a struct view_code */

struct view_protection {
	const struct catalogue_protection *protection;
	enum catalogue_state state;
	char *how; /* how that is known */
};

struct view_protections {
	struct view_data common; /* no times */
	struct view_protection *rows;
	size_t n;
};

/* Both of a struct view_protections: a row for each, or the one there is, explained. */
extern const struct view_list view_protections_list, view_protection_list;
