/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to profile/. */
#ifndef KPROTPERF_PROFILE_BLOCKS_H
#define KPROTPERF_PROFILE_BLOCKS_H

#include "profile/profile.h"

void profile_blocks_destroy(struct profile *p);

/*
 * Where in DST the function SRC's BLOCKS are, with the same blocks; added where there is none. SITE and
 * LOCATIONS are what their site and locations are in DST.
 */
uint32_t profile_blocks_map(struct profile *dst, const struct profile_blocks *blocks, uint32_t site,
			    const uint32_t *locations);

#endif
