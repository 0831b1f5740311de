/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of several pieces of code, as one. */
#pragma once

#include "profile/profile.h"

/*
 * Makes one of all lists of blocks that a function has, which may overlap in themselves and with each other, and numbers them and
 * their counts anew, the function that was executed most first. Blocks beyond a file's limits are left out.
 */
void profile_blocks_unite(struct profile *p);
