// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LEBench's "fork", "big fork" and "huge fork": fork of a small process, timed in parent and child, and of a process with
 * thousands of mappings. Most of the fork's time is for copying VMAs, and most of that time is in the slab allocator.
 *
 * Names: fork big-fork huge-fork
 */
#include "common.h"

static struct row {
	struct workload w;
	unsigned int mappings;
} rows[] = {
	{ { "fork",
	    "fork, up to the parent's return from it (child_…: up to the child's first\n"
	    "instructions), in a small process",
	    100 },
	  0 },
	{ { "big-fork",
	    "fork, up to the parent's return from it, in a process with 6,000 one-page\n"
	    "shared anonymous mappings that are never touched; the child exits at once",
	    20 },
	  6000 },
	{ { "huge-fork",
	    "fork, up to the parent's return from it, in a process with 12,000 one-page\n"
	    "shared anonymous mappings that are never touched; the child exits at once",
	    10 },
	  12000 },
};

int main(int argc, char **argv)
{
	struct row *row = WORKLOAD_PICK(rows);
	struct workload *w = &row->w;
	uint64_t *times, *child = NULL;

	workload_init(w, argc, argv);
	times = workload_times(w);
	if (row->mappings)
		workload_map_pages(w, row->mappings);
	else
		child = workload_times(w);
	workload_time_forks(w, times, child);
	workload_report(w, times, child);
	return 0;
}
