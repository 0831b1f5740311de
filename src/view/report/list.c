// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of tables of `kprotperf report`, and the text above the tables. */
#include <math.h>

#include "base/alloc.h"
#include "output/json.h"
#include "output/number.h"
#include "view/names.h"
#include "view/report.h"
#include "view/words.h"

#define ENTRY(name) &report_##name,
static const struct view_table *const tables[] = { VIEW_REPORT_TABLES(ENTRY) };

/* Return the numbers of lost data as text, such as "none (not counted: probe_missed)"; for free(). */
static char *losses_text(const struct view_report *r)
{
	scoped_free char *unknown = NULL;
	bool any_counted = false;

	for (uint32_t i = 0; i < PROFILE_N_LOSSES; i++) {
		if (profile_loss_is_info(i))
			continue;
		if (r->losses.counts[i] == PROFILE_NOT_COUNTED)
			alloc_append(&unknown, "%s%s", unknown ? ", " : "", profile_loss_key(i));
		else
			any_counted = true;
	}
	return !any_counted ?
		       alloc_strdup("not counted") :
		       alloc_printf("%s%s%s%s",
				    analyze_losses_any(&r->losses) ? "see the warnings" : "none",
				    unknown ? " (not counted: " : "", unknown ? unknown : "",
				    unknown ? ")" : "");
}

/* Write the command, the kernel, the unit of times, and losses of data. */
static void write_recording(const struct view *v, const struct view_report *r)
{
	scoped_free char *command = view_command(r->common.p[0]),
			 *runs = view_runs(r->table.runs, r->table.boots);
	scoped_free char *times = view_times(&r->figures, profile_is_exact(r->common.p[0])),
			 *losses = losses_text(r);
	const char *note = view_unit_note(r->common.p[0]->clock);
	double seconds = analyze_duration(r->common.p[0]);

	if (isnan(seconds))
		view_text(v, "%s: %s, kernel %s", command, runs, view_release(r->common.p[0]));
	else
		view_text(v, "%s, for %s s: %s, kernel %s", command, output_digits(seconds, 3),
			  runs, view_release(r->common.p[0]));
	view_text(v, "Times in %s (calls: %s). Losses: %s.",
		  profile_clock_words(r->common.p[0]->clock), times, losses);
	if (!isnan(r->kernel.share))
		view_text(v, "Syscalls and page faults take %.1f %% of the command's CPU time.",
			  r->kernel.share * 100);
	if (note && v->everything)
		view_text(v, "%s", note);
}

static void page(const struct view *v, const void *data)
{
	const struct view_report *r = data;
	scoped_free char *summary = view_report_summary(r);

	view_text(v, "%s", summary);
	view_warnings(v, &r->warnings);
	fputc('\n', v->out);
	write_recording(v, r);
}

static void json(json_t *root, const void *data)
{
	const struct view_report *r = data;

	output_json_set(root, "unit", json_string(profile_clock_unit(r->common.p[0]->clock)));
	output_json_set(root, "raw", json_boolean(r->figures.raw));
	output_json_set(root, "time", json_string(view_time_keys[r->figures.time]));
	output_json_set(root, "warnings", view_warnings_json(&r->warnings));
	output_json_set(root, "kernel_share", view_kernel_share_json(&r->kernel));
}

const struct view_list view_report_list = {
	.tables = tables,
	.n_tables = ARRAY_SIZE(tables),
	.schema = "kprotperf-report/1",
	.csv = "calls",
	.page = page,
	.json = json,
	.is_of_recordings = true,
};
