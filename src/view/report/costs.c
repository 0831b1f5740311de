// SPDX-License-Identifier: GPL-2.0-or-later
/* The cost of the probes, by attachment mechanism, and the slowdown of the workload. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "output/json.h"
#include "output/number.h"
#include "view/names.h"
#include "view/page/columns.h"
#include "view/report.h"

static const struct output_column columns[] = {
	COLUMN("name", TEXT, analyze_cost, name, .header = "PROBES"),
	COLUMN("functions", COUNT, analyze_cost, functions, .header = "FUNCTIONS", .rank = 1),
	COLUMN("calls", COUNT, analyze_cost, calls, .header = "CALLS", .rank = 1),
	COLUMN("inner", TIME, analyze_cost, inner, .header = "INNER"),
	COLUMN("inner_spread", TIME, analyze_cost, inner_spread, .header = "+-", .rank = 3),
	COLUMN("full", TIME, analyze_cost, full, .header = "FULL"),
	COLUMN("full_spread", TIME, analyze_cost, full_spread, .header = "+-", .rank = 3),
	COLUMN("total", TIME, analyze_cost, total, .header = "TOTAL"),
	COLUMN("share", FRACTION, analyze_cost, share, .header = "SHARE", .rank = 2),
	COLUMN("calibration", TEXT, analyze_cost, calibration),
};

static char *title(const void *data)
{
	const struct view_report *r = data;

	return alloc_printf("Probe cost, calibrated %s; SHARE of the on-CPU time in syscalls and "
			    "page faults",
			    r->costs.boots > 1 ? "in the first boot" : "before the first run");
}

/* Write the calibrations without a cost inside the measured time, such as the sampler's. Also name probes of unknown cost. */
static void write_other_calibrations(const struct view *v, const struct analyze_costs *costs)
{
	vec_each(const struct analyze_cost, row, costs, rows) {
		if (row->calibration && isnan(row->inner))
			view_fact(v, row->name, row->calibration);
		else if (!row->calibration && !row->is_of_hits)
			view_fact(v, row->name, "cost unknown, nothing subtracted");
	}
}

/* Return the slowdown by probes, "big-fork +40.4 %, [elapsed time] +16.5 %"; for free(). NULL: no runs without probes. */
static char *measured_slowdown(const struct analyze_workload *w, enum profile_clock clock)
{
	char *text = NULL;

	for (uint32_t i = 1; i < w->n_rows; i++) {
		const struct analyze_workload_row *with = &w->rows[i], *without = with - 1;

		if (!with->probed || without->probed || strcmp(with->name, without->name))
			continue;
		alloc_append_item(
			&text,
			alloc_printf("%s %s", view_workload_label(with->name),
				     output_number(OUTPUT_PERCENT,
						   analyze_percent(with->gross - without->gross,
								   without->gross),
						   clock)));
	}
	return text;
}

static void write_slowdown(const struct view *v, const struct view_report *r)
{
	const struct analyze_costs *costs = &r->costs;
	scoped_free char *measured = measured_slowdown(&r->workload, costs->clock);

	view_text(v,
		  "Slowdown caused by probes: estimated (calibration x calls) %s in syscalls and "
		  "page faults, %s of the elapsed time if one CPU did all the work; measured %s.",
		  output_number(OUTPUT_PERCENT, costs->estimated_kernel_pct, costs->clock),
		  output_number(OUTPUT_PERCENT, costs->estimated_pct, costs->clock),
		  measured ? measured : "by record --control-run only");
}

/* Return the probe cost subtracted from all times and, if known, half its 95 % interval: "2.509 ms +- 0.24 ms". For free(). */
static char *subtracted(const struct view_report *r)
{
	const struct analyze_costs *costs = &r->costs;
	double all = 0;

	/* All rows have the error of the same calibration, so add up the errors, and not their squares. */
	vec_each(const struct analyze_row, row, &r->table.syscalls, rows)
		all += ANALYZE_SYSTEMATIC_REACH * row->moments.systematic * row->figures.calls;
	return alloc_printf("%s%s%s%s", output_number(OUTPUT_TIME, costs->subtracted, costs->clock),
			    all > 0 ? " +- " : "",
			    all > 0 ? output_number(OUTPUT_TIME, all, costs->clock) : "",
			    output_unit(costs->clock, costs->subtracted));
}

static void after(const struct view *v, const void *data)
{
	const struct view_report *r = data;
	const struct analyze_costs *costs = &r->costs;
	scoped_free char *sum = subtracted(r);

	write_other_calibrations(v, costs);
	if (costs->subtracted > 0)
		view_text(
			v,
			"%s syscalls and page faults, including the cost of samples: %s, a share of %s of "
			"the measured time.",
			r->figures.raw ? "Included in the times (--raw) of" : "Subtracted from",
			sum,
			output_number(OUTPUT_FRACTION, costs->subtracted / costs->oncpu,
				      costs->clock));
	else
		view_text(v, "Nothing is subtracted: no probe cost is known.");
	write_slowdown(v, r);
}

static json_t *json(const void *data)
{
	const struct analyze_costs *costs = &((const struct view_report *)data)->costs;
	json_t *object = json_object(), *slowdown = json_object();
	scoped(view_rows_deinit) struct view_rows mechanisms;

	view_rows_init(&mechanisms, &report_costs, data, false);
	output_json_set(object, "mechanisms", output_json_rows(&mechanisms.section));
	output_json_set(object, "oncpu", output_json_number(costs->oncpu));
	output_json_set(object, "subtracted", output_json_number(costs->subtracted));
	output_json_set(slowdown, "estimated_kernel_pct",
			output_json_number(costs->estimated_kernel_pct));
	output_json_set(slowdown, "estimated_pct", output_json_number(costs->estimated_pct));
	output_json_set(slowdown, "measured_pct", output_json_number(costs->measured_pct));
	output_json_set(object, "slowdown", slowdown);
	return object;
}

const struct view_table report_costs = {
	.name = "costs",
	.is_closed = true,
	.title_of = title,
	.none = "Probe cost: nothing was timed.",
	ONE_GROUP(columns),
	VIEW_LIST(view_report, costs.rows, costs.n_rows),
	.after = after,
	.json = json,
};
