/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by all workloads. Each program performs an operation exactly N times, measures each time with CLOCK_MONOTONIC, and prints
 * one line. On errors it prints one line on stderr and exits with status 1, or 2 for wrong usage.
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
 * Return the entry of WORKLOAD in the table ROWS. A source with a line "Names: A B C" is built once per name; WORKLOAD is the
 * name. Its table has an entry per name, of any struct that begins with a struct workload.
 */
#ifdef WORKLOAD
#define WORKLOAD_PICK(rows)                                               \
	((__typeof__(&(rows)[0]))workload_pick((rows), sizeof((rows)[0]), \
					       sizeof(rows) / sizeof((rows)[0]), WORKLOAD))
#endif
void *workload_pick(void *rows, size_t size, size_t n, const char *name);

/* Parse the command line: --iterations, --help. */
void workload_init(struct workload *w, int argc, char **argv);

/* Parse the command line, which must have one word besides the options. Return this word. OPERAND is its name in --help. */
const char *workload_init_operand(struct workload *w, int argc, char **argv, const char *operand);

/* Print "NAME: text", followed by strerror(ERR) unless ERR is 0, and exit with status 1. */
_Noreturn void workload_fail(const struct workload *w, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Allocate an array of times in ns, one per iteration. All its pages are mapped, and shared with forked children, so no page fault
 * or copy disturbs the measurements.
 */
uint64_t *workload_times(const struct workload *w);

uint64_t workload_now(void);

/* Call OP W->iterations times, and measure each call, including one clock reading. This function and OP are inlined. */
static inline __attribute__((always_inline)) void
workload_time_each(const struct workload *w, uint64_t *times, void (*op)(const struct workload *w))
{
	for (uint64_t i = 0; i < w->iterations; i++) {
		uint64_t start = workload_now();

		op(w);
		times[i] = workload_now() - start;
	}
}

/* Print a line with W's results, also to KPROTPERF_REPORT_FD. This sorts TIMES and CHILD (may be NULL). */
void workload_report(const struct workload *w, uint64_t *times, uint64_t *child);

/*
 * Measure the time from a fork to the parent's return and, unless CHILD is NULL, to the child's first instructions. The child
 * exits at once. Waiting for it is not timed.
 */
void workload_time_forks(const struct workload *w, uint64_t *times, uint64_t *child);

/* Make N shared anonymous mappings of one page each, and do not touch the pages. A fork copies a VMA per mapping. */
void workload_map_pages(const struct workload *w, unsigned int n);

/* Create a file of PAGES pages in $TMPDIR or /tmp, and unlink it. Return its descriptor. */
int workload_file(const struct workload *w, size_t pages);

/* Return PAGES pages of private memory, all touched before. */
char *workload_buffer(const struct workload *w, size_t pages);
