/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What LEBench's microbenchmarks share. Each program times one operation exactly as often as asked,
 * each time on its own with CLOCK_MONOTONIC, and prints one line. Whatever goes wrong is one line
 * on stderr and the end: 1 where something failed, 2 where the program was called wrongly.
 */
#ifndef WORKLOADS_COMMON_H
#define WORKLOADS_COMMON_H

#include <stddef.h>
#include <stdint.h>

#define WORKLOAD_PAGE 4096

struct workload {
	const char *name;
	const char *timed; /* for --help: "what is timed" */
	uint64_t iterations;
};

/*
 * A source with a line "Names: A B C" is built once for each, with WORKLOAD as its name. Its table
 * has a row for each, of any struct that begins with a struct workload; this is the one built now.
 */
#ifdef WORKLOAD
#define WORKLOAD_PICK(rows)                                               \
	((__typeof__(&(rows)[0]))workload_pick((rows), sizeof((rows)[0]), \
					       sizeof(rows) / sizeof((rows)[0]), WORKLOAD))
#endif
void *workload_pick(void *rows, size_t size, size_t n, const char *name);

/* Takes --iterations out of the command line; answers --help. */
void workload_init(struct workload *w, int argc, char **argv);

/* "NAME: text", with errno's meaning after it where ERR is not 0; exit status 1. */
_Noreturn void workload_fail(const struct workload *w, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * A time, in ns, for each iteration. The pages are there before the first is written, and forked
 * children share them, so that nothing faults or is copied between two measurements.
 */
uint64_t *workload_times(const struct workload *w);

uint64_t workload_now(void);

/* Times OP as often as asked, each time with one reading of the clock. Inlined, and OP with it. */
static inline __attribute__((always_inline)) void
workload_time_each(const struct workload *w, uint64_t *times, void (*op)(const struct workload *w))
{
	for (uint64_t i = 0; i < w->iterations; i++) {
		uint64_t start = workload_now();

		op(w);
		times[i] = workload_now() - start;
	}
}

/* Prints the result, also to KPROTPERF_REPORT_FD. CHILD may be NULL. The times get sorted. */
void workload_report(const struct workload *w, uint64_t *times, uint64_t *child);

/*
 * Times a fork up to the parent's return from it and, where CHILD is not NULL, up to the child's
 * first instructions. The child does nothing else, and is waited for out of the measured time.
 */
void workload_time_forks(const struct workload *w, uint64_t *times, uint64_t *child);

/* Makes N one-page shared anonymous mappings. None is ever touched; each is a VMA to copy. */
void workload_map_pages(const struct workload *w, unsigned int n);

/* A descriptor of a new file of PAGES pages in $TMPDIR or /tmp. It has no name any more. */
int workload_file(const struct workload *w, size_t pages);

/* PAGES pages of memory of this process's own, each touched. */
char *workload_buffer(const struct workload *w, size_t pages);

#endif
