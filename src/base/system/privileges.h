/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user who became root by sudo (from SUDO_UID and SUDO_GID), called the invoker. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct invoker {
	uid_t uid;
	gid_t gid;
};

/* Find the user who ran sudo. Return false if this process does not run as root, or no other user has started it through sudo. */
bool invoker_find(struct invoker *invoker);

/* Become the user who ran sudo, with all groups. Capabilities stay permitted until exec. Return 0, or -errno without a message. */
int invoker_become(const struct invoker *invoker);

/* ---- the capabilities of this process ---- */

/*
 * Give up all capabilities but the set KEPT (one bit per capability), for this process and its children, and make permitted ones
 * of KEPT effective. If a capability of the set BASIS is missing, do nothing: the process may need others, such as CAP_SYS_ADMIN
 * for CAP_BPF. Return 0 or -errno.
 */
int capabilities_keep(uint64_t kept, uint64_t basis);

/* Make all permitted capabilities effective again, since a change of user clears the effective set. Return 0 or -errno. */
int capabilities_raise(void);
