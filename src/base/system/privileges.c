// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/system/privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/number.h"

static bool read_id(const char *variable, uint64_t *id)
{
	const char *text = getenv(variable);

	return text && number_unsigned(text, 0, UINT32_MAX - 1, id);
}

bool invoker_find(struct invoker *invoker)
{
	uint64_t uid, gid;

	if (geteuid() || !read_id("SUDO_UID", &uid) || !read_id("SUDO_GID", &gid) || !uid)
		return false;
	*invoker = (struct invoker){ (uid_t)uid, (gid_t)gid };
	return true;
}

int invoker_become(const struct invoker *invoker)
{
	const struct passwd *account = getpwuid(invoker->uid);

	if (account ? initgroups(account->pw_name, invoker->gid) : setgroups(0, NULL))
		return -errno;
	if (prctl(PR_SET_KEEPCAPS, 1) || setresgid(invoker->gid, invoker->gid, invoker->gid) ||
	    setresuid(invoker->uid, invoker->uid, invoker->uid))
		return -errno;
	return 0;
}

int capabilities_keep(uint64_t kept, uint64_t basis)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return -errno;
	for (int i = 0; i < 2; i++) {
		if (~data[i].permitted & (uint32_t)(basis >> 32 * i))
			return 0;
		data[i].permitted &= (uint32_t)(kept >> 32 * i);
		data[i].effective = data[i].permitted;
	}
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

int capabilities_raise(void)
{
	return capabilities_keep(UINT64_MAX, 0);
}
