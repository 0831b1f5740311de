/* SPDX-License-Identifier: GPL-2.0-or-later */
/* User space's part of stacks: which file's each address is. */
#pragma once

#include <stdint.h>

#include "base/alloc.h"
#include "profile/profile.h"

struct engine_user_stack;

/* The place of a file in an address space. */
struct record_user_base {
	uint64_t layout, start;
	char module[sizeof(PROFILE_MODULE_USER) + 2 * 20]; /* as of a location */
	uint64_t size; /* of the file; 0: not found */
};

struct record_user {
	const struct engine_user_stack *stacks; /* NULL: none were taken */
	vec_of(struct record_user_base, bases); /* by layout and start */
};

/* Notes in P where the files of STACKS are found (PROFILE_ENV_FILE). STACKS may be NULL; they are not copied. */
void record_user_init(struct record_user *u, const struct engine_user_stack *stacks,
		      struct profile *p);
void record_user_deinit(struct record_user *u);

/*
 * The locations of user stack NUMBER (from 1; 0: none), innermost first, ENGINE_USER_FRAMES at most, to LOCATIONS. Returns their number.
 * IS_EXACT: the innermost address is that of an instruction, not where a system call returns to.
 */
uint32_t record_user_locations(const struct record_user *u, struct profile *p, uint32_t number,
			       bool is_exact, uint32_t *locations);
