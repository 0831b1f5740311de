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

/* Prints the result, also to KPROTPERF_REPORT_FD. CHILD may be NULL. The times get sorted. */
void workload_report(const struct workload *w, uint64_t *times, uint64_t *child);

/*
 * Times a fork up to the parent's return from it and, where CHILD is not NULL, up to the child's
 * first instructions. The child does nothing else, and is waited for out of the measured time.
 */
void workload_time_forks(const struct workload *w, uint64_t *times, uint64_t *child);

/* Makes N one-page shared anonymous mappings. None is ever touched; each is a VMA to copy. */
void workload_map_pages(const struct workload *w, unsigned int n);

/* A descriptor of a new file of one page in $TMPDIR or /tmp. It has no name any more. */
int workload_page_file(const struct workload *w);

#endif
