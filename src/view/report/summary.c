// SPDX-License-Identifier: GPL-2.0-or-later
/* A summary of the recording in one sentence. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "output/number.h"
#include "view/names.h"
#include "view/report.h"

static double oncpu_of(const struct analyze_row *row)
{
	return row->figures.totals[ANALYZE_TIME_ONCPU];
}

/* Return the innermost function that has nearly the most on-CPU time in CONTEXT; NULL: no function has a large part of it. */
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
			else if (oncpu_of(row) >= NEARLY_ALL * largest &&
				 oncpu_of(row) >= LITTLE * oncpu_of(context) &&
				 (!best || oncpu_of(row) < oncpu_of(best)))
				best = row;
		}
	}
	return best;
}

/* Return "; 18 % of that is in shuffle_freelist": a part of ROW's time or, if no function was timed, of samples. For free(). */
static char *where_text(const struct view_report *r, const struct analyze_row *row)
{
	const struct analyze_row *f = find_function(r, row);
	const struct analyze_leaf *leaf = r->leaves.n_leaves ? r->leaves.leaves : NULL;
	scoped_free char *name = NULL;
	char *text = NULL;

	if (f) {
		view_append_share(&text, "; ", oncpu_of(f) / oncpu_of(row), "that");
		view_append(&text, " is in %s", f->name);
		return text;
	}
	if (!leaf || !(leaf->share >= WORTH_A_WORD))
		return alloc_strdup("");
	name = view_frames(leaf->frames, leaf->n_frames);
	return alloc_printf("; %.0f %% of the workload's samples are in %s%s", 100 * leaf->share,
			    name, leaf->share > 0.5 ? "" : ", more than anywhere else");
}

/* Return the row (a syscall or page faults) with the most on-CPU time; NULL: none. Set *SUM to the on-CPU time of all rows. */
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
		"(%s %s, %s per call)%s.",
		row->name, 100 * oncpu_of(row) / sum,
		output_number(OUTPUT_COUNT, row->figures.calls, clock),
		plural(row->figures.calls, "call", "calls"),
		output_amount(OUTPUT_TIME, row->figures.means[ANALYZE_TIME_ONCPU], clock), where);
}
