// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/system/clock.h"

#include <errno.h>
#include <sys/resource.h>
#include <time.h>

uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Longest period of the kernel's timer tick: 100 Hz, in ns. */
#define TICK_NS 10000000

void clock_settle(void)
{
	while (clock_ns() % 1000000000 < TICK_NS)
		;
}

/* Two readings that differ by less than READING_NS may show the time of a reading, not a step. Then measure READINGS times. */
#define READING_NS 1000
#define READINGS   100

uint64_t clock_step_ns(uint64_t (*now)(void))
{
	uint64_t least = UINT64_MAX, last = 0;

	for (int i = 0; i < 3 || (least < READING_NS && i < READINGS); i++) {
		uint64_t start = now(), next, by, gap;

		while ((next = now()) == start)
			;
		by = next - start;
		least = by < least ? by : least;
		/* Two advances of the clock differ by a whole number of clock steps. */
		gap = by > last ? by - last : last - by;
		if (least < READING_NS && last && gap && gap < least)
			least = gap;
		last = by;
	}
	return least;
}

/* ---- open files ---- */

#define MOST 1024 /* open files besides probes, on a machine with many CPUs */

static struct rlimit before; /* former limit; zero: not changed */

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
		/* Without CAP_SYS_RESOURCE, raise the soft limit to the hard limit. */
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
