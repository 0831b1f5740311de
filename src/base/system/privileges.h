/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user who has become root by sudo, as that says in SUDO_UID and SUDO_GID. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct invoker {
	uid_t uid;
	gid_t gid;
};

/* False where this process is not root's, or nobody else's before. */
bool invoker_find(struct invoker *invoker);

/*
 * Becomes that user, with all of the user's groups. Capabilities stay permitted until the next program is executed. -errno, not
 * reported.
 */
int invoker_become(const struct invoker *invoker);

/* ---- the capabilities of this process ---- */

/*
 * Gives up all but those of the set KEPT, a bit each, for itself and for what it forks; none where those of BASIS, without which others
 * are used in their stead, are missing. -errno.
 */
int capabilities_keep(uint64_t kept, uint64_t basis);

/* All that are permitted are in effect, which they are no longer once the user has changed. -errno. */
int capabilities_raise(void);
