// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Permits no more than KEPT, which is in effect then; nothing where BASIS is not among that. */
static int set(uint64_t kept, uint64_t basis)
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

int capabilities_keep(uint64_t kept, uint64_t basis)
{
	return set(kept, basis);
}

int capabilities_raise(void)
{
	return set(UINT64_MAX, 0);
}
