// SPDX-License-Identifier: GPL-2.0-or-later
/* The recording in a sentence or two. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "output/folded.h"
#include "output/number.h"
#include "view/report.h"

/* A function with less of its context's time is not where the time goes. */
#define LEAST_SHARE 0.05
/* Likewise of the samples of a function. */
#define LEAST_SAMPLES 0.1
/* Totals this close to the largest are taken for the same cost seen from further inside. */
#define INNERMOST_SHARE 0.9

static double oncpu_of(const struct analyze_row *row)
{
	return row->figures.totals[ANALYZE_TIME_ONCPU];
}

/* The innermost of the functions that take most of the time of CONTEXT; NULL: none takes much. */
static const struct analyze_row *find_function(const struct view_report *r,
					       const struct analyze_row *context)
{
	const struct analyze_rows *functions = &r->table.functions;
	const struct analyze_row *best = NULL;
	double largest = 0;

	for (uint32_t pass = 0; pass < 2; pass++) {
		vec_each(const struct analyze_row, row, functions, rows) {
			if (strcmp(row->context, context->name))
				continue;
			if (!pass)
				largest = fmax(largest, oncpu_of(row));
			else if (oncpu_of(row) >= INNERMOST_SHARE * largest &&
				 oncpu_of(row) >= LEAST_SHARE * oncpu_of(context) &&
				 (!best || oncpu_of(row) < oncpu_of(best)))
				best = row;
		}
	}
	return best;
}

/* "; 18 % of that in shuffle_freelist", or what else is known of where ROW's time goes. */
static char *where_text(const struct view_report *r, const struct analyze_row *row)
{
	const struct analyze_row *f = find_function(r, row);
	scoped_free char *name = NULL;

	if (!f && !(r->leaves.n_leaves && r->leaves.leaves[0].share >= LEAST_SAMPLES))
		return alloc_strdup("");
	name = f ? alloc_strdup(f->name) :
		   output_folded_frames(r->leaves.leaves[0].frames, r->leaves.leaves[0].n_frames);
	return f ? alloc_printf("; %.0f %% of that is in %s", 100 * oncpu_of(f) / oncpu_of(row),
				name) :
		   alloc_printf("; most %s of the workload are in %s (%.0f %%)",
				profile_sample_event(r->common.p[0]) ?: "samples", name,
				100 * r->leaves.leaves[0].share);
}

/* The syscall, or page fault, with the most on-CPU time; *SUM becomes that of all. NULL: there is none. */
static const struct analyze_row *find_syscall(const struct view_report *r, double *sum)
{
	const struct analyze_row *best = NULL;

	*sum = 0;
	vec_each(const struct analyze_row, row, &r->table.syscalls, rows) {
		if (!(oncpu_of(row) > 0))
			continue;
		*sum += oncpu_of(row);
		if (!best || oncpu_of(row) > oncpu_of(best))
			best = row;
	}
	return best;
}

char *view_report_summary(const struct view_report *r)
{
	double sum;
	const struct analyze_row *row = find_syscall(r, &sum);
	enum profile_clock clock = r->common.p[0]->clock;
	scoped_free char *where = NULL;

	if (!row)
		return alloc_strdup("No syscalls or page faults were recorded.");
	where = where_text(r, row);
	return alloc_printf(
		"%s takes %.0f %% of the on-CPU time in syscalls and page faults "
		"(%s call%s, %s%s per call)%s.",
		row->name, 100 * oncpu_of(row) / sum,
		output_number(OUTPUT_COUNT, row->figures.calls, clock),
		row->figures.calls == 1 ? "" : "s",
		output_number(OUTPUT_TIME, row->figures.means[ANALYZE_TIME_ONCPU], clock),
		view_unit(clock), where);
}
