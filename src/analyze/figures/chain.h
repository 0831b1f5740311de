/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chains of inlined bodies as text, innermost first, "shuffle_freelist < new_slab", and places in the source,
 * "mm/slub.c:1978". NULL is no body, and no place.
 */
#pragma once

#include <stdbool.h>

#include "profile/profile.h"

/* The N frames from FRAMES on, as a chain; NULL for none. For free(). */
char *analyze_chain_join(const struct profile_frame *frames, uint32_t n);

/* The bodies that L is in; NULL: none. For free(). */
char *analyze_chain_of(const struct profile_location *l);

/* NAME inlined into CHAIN, which may be NULL. For free(). */
char *analyze_chain_add(const char *name, const char *chain);

/* Return the place of L's innermost frame, for free(); NULL: not known. */
char *analyze_chain_place(const struct profile_location *l);
