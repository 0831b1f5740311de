/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of a function or inlined body that make the difference between two kernels. Their sources may differ: lines
 * are matched in their order, by what is executed of them per call, since unpatched lines execute the same.
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
	/* Executions of the largest of them per call of their function; NAN: not known. */
	double iterations[2];
	const char *condition; /* of the loop, in the source's words; or NULL */
	bool in_loop; /* the other side has the loop as well: other lines of it are matched */
};

/* Return the lines that changed in NODE itself; SCALE multiplies the baseline's, as in causes.h. */
struct tree_lines tree_lines_find(const struct tree_pair *t, uint32_t node, double scale);

/*
 * Find functions that one side calls from additional lines of a caller, and therefore more often. Set EXTRA of these sites
 * of T, and DIVIDED and EVERYWHERE of the functions.
 */
void tree_sites_divide(struct tree *t);

/* Return the additional line from which SIDE calls NODE's function most often, or NULL. */
const struct tree_line *tree_site_extra(const struct tree_pair *t, uint32_t node, int side);

/* An unmatched line of a function or body, and its instructions and executions per run on either side. */
struct tree_line_change {
	const char *name, *file; /* NULL: the file is not known */
	uint32_t number;
	double insns[2], times[2];
};

struct tree_line_changes {
	vec_of(struct tree_line_change, items); /* by falling change */
};

/*
 * Collect the unmatched lines of all that T's node CONTEXT executes; if it is the root, in those contexts whose names
 * IS_OF_COMMAND accepts. T must outlive L.
 */
void tree_line_changes_init(struct tree_line_changes *l, const struct tree_pair *t,
			    uint32_t context, bool (*is_of_command)(const char *context));
void tree_line_changes_deinit(struct tree_line_changes *l);
