/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user who has become root by sudo, as that says in SUDO_UID and SUDO_GID. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct invoker {
	uid_t uid;
	gid_t gid;
};

/* False where this process is not root's, or nobody else's before. */
bool invoker_find(struct invoker *invoker);

/*
 * Becomes that user, with all of the user's groups, and HOME, USER and LOGNAME of the account. Capabilities stay permitted until the
 * next program is executed. -errno, not reported.
 */
int invoker_become(const struct invoker *invoker);
