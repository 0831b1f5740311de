/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user who has become root by sudo, according to SUDO_UID and SUDO_GID. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct invoker {
	uid_t uid;
	gid_t gid;
};

/* Find the invoker. Return false if this process does not run as root, or no other user has started it through sudo. */
bool invoker_find(struct invoker *invoker);

/*
 * Become the invoker, with all of the user's groups. Capabilities stay permitted until the next program is executed. Return 0 or
 * -errno, not reported.
 */
int invoker_become(const struct invoker *invoker);

/* ---- the capabilities of this process ---- */

/*
 * Give up all capabilities but the set KEPT (a bit each), for this process and its children. If a capability of the set BASIS is
 * missing, give up nothing: this process then uses others in its place. Return 0 or -errno.
 */
int capabilities_keep(uint64_t kept, uint64_t basis);

/* Make all permitted capabilities effective again: a change of user clears the effective set. Return 0 or -errno. */
int capabilities_raise(void);
