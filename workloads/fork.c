// SPDX-License-Identifier: GPL-2.0-or-later
/* LEBench's "fork": fork of a small process, as both sides see it. */
#include "common.h"

int main(int argc, char **argv)
{
	struct workload w = {
		.name = "fork",
		.timed =
			"fork, up to the parent's return from it (child_…: up to the child's first\n"
			"instructions), in a small process",
		.iterations = 100,
	};
	uint64_t *times, *child;

	workload_init(&w, argc, argv);
	times = workload_times(&w);
	child = workload_times(&w);
	workload_time_forks(&w, times, child);
	workload_report(&w, times, child);
	return 0;
}
