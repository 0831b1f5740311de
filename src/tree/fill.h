/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How recorders fill a tree. */
#pragma once

#include "tree/tree.h"

/* A child's name below its parent. */
struct tree_key {
	uint32_t parent;
	const char *name;
	bool apart;
};

uint32_t tree_key_hash(const struct tree_key *key);
uint32_t tree_find_or_add(struct tree *t, const struct tree_key *key);

/* Return the line of FRAME in NODE, which is added to TABLE where it is not there. */
struct tree_line *tree_line_find(struct tree_line_table *table, uint32_t node,
				 const struct profile_frame *frame);

/* Return the place of SIDE's run RUN among all repetitions; TREE_NONE: a control run. */
uint32_t tree_column(const struct tree *t, int side, uint32_t run);
/* Valid until nodes, or lines, are added. */
struct tree_value *tree_value_of(struct tree *t, uint32_t node, uint32_t column);
struct tree_value *tree_line_value(struct tree *t, uint32_t node, const struct profile_frame *frame,
				   uint32_t column);

/* Each side fills all that it knows. */
void tree_fill_exact(struct tree *t);
void tree_fill_probed(struct tree *t, int side);
