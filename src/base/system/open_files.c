// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/system/open_files.h"

#include <errno.h>
#include <sys/resource.h>

#define MOST 1024 /* as OPEN_FILES_LEAST, with the samplers of many CPUs */

static struct rlimit before; /* zero: not changed */

int open_files_allow(uint32_t n)
{
	struct rlimit now, more;

	if (getrlimit(RLIMIT_NOFILE, &now) || now.rlim_cur >= n + MOST)
		return 0;
	more = now;
	more.rlim_cur = n + MOST;
	if (more.rlim_max < more.rlim_cur)
		more.rlim_max = more.rlim_cur;
	if (setrlimit(RLIMIT_NOFILE, &more)) {
		/* Without CAP_SYS_RESOURCE. */
		more = now;
		more.rlim_cur = now.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &more))
			more = now;
	}
	if (!before.rlim_cur)
		before = now;
	return more.rlim_cur < n + OPEN_FILES_LEAST ? -EMFILE : 0;
}

void open_files_restore(void)
{
	if (before.rlim_cur)
		setrlimit(RLIMIT_NOFILE, &before);
}
