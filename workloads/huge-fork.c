// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LEBench's "huge fork": fork in a process with 12,000 separate mappings, so that copying the VMAs is nearly
 * all of the work, and the slab allocator most of that.
 */
#include "common.h"

#define MAPPINGS 12000

int main(int argc, char **argv)
{
	struct workload w = {
		.name = "huge-fork",
		.timed =
			"fork, up to the parent's return from it, in a process with 12,000 one-page\n"
			"shared anonymous mappings that are never touched; the child exits at once",
		.iterations = 10,
	};
	uint64_t *times;

	workload_init(&w, argc, argv);
	times = workload_times(&w);
	workload_map_pages(&w, MAPPINGS);
	workload_time_forks(&w, times, NULL);
	workload_report(&w, times, NULL);
	return 0;
}
