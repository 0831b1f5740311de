// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/cgroup.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/alloc.h"
#include "base/log.h"

bool record_cgroup_find(const char *path, uint64_t *id)
{
	/* Try PATH itself, then PATH below the mount point of cgroup v2, alone or beside v1. */
	static const char *const below[] = { "", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/" };
	bool v1 = false;

	for (size_t i = 0; *path && i < ARRAY_SIZE(below); i++) {
		scoped_free char *folder = alloc_printf("%s%s", below[i], path);
		struct statfs fs;
		struct stat st;

		if (stat(folder, &st) || !S_ISDIR(st.st_mode) || statfs(folder, &fs))
			continue;
		v1 |= fs.f_type == CGROUP_SUPER_MAGIC;
		if (fs.f_type == CGROUP2_SUPER_MAGIC) {
			*id = st.st_ino; /* the kernel's 64-bit number of the cgroup */
			return true;
		}
	}
	log_error("no cgroup '%s': neither here nor below /sys/fs/cgroup is this a folder of "
		  "cgroup v2%s",
		  path, v1 ? " (but of v1)" : "");
	return false;
}
