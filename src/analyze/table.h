/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the cells of one profile to rows: the syscalls (all contexts, the pseudo-contexts included)
 * and the functions inside them, each summed over the probed runs.
 */
#ifndef KPROTPERF_ANALYZE_TABLE_H
#define KPROTPERF_ANALYZE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* The context of a function's row that sums up all contexts. */
#define ANALYZE_ALL_CONTEXTS "*"

/*
 * What is said of the calls of one row. Times are in ticks of the profile's clock, on-CPU and less
 * probe cost unless raw was asked for. NAN is "not known": no calls, or not counted.
 */
struct analyze_figures {
	double calls;
	double errors;
	double total;
	double mean, p50, p90, p99, min, max; /* a call */
};

/* Strings are the profile's, which must outlive the row. */
struct analyze_row {
	const char *name;
	const char *context; /* NULL for syscalls; ANALYZE_ALL_CONTEXTS for the sum */
	bool redundant; /* the sum of a function that has one context only: says nothing new */
	struct analyze_figures figures;
};

struct analyze_rows {
	struct analyze_row *rows; /* by name, then context, the sum first */
	uint32_t n_rows, cap_rows;
};

struct analyze_table {
	enum profile_clock clock;
	uint32_t runs, boots; /* probed runs and the boots they ran in: what the sums are over */
	struct analyze_rows syscalls, functions;
	double oncpu, cost; /* of all syscalls and pseudo-contexts, before anything is subtracted */
};

/*
 * Clones and namesakes, sites that are reported under the same name, are summed under it. A function
 * that was never called has a sum of no calls. RAW: probe cost stays in the times; percentiles, min
 * and max, which are kept without it, are then NAN where there was any.
 */
void analyze_table_init(struct analyze_table *table, const struct profile *p, bool raw);
void analyze_table_deinit(struct analyze_table *table);

/* Sorts rows by falling total; a function's sum comes before its contexts where they are equal. */
void analyze_rows_sort_by_total(struct analyze_rows *rows);

/* The one place where the stats of cells become figures. */
void analyze_figures_form(struct analyze_figures *f, const struct profile_stats *stats, bool raw);

/* Nothing known. */
extern const struct analyze_figures analyze_figures_none;

/* strcmp for contexts: NULL first, then the sum, then by name. */
int analyze_context_compare(const char *a, const char *b);

#endif
