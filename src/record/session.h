/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording from beginning to end: resolve, load, run, drain, write.
 */
#ifndef KPROTPERF_RECORD_SESSION_H
#define KPROTPERF_RECORD_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "catalogue/catalogue.h"
#include "record/sites.h"

struct record_options {
	char **functions; /* names and globs */
	uint32_t n_functions, cap_functions;
	char **ranges; /* INLINED[@FUNC], likewise */
	uint32_t n_ranges, cap_ranges;
	char **blocks; /* functions */
	uint32_t n_blocks, cap_blocks;
	const struct catalogue_protection **protections; /* whose functions and ranges are added */
	uint32_t n_protections, cap_protections;
	char **argv; /* the command, or NULL */
	const char *output;
	const char *vmlinux; /* NULL: look in the usual places */
	uint32_t freq; /* samples a second; 0: none */
	uint32_t repeat, warmup;
	uint32_t max_tasks; /* 0: the default */
	int32_t pid;
	double max_overhead; /* in percent; 0: no limit */
	enum record_attach attach;
	bool system_wide, control_run, no_resolve;
	bool callees; /* those of the functions in BLOCKS are timed too */
	int verbose;
};

/* Returns the process's exit status: the workload's own once it ran, else 1, 126 or 127. */
int record_session(const struct record_options *options);

#endif
