/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of a function or inlined body that make the difference between two kernels. As the sources may differ, lines are
 * matched in order, by instructions and executions per call: both are the same for lines that no patch changes.
 */
#pragma once

#include "tree/pair.h"
#include "base/alloc.h"

enum tree_lines_kind {
	TREE_LINES_UNKNOWN, /* no lines differ, or too many lines to compare */
	TREE_LINES_ADDED, /* only the hardened side executes the lines */
	TREE_LINES_REMOVED, /* only the baseline executes the lines */
	TREE_LINES_REPEATED, /* the hardened side executes all lines RATIO times as often */
	TREE_LINES_CHANGED, /* any other change */
};

struct tree_lines {
	enum tree_lines_kind kind;
	const char *file;
	uint32_t first, last; /* line numbers on the side with more instructions in changed lines */
	double ratio;
	/* Executions, per call of the function, of the line with most instructions; NAN: unknown. */
	double iterations[2];
	const char *condition; /* the loop's condition as in the source, or NULL */
	bool in_loop; /* other lines of the loop are matched, so both sides have the loop */
};

/* Return the lines that changed in NODE itself, without callees. The baseline's figures are multiplied by SCALE before. */
struct tree_lines tree_lines_find(const struct tree_pair *t, uint32_t node, double scale);

/*
 * Find functions that one side calls more often, from additional lines of a caller. Set EXTRA of these lines in T's SITES, and
 * DIVIDED and EVERYWHERE of the functions.
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
	vec_of(struct tree_line_change, items); /* sorted by change of INSNS, largest first */
};

/*
 * Collect the unmatched lines of all functions and bodies in the node CONTEXT. If CONTEXT is the root, collect them in the
 * contexts whose names IS_OF_COMMAND accepts. T must outlive L.
 */
void tree_line_changes_init(struct tree_line_changes *l, const struct tree_pair *t,
			    uint32_t context, bool (*is_of_command)(const char *context));
void tree_line_changes_deinit(struct tree_line_changes *l);
