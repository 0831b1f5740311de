/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which lines of a function or inlined body make the difference between two kernels, whose sources need not be the same:
 * lines are matched in their order, by what is executed of them per call, as what no patch touched executes the same.
 */
#pragma once

#include "tree/pair.h"
#include "base/alloc.h"

enum tree_lines_kind {
	TREE_LINES_UNKNOWN, /* there are none, or too many to compare */
	TREE_LINES_ADDED, /* only the hardened side has instructions on them */
	TREE_LINES_REMOVED, /* or the baseline */
	TREE_LINES_REPEATED, /* RATIO times as often as on the baseline, all of them */
	TREE_LINES_CHANGED, /* in some other way */
};

struct tree_lines {
	enum tree_lines_kind kind;
	const char *file;
	uint32_t first, last; /* of the side that has more of them */
	double ratio;
	/* Executions of the largest of them per call of the function that they are in; NAN: not known, or not the same line. */
	double iterations[2];
	const char *condition; /* under which they are repeated, in the source's words; or NULL */
	bool in_loop; /* that the other side has as well: what is repeated with them is matched */
};

/* Iterations from which on lines are said to be a loop's: what is executed more often than its function is called. */
#define TREE_LOOP 1.1

/* What changed of NODE itself, which SCALE is for as in causes.h. */
struct tree_lines tree_lines_find(const struct tree_pair *t, uint32_t node, double scale);

/*
 * Where one side calls a function from more lines of a caller than the other does, and by that more often, finds out which
 * these are, and sets APART of T's sites, and DIVIDED and EVERYWHERE of what they call.
 */
void tree_sites_divide(struct tree *t);

/* The line from which SIDE alone calls NODE's function besides, most often; NULL: there is none. */
const struct tree_line *tree_site_apart(const struct tree_pair *t, uint32_t node, int side);

/* A line of a function or body: its instructions per run, on either side, where the other has none to match. */
struct tree_line_change {
	const char *name, *file; /* NULL: the file is not known */
	uint32_t number;
	double insns[2];
};

struct tree_line_changes {
	vec_of(struct tree_line_change, items); /* by falling change */
};

/*
 * Of all that T's node CONTEXT executes; of the root, all in those contexts that IS_OF_COMMAND accepts by their names. T must
 * outlive L.
 */
void tree_line_changes_init(struct tree_line_changes *l, const struct tree_pair *t,
			    uint32_t context, bool (*is_of_command)(const char *context));
void tree_line_changes_deinit(struct tree_line_changes *l);
