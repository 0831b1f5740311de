// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/system/clock.h"

#include <time.h>

uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

uint64_t clock_step_ns(uint64_t (*now)(void))
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t start = now(), next;

		while ((next = now()) == start)
			;
		least = next - start < least ? next - start : least;
	}
	return least;
}
