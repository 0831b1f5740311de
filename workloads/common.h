/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by all workloads. Each program performs one operation exactly N times, times each with
 * CLOCK_MONOTONIC, and prints one line. Any error prints one line on stderr and exits: 1 on failure,
 * 2 on wrong usage.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define WORKLOAD_PAGE 4096

struct workload {
	const char *name;
	const char *timed; /* the timed operation, for --help */
	uint64_t iterations;
};

/*
 * A source with a line "Names: A B C" is built once per name, with WORKLOAD defined as the name. Its
 * table has one row per name, of any struct that begins with a struct workload; this returns WORKLOAD's.
 */
#ifdef WORKLOAD
#define WORKLOAD_PICK(rows)                                               \
	((__typeof__(&(rows)[0]))workload_pick((rows), sizeof((rows)[0]), \
					       sizeof(rows) / sizeof((rows)[0]), WORKLOAD))
#endif
void *workload_pick(void *rows, size_t size, size_t n, const char *name);

/* Parses the command line: --iterations, --help. */
void workload_init(struct workload *w, int argc, char **argv);

/* Prints "NAME: text", with strerror(ERR) if ERR is not 0, and exits with status 1. */
_Noreturn void workload_fail(const struct workload *w, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Room for one time, in ns, per iteration. The pages are populated and shared with forked children, so
 * nothing faults or is copied between two measurements.
 */
uint64_t *workload_times(const struct workload *w);

uint64_t workload_now(void);

/* Times each iteration of OP, with one reading of the clock. Inlined, together with OP. */
static inline __attribute__((always_inline)) void
workload_time_each(const struct workload *w, uint64_t *times, void (*op)(const struct workload *w))
{
	for (uint64_t i = 0; i < w->iterations; i++) {
		uint64_t start = workload_now();

		op(w);
		times[i] = workload_now() - start;
	}
}

/* Prints the result, also to KPROTPERF_REPORT_FD. CHILD may be NULL. Sorts the times. */
void workload_report(const struct workload *w, uint64_t *times, uint64_t *child);

/*
 * Times a fork up to the parent's return and, if CHILD is not NULL, up to the child's first
 * instructions. The child exits at once; waiting for it is not timed.
 */
void workload_time_forks(const struct workload *w, uint64_t *times, uint64_t *child);

/* Makes N one-page shared anonymous mappings, never touched; each is a VMA to copy. */
void workload_map_pages(const struct workload *w, unsigned int n);

/* Returns the descriptor of a new, unlinked file of PAGES pages in $TMPDIR or /tmp. */
int workload_file(const struct workload *w, size_t pages);

/* Returns PAGES pages of private memory, each touched. */
char *workload_buffer(const struct workload *w, size_t pages);
