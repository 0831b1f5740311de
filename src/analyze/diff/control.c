// SPDX-License-Identifier: GPL-2.0-or-later
/* The noise floor: what differs between two recordings of one kernel. */
#include <math.h>

#include "analyze/diff/diff.h"
#include "profile/merge.h"
#include "base/sorted.h"

define_compare(workload_compare, struct analyze_diff_workload_row,
	       compare_text(a->name, b->name) ?: compare_values(a->probed, b->probed));

/* CONTROL and DELTA are of one row of DIFF; CONTROL_DELTA is the control's. */
static void set_noise(const struct analyze_diff *diff, struct analyze_change *change, double delta,
		      const struct analyze_change *control, double control_delta)
{
	const struct analyze_interval *ci = &control->ci;

	change->noise = isnan(ci->low) ? fabs(control_delta) : fmax(fabs(ci->low), fabs(ci->high));
	change->under_noise = fabs(delta) <= change->noise;
	if (diff->repetitions.controlled && change->held && fabs(delta) > change->noise)
		change->verdict = change->held;
}

static void rows_set(const struct analyze_diff *diff, struct analyze_diff_rows *rows,
		     struct analyze_diff_rows *control)
{
	const struct analyze_diff_row *found;

	sort_array(control->rows, control->n_rows, sizeof(*control->rows),
		   analyze_diff_row_compare);
	vec_each(struct analyze_diff_row, row, rows, rows) {
		found = analyze_diff_rows_find(control, row->name, row->context);
		if (found)
			set_noise(diff, &row->change, row->delta, &found->change, found->delta);
	}
}

static void workload_set(struct analyze_diff *diff, struct analyze_diff *control)
{
	const struct analyze_diff_workload_row *found;

	sort_array(control->workload, control->n_workload, sizeof(*control->workload),
		   workload_compare);
	vec_each(struct analyze_diff_workload_row, row, diff, workload) {
		found = search_array(row, control->workload, control->n_workload, sizeof(*row),
				     workload_compare);
		if (found)
			set_noise(diff, &row->change, row->delta, &found->change, found->delta);
	}
}

int analyze_diff_control(struct analyze_diff *diff, const struct profile *baseline,
			 const struct profile *control, const struct analyze_options *options)
{
	struct analyze_diff noise;
	char *conflict;
	int err = analyze_diff_init(&noise, baseline, control, options);

	if (err)
		return err;
	conflict = profile_merge_conflict(baseline, control);
	if (conflict)
		analyze_warnings_add(&diff->warnings,
				     (struct analyze_warning){ .kind = ANALYZE_WARNING_CONTROL,
							       .severity = ANALYZE_SEVERITY_INVALID,
							       .side = ANALYZE_SIDE_NONE,
							       .own_text = conflict });
	diff->repetitions.controlled =
		diff->repetitions.note != ANALYZE_REPETITIONS_ONE_RECORDING &&
		noise.repetitions.note != ANALYZE_REPETITIONS_ONE_RECORDING;
	rows_set(diff, &diff->syscalls, &noise.syscalls);
	rows_set(diff, &diff->functions, &noise.functions);
	workload_set(diff, &noise);
	diff->has_control = true;
	analyze_diff_deinit(&noise);
	return 0;
}
