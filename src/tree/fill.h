/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that fill a tree, and what they use. */
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
/* Return TREE_NONE where there is no such node. */
uint32_t tree_find(const struct tree *t, const struct tree_key *key);

/* Return the line of FRAME in NODE; add it to TABLE if it is missing. */
struct tree_line *tree_line_find(struct tree_line_table *table, uint32_t node,
				 const struct profile_frame *frame);

/* Return the place of SIDE's run RUN among all repetitions; TREE_NONE: a control run. */
uint32_t tree_column(const struct tree *t, int side, uint32_t run);
/* Return a value, valid until nodes or lines are added. */
struct tree_value *tree_value_of(struct tree *t, uint32_t node, uint32_t column);
struct tree_value *tree_line_value(struct tree *t, uint32_t node, const struct profile_frame *frame,
				   uint32_t column);

/* Fill in everything that the recordings know. */
void tree_fill_exact(struct tree *t);
void tree_fill_probed(struct tree *t, int side);
/* Both sides' probes come first. */
void tree_fill_sampled(struct tree *t);
