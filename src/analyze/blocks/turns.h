/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of a call's captured values says how often a loop turns. */
#pragma once

#include "profile/profile.h"

/* The value that a trip count is, and in which share of the calls in which the loop turns at all. */
struct analyze_turns {
	const struct profile_variable
		*variable; /* NULL: none in half of them, or the trip count is always the same */
	int64_t more; /* turns than the value */
	double share;
};

/*
 * Of the loop of SITE whose trip count is the captured variable NAMED; of values that fit alike the one that the loop's
 * CONDITION (NULL: not known) has the last name of.
 */
void analyze_turns_find(struct analyze_turns *out, const struct profile *p, uint32_t site,
			const char *named, const char *condition);
