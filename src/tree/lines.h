/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find the source lines of a function that make the difference between two kernels. Sources may differ, so match lines in order,
 * by instructions and executions per call. These numbers are the same for lines that no patch changes.
 */
#pragma once

#include "tree/pair.h"
#include "base/alloc.h"

enum tree_lines_kind {
	TREE_LINES_UNKNOWN, /* no lines differ, or too many to compare */
	TREE_LINES_ADDED, /* only the hardened kernel executes the lines */
	TREE_LINES_REMOVED, /* only the baseline executes the lines */
	TREE_LINES_REPEATED, /* the hardened kernel executes the lines RATIO times as often */
	TREE_LINES_CHANGED, /* any other change of the executed lines */
};

struct tree_lines {
	enum tree_lines_kind kind;
	const char *file;
	uint32_t first, last; /* line numbers in the kernel with more changed instructions */
	double ratio;
	/* In each kernel, executions of the line with most instructions, per call of the function. NAN: unknown. */
	double iterations[2];
	const char *condition; /* the loop's condition in the source, or NULL */
	bool in_loop; /* both kernels have the loop, since other lines of it match */
};

/* Return the changed lines of NODE itself, without its callees. First multiply the baseline's figures by SCALE. */
struct tree_lines tree_lines_find(const struct tree_pair *t, uint32_t node, double scale);

/*
 * Find functions that one kernel calls more often, from additional lines of a caller. Set EXTRA of these lines in T->sites, and
 * set DIVIDED and EVERYWHERE of the functions.
 */
void tree_sites_divide(struct tree *t);

/* Return the EXTRA source line that calls NODE's function most often in kernel SIDE. Return NULL if NODE is not divided. */
const struct tree_line *tree_site_extra(const struct tree_pair *t, uint32_t node, int side);

/* A source line without a match in the other kernel. INSNS: instructions per run in each kernel. TIMES: executions per run. */
struct tree_line_change {
	const char *name, *file; /* FILE NULL: unknown */
	uint32_t number;
	double insns[2], times[2];
};

struct tree_line_changes {
	vec_of(struct tree_line_change, items); /* largest change of INSNS first */
};

/*
 * Collect the unmatched lines of all functions below the node CONTEXT. If CONTEXT is the root, collect those of all contexts whose
 * names IS_OF_COMMAND accepts. T must outlive L.
 */
void tree_line_changes_init(struct tree_line_changes *l, const struct tree_pair *t,
			    uint32_t context, bool (*is_of_command)(const char *context));
void tree_line_changes_deinit(struct tree_line_changes *l);
