/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the cells of one profile to rows: the syscalls (all contexts, the pseudo-contexts included)
 * and the functions inside them, each summed over the probed runs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analyze/figures/calibration.h"
#include "analyze/stats/sample.h"
#include "base/alloc.h"
#include "profile/profile.h"

/* The context of a function's row that sums up all contexts. */
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
	double margin_pct; /* of a diff: see analyze_changes_judge(); 0: ANALYZE_MARGIN_PCT */
};

/*
 * Figures of the calls of one row. Times are in ticks of the profile's clock, less probe cost unless raw was asked
 * for; they are below zero if the calibration took too much. NAN: no calls, or not counted.
 */
struct analyze_figures {
	double calls;
	double rate; /* calls per second of recording, where that has no command; else NAN */
	double errors;
	double total, mean; /* of the time asked for */
	double p50, p90, p99, p999, min,
		max; /* of a call's on-CPU time; NAN where another was asked for */
	double spread; /* the standard deviation of the same */
	double totals[ANALYZE_N_TIMES], means[ANALYZE_N_TIMES];
};

/* Nothing is known. */
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
	const char *label; /* as tables show it: with "!" or the caveat behind it */
	bool redundant; /* the sum of a function that has one context only: says nothing new */
	const char *caveat; /* why its figures are not to be trusted, or little; NULL: they are */
	struct analyze_figures figures;
	struct analyze_moments moments; /* of the time of a call, over repetitions */
};

struct analyze_rows {
	vec_of(struct analyze_row, rows); /* by name, then context, the sum first */
};

struct analyze_table {
	enum profile_clock clock;
	enum analyze_time time; /* that of total and mean */
	uint32_t runs, boots; /* probed runs and the boots they ran in: what the sums are over */
	struct analyze_repetitions repetitions;
	struct analyze_rows syscalls, functions;
	struct alloc_texts labels; /* those that are not names */
	double oncpu, cost; /* of all syscalls and pseudo-contexts, before anything is subtracted */
};

/*
 * Clones and namesakes, sites that are reported under the same name, are summed under it. A function that was never called has
 * a sum of no calls. With raw, percentiles, min and max, which are kept without probe cost, are NAN where there was any.
 */
void analyze_table_init(struct analyze_table *table, const struct profile *p,
			const struct analyze_options *options);
void analyze_table_deinit(struct analyze_table *table);

/* Sorts rows by falling total; a function's sum comes before its contexts where they are equal. */
void analyze_rows_sort_by_total(struct analyze_rows *rows);

/* The one place where the stats of cells become figures. */
void analyze_figures_form(struct analyze_figures *f, const struct profile_stats *stats,
			  const struct analyze_options *options);

/* Adds CELL to S, as analyze_figures_form() counts it. R and C are P's. */
void analyze_sample_add_cell(struct analyze_sample *s, const struct analyze_repetitions *r,
			     const struct analyze_calibration *c, const struct profile *p,
			     const struct profile_cell *cell,
			     const struct analyze_options *options);

/* Counts and totals of F divided by RUNS. */
struct analyze_figures analyze_figures_per_run(const struct analyze_figures *f, uint32_t runs);

/* The caveat of a row on a real clock from which more was subtracted for its probes than is left. */
extern const char analyze_caveat_probes[];

/* Nothing known. */
extern const struct analyze_figures analyze_figures_none;

/* For how many seconds P's probed runs followed tasks where there was no command; else NAN. */
double analyze_duration(const struct profile *p);

/* strcmp for contexts: NULL first, then the sum, then by name. */
int analyze_context_compare(const char *a, const char *b);
