// SPDX-License-Identifier: GPL-2.0-or-later
/* The numbers of runs and boots from which the figures come, and a note if there are too few. */

#include "base/alloc.h"
#include "output/json.h"
#include "view/diff.h"
#include "view/names.h"

static json_t *runs_json(const void *data)
{
	const struct view_diff *c = data;
	json_t *runs = json_object();

	for (int i = 0; i < VIEW_N_SIDES; i++) {
		json_t *side = json_object();

		output_json_set(side, "runs", json_integer(c->diff.runs[i]));
		output_json_set(side, "boots", json_integer(c->diff.boots[i]));
		output_json_set(runs, view_side_names[i], side);
	}
	return runs;
}

/* Return a note, for free(), that verdicts are unclear for the reason WHY, with advice to repeat P's command. BESIDES follows. */
static char *undecided(const char *why, const struct profile *p, const char *besides)
{
	scoped_free char *command = view_command(p);

	return alloc_printf(
		"%s, so verdicts are \"unclear\"; to settle it, repeat kprotperf record -o FILE%s%s "
		"with the same options several times, alternating between the sides, merge each side's "
		"files and diff again%s",
		why, p->n_args ? " -- " : "", p->n_args ? command : "", besides);
}

char *view_repetitions_note(const struct view_diff *c)
{
	const struct analyze_diff_repetitions *r = &c->diff.repetitions;
	scoped_free char *sides = NULL;

	switch (r->note) {
	case ANALYZE_REPETITIONS_ENOUGH:
		break;
	case ANALYZE_REPETITIONS_TOO_FEW:
		view_append_sides(&sides, r->n, view_units[r->unit]);
		return alloc_printf(
			"%s: too few for intervals and verdicts; use lab ab --boots=5 or record "
			"--repeat=5",
			sides);
	case ANALYZE_REPETITIONS_ONE_RECORDING:
		return undecided("a single recording on a side, on a real clock: intervals do not "
				 "cover variation between recordings",
				 c->common.p[VIEW_BASELINE], "");
	case ANALYZE_REPETITIONS_IN_A_ROW:
		return undecided(
			"each side's recordings were made in a row, on a real clock: changes "
			"of the machine in between would be attributed to the kernels",
			c->common.p[VIEW_BASELINE],
			"; or pass as many recordings of the baseline as --control");
	case ANALYZE_REPETITIONS_ONE_BOOT:
		return alloc_printf(
			"all %ss are from one boot per side: intervals do not cover variation "
			"between boots (use lab ab --boots=5)",
			view_units[r->unit]);
	case ANALYZE_REPETITIONS_BOOT_BASELINE:
	case ANALYZE_REPETITIONS_BOOT_HARDENED:
		return alloc_printf(
			"one boot on the %s side but several on the other: no intervals or "
			"verdicts (boot both sides equally often)",
			r->note == ANALYZE_REPETITIONS_BOOT_BASELINE ? "baseline" : "hardened");
	}
	return NULL;
}

static json_t *note_json(const struct view_diff *c)
{
	scoped_free char *note = view_repetitions_note(c);
	json_t *json = output_json_text(note);

	return json;
}

static json_t *json(const void *data)
{
	const struct view_diff *c = data;
	const struct analyze_diff_repetitions *r = &c->diff.repetitions;
	json_t *json = json_object();

	output_json_set(json, "unit", json_string(view_units[r->unit]));
	output_json_set(json, "baseline", json_integer(r->n[VIEW_BASELINE]));
	output_json_set(json, "hardened", json_integer(r->n[VIEW_HARDENED]));
	output_json_set(json, "confidence", output_json_number(ANALYZE_CONFIDENCE));
	output_json_set(json, "margin_pct", output_json_number(r->margin_pct));
	output_json_set(json, "rows", json_integer(r->rows));
	output_json_set(json, "note", note_json(c));
	output_json_set(json, "control", output_json_text(c->control));
	return json;
}

static void page(const struct view *v, const void *data)
{
	const struct view_diff *c = data;
	const struct analyze_diff_repetitions *r = &c->diff.repetitions;
	scoped_free char *sides = NULL;

	view_append_sides(&sides, r->n, view_units[r->unit]);
	if (r->rows)
		view_text(v,
			  "Over %s: +- is half the 95 %% interval, P is adjusted for %u rows; "
			  "\"same\": significantly less than %g %% apart.",
			  sides, r->rows, r->margin_pct);
	if (c->control)
		view_text(
			v,
			"NOISE: the largest plausible difference between the baseline and %s, another recording "
			"of the same kernel; \"under\" marks changes no larger than that.",
			c->control);
}

const struct view_table diff_runs = {
	.name = "runs",
	.places = VIEW_IN_JSON,
	.json = runs_json,
};

const struct view_table diff_statistics = {
	.name = "statistics",
	.is_closed = true,
	.places = VIEW_IN_PAGE | VIEW_IN_JSON,
	.page = page,
	.json = json,
};
