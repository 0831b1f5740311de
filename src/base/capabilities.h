/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The capabilities of this process. */
#pragma once

#include <stdint.h>

/*
 * Gives up all but those of the set KEPT, a bit each, for itself and for what it forks; none where those of BASIS, without which others
 * are used in their stead, are missing. -errno.
 */
int capabilities_keep(uint64_t kept, uint64_t basis);

/* All that are permitted are in effect, which they are no longer once the user has changed. -errno. */
int capabilities_raise(void);
