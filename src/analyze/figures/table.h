/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Make rows from the cells of one profile, summed over the probed runs: the syscalls (over all contexts, pseudo-contexts
 * included) and the functions inside them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analyze/figures/calibration.h"
#include "analyze/stats/sample.h"
#include "base/alloc.h"
#include "profile/profile.h"

/* The context of rows that sum up a function's contexts. */
#define ANALYZE_ALL_CONTEXTS "*"

static inline bool analyze_is_sum(const char *context)
{
	return context && !strcmp(context, ANALYZE_ALL_CONTEXTS);
}

/* The times of a call: docs/accounting.md. */
enum analyze_time {
	ANALYZE_TIME_ONCPU,
	ANALYZE_TIME_WALL,
	ANALYZE_TIME_SELF,
	ANALYZE_N_TIMES,
};

/* The choice of figures. Zero is the default. */
struct analyze_options {
	enum analyze_time time;
	bool raw; /* probe cost stays in the times */
	double margin_pct; /* a diff's margin: see analyze_changes_judge(); 0: ANALYZE_MARGIN_PCT */
};

/*
 * The figures of one row's calls. Times are in ticks of the profile's clock, less probe cost unless RAW. They are negative if
 * the calibration subtracts too much. NAN: no calls, or not counted.
 */
struct analyze_figures {
	double calls;
	double rate; /* calls per second of a recording without a command; else NAN */
	double errors;
	double total, mean; /* sum and mean of the requested time */
	double p50, p90, p99, p999, min,
		max; /* of a call's on-CPU time; NAN if another time was requested */
	double spread; /* standard deviation of a call's on-CPU time */
	double totals[ANALYZE_N_TIMES], means[ANALYZE_N_TIMES];
};

/* All figures are unknown. */
#define ANALYZE_FIGURES_NONE                                                                     \
	{                                                                                        \
		.calls = NAN, .rate = NAN, .errors = NAN, .total = NAN, .mean = NAN, .p50 = NAN, \
		.p90 = NAN, .p99 = NAN, .p999 = NAN, .min = NAN, .max = NAN, .spread = NAN,      \
		.totals = { NAN, NAN, NAN }, .means = {                                          \
			NAN,                                                                     \
			NAN,                                                                     \
			NAN                                                                      \
		}                                                                                \
	}

enum analyze_call_kind {
	ANALYZE_CALL_SYSCALL,
	ANALYZE_CALL_FUNCTION,
};

/* Strings are the profile's, which must outlive the row. */
struct analyze_row {
	enum analyze_call_kind kind;
	const char *name;
	const char *context; /* NULL for syscalls; ANALYZE_ALL_CONTEXTS for the sum */
	const char *label; /* the name in tables, with "!" or the caveat after it */
	bool redundant; /* the sum of a function with one context only */
	const char *caveat; /* why its figures are doubtful; NULL: they are not */
	struct analyze_figures figures;
	struct analyze_moments moments; /* of the time of a call, over repetitions */
};

struct analyze_rows {
	vec_of(struct analyze_row, rows); /* by name, then context, the sum first */
};

struct analyze_table {
	enum profile_clock clock;
	enum analyze_time time; /* the time of TOTAL and MEAN */
	uint32_t runs, boots; /* number of summed probed runs, and of their boots */
	struct analyze_repetitions repetitions;
	struct analyze_rows syscalls, functions;
	struct alloc_texts labels; /* labels that differ from the names */
	double oncpu, cost; /* of all syscalls and pseudo-contexts, before any subtraction */
};

/*
 * Set the rows of P. Clones and namesakes (sites reported under one name) are summed up. A function that was never called has a
 * sum without calls. With RAW, percentiles, min and max are NAN if probes had a cost, since it was subtracted while recording.
 */
void analyze_table_init(struct analyze_table *table, const struct profile *p,
			const struct analyze_options *options);
void analyze_table_deinit(struct analyze_table *table);

/* Sort rows by falling total. A function's sum comes before contexts with the same total. */
void analyze_rows_sort_by_total(struct analyze_rows *rows);

/* Set F from the stats of cells. */
void analyze_figures_form(struct analyze_figures *f, const struct profile_stats *stats,
			  const struct analyze_options *options);

/* Add CELL's calls and time to S, as analyze_figures_form() counts them. R and C are P's repetitions and calibration. */
void analyze_sample_add_cell(struct analyze_sample *s, const struct analyze_repetitions *r,
			     const struct analyze_calibration *c, const struct profile *p,
			     const struct profile_cell *cell,
			     const struct analyze_options *options);

/* Return F with counts and totals divided by RUNS. */
struct analyze_figures analyze_figures_per_run(const struct analyze_figures *f, uint32_t runs);

/* The caveat of a row on a real clock: the cost subtracted for its probes is larger than the remaining time. */
extern const char analyze_caveat_probes[];

/* All figures are unknown. */
extern const struct analyze_figures analyze_figures_none;

/* Return the total time of P's probed runs in seconds, if tasks were followed without a command; else NAN. */
double analyze_duration(const struct profile *p);

/* Compare contexts as strcmp() does, with NULL first, then the sum. */
int analyze_context_compare(const char *a, const char *b);
