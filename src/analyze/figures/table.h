/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sum up the calls of one profile over its probed runs. The rows are system calls (also page faults and interrupts), and functions
 * in each context.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analyze/figures/calibration.h"
#include "analyze/stats/sample.h"
#include "base/alloc.h"
#include "profile/profile.h"

/* A row with this context is a function's sum over all contexts. */
#define ANALYZE_ALL_CONTEXTS "*"

static inline bool analyze_is_sum(const char *context)
{
	return context && !strcmp(context, ANALYZE_ALL_CONTEXTS);
}

/* The times of a call, defined in docs/accounting.md. */
enum analyze_time {
	ANALYZE_TIME_ONCPU,
	ANALYZE_TIME_WALL,
	ANALYZE_TIME_SELF,
	ANALYZE_N_TIMES,
};

/* Options for the figures of a profile. All zero is the default. */
struct analyze_options {
	enum analyze_time time;
	bool raw; /* do not subtract probe cost */
	double margin_pct; /* changes within this margin are "same" (0: ANALYZE_MARGIN_PCT) */
};

/*
 * Figures of one row's calls. Times are in ticks (ns or counted instructions), without probe cost unless RAW. A time is negative
 * if the subtracted cost is too large. A figure is NAN if there are no calls, or if it was not counted.
 */
struct analyze_figures {
	double calls;
	double rate; /* calls per second if no command was recorded, else NAN */
	double errors;
	double total, mean; /* sum and mean of the requested kind of time */
	double p50, p90, p99, p999, min,
		max; /* P50 to MAX: of a call's on-CPU time; NAN if another time is requested */
	double spread; /* standard deviation of a call's on-CPU time */
	double totals[ANALYZE_N_TIMES], means[ANALYZE_N_TIMES];
};

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

/* The profile owns the strings and must outlive the row. */
struct analyze_row {
	enum analyze_call_kind kind;
	const char *name;
	const char *context; /* NULL for a system call; may be ANALYZE_ALL_CONTEXTS */
	const char *label; /* displayed name: NAME, with "!" or "[CAVEAT]" if the row has one */
	bool redundant; /* the row of all contexts repeats the only context */
	const char *caveat; /* reason why the figures are doubtful, or NULL */
	struct analyze_figures figures;
	struct analyze_moments moments; /* mean and variance of a call's time over repetitions */
};

struct analyze_rows {
	vec_of(struct analyze_row, rows); /* sorted by name, then context ("*" first) */
};

struct analyze_table {
	enum profile_clock clock;
	enum analyze_time time; /* kind of time in TOTAL and MEAN */
	uint32_t runs, boots; /* number of probed runs, and number of their boots */
	struct analyze_repetitions repetitions;
	struct analyze_rows syscalls, functions;
	struct alloc_texts labels; /* owns labels that differ from the names */
	double oncpu, cost; /* sums over all contexts; ONCPU includes the probe cost COST */
};

/*
 * Make the rows of P. Functions reported under one name are summed up. A function without calls gets a row with 0 calls. With RAW,
 * percentiles, min and max are NAN if probes had a cost, since the recorder has already subtracted the cost.
 */
void analyze_table_init(struct analyze_table *table, const struct profile *p,
			const struct analyze_options *options);
void analyze_table_deinit(struct analyze_table *table);

/* Sort rows by total time, largest first. If totals are equal, a function's row of all contexts comes first. */
void analyze_rows_sort_by_total(struct analyze_rows *rows);

void analyze_figures_form(struct analyze_figures *f, const struct profile_stats *stats,
			  const struct analyze_options *options);

/* Add CELL's calls and their total time to S. OPTIONS choose the kind of time. R and C are P's repetitions and calibration. */
void analyze_sample_add_cell(struct analyze_sample *s, const struct analyze_repetitions *r,
			     const struct analyze_calibration *c, const struct profile *p,
			     const struct profile_cell *cell,
			     const struct analyze_options *options);

/* Return the figures F per run: divide counts and totals by RUNS, and leave means as they are. */
struct analyze_figures analyze_figures_per_run(const struct analyze_figures *f, uint32_t runs);

/* Remark on a row (only with times in ns): the cost subtracted for probes is larger than the remaining time. */
extern const char analyze_caveat_probes[];

extern const struct analyze_figures analyze_figures_none;

/* Return the duration of P's probed runs in seconds, or NAN if P recorded a command. */
double analyze_duration(const struct profile *p);

/* Compare contexts as strcmp() does, with NULL first and ANALYZE_ALL_CONTEXTS second. */
int analyze_context_compare(const char *a, const char *b);
