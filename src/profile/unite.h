/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of several pieces of code, as one. */
#pragma once

#include "profile/profile.h"

#define PROFILE_PIECES 256

/* Calls that executed the same of a list's first so many blocks, which may overlap. */
struct profile_piece_path {
	uint32_t blocks, context;
	uint64_t pieces[PROFILE_PIECES / 64]; /* bits */
	uint64_t calls, time;
};

/*
 * Makes one of all lists of blocks that a function has, which may overlap in themselves and with each other, and numbers them and
 * their counts anew, the function that was executed most first. What a file has no room for is left out. P's paths, and the N PATHS
 * of its first run, go with them: a block that not all calls executed has a bit. Where that takes too many, or a list is longer than
 * PROFILE_PIECES, the function has no paths.
 */
void profile_blocks_unite(struct profile *p, const struct profile_piece_path *paths, uint32_t n);
