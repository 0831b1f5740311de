// SPDX-License-Identifier: GPL-2.0-or-later
/* diff --annotate for people, and what stands above its tables in JSON. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "output/json.h"
#include "view/annotate/rows.h"
#include "view/diff.h"

/* "593 instructions executed per call, "; "" where they were not counted. For free(). */
static char *executed_text(const struct analyze_annotation *a)
{
	if (!a->counted)
		return alloc_strdup("");
	return alloc_printf("%s instructions executed per call%s, ",
			    output_number(OUTPUT_COUNT, a->per_call, PROFILE_CLOCK_INSN),
			    a->n_unknown ? " plus an unknown number" : "");
}

static void write_side(const struct view *v, const struct view_annotate_diff *c, unsigned int side)
{
	const struct annotated *f = &c->sides[side];
	const struct analyze_annotation *a = &f->a;
	const char *kernel = view_release(f->p);
	scoped_free char *executed = executed_text(a), *timed = NULL;

	if (!isnan(a->figures.calls))
		timed = alloc_printf("%s %s timed, %s%s per call, ",
				     output_number(OUTPUT_COUNT, a->figures.calls, f->p->clock),
				     plural(a->figures.calls, "call", "calls"),
				     output_number(OUTPUT_TIME, a->figures.mean, f->p->clock),
				     view_unit(f->p->clock, a->figures.mean));
	if (a->n_places)
		view_text(v, "%s: %s, kernel %s: %s%s%.0f %s (%.0f in its own code%s)",
			  view_side_names[side], f->path, kernel, timed ?: "", executed, a->samples,
			  plural(a->samples, "sample", "samples"), a->hits.self,
			  a->unplaced > 0 ? "; some fell due with interrupts off and belong to no "
					    "line" :
					    "");
	else
		view_text(v, "%s: %s, kernel %s: no function %s, inlined or not",
			  view_side_names[side], f->path, kernel, f->name);
}

static bool is_significant(const struct annotate_diff_row *row)
{
	return row->of.delta.low > 0 || row->of.delta.high < 0;
}

/*
 * The body or line that changed significantly, and most: a line where it did more than any body, and of bodies in one another
 * the innermost that has all of it.
 */
static const struct annotate_diff_row *find_change(const struct view_rows *bodies,
						   const struct view_rows *lines)
{
	const struct annotate_diff_row *body = bodies->section.rows, *line = lines->section.rows;
	const struct annotate_diff_row *found = NULL;

	for (size_t i = 0; i < bodies->section.n_rows; i++) {
		const struct annotate_diff_row *row = &body[i];

		if (is_significant(row) &&
		    (!found || (row->of.delta.value / found->of.delta.value > 0.95 &&
				strlen(row->of.path) > strlen(found->of.path))))
			found = row;
	}
	for (size_t i = 0; i < lines->section.n_rows; i++) {
		const struct annotate_diff_row *row = &line[i];

		if (is_significant(row) &&
		    (!found || fabs(row->of.delta.value) > fabs(found->of.delta.value)))
			found = row;
	}
	return found;
}

/* A function that only one kernel has is all difference. */
static void write_one_sided(const struct view *v, const struct view_annotate_diff *c)
{
	unsigned int side = c->sides[1].a.n_places > 0;
	const struct analyze_annotation *a = &c->sides[side].a;
	double cost = (c->diff.is_of_call ? a->tick : a->tick_of_run) * a->samples;

	view_text(v,
		  "%s exists in the %s kernel only, so all of its cost is the change: %s%s%s%s per "
		  "%s.",
		  c->sides[side].name, view_side_names[side], c->diff.is_of_call ? "" : "~",
		  output_number(OUTPUT_DELTA, side ? cost : -cost, a->clock), ANNOTATE_UNIT(a),
		  c->diff.is_of_call ? "call" : "run");
}

static void write_headline(const struct view *v, const struct view_annotate_diff *c,
			   const struct view_rows *bodies, const struct view_rows *lines)
{
	const struct annotate_diff_row *row = find_change(bodies, lines);
	enum profile_clock clock = c->sides[0].a.clock;

	fputc('\n', v->out);
	if (!c->sides[0].a.n_places || !c->sides[1].a.n_places) {
		write_one_sided(v, c);
		return;
	}
	if (!row && !(c->sides[0].a.samples > 0) && !(c->sides[1].a.samples > 0)) {
		view_text(v, "Without samples (record --freq) the cost of lines is unknown; their "
			     "execution counts are known.");
		return;
	}
	if (!row) {
		view_text(v, "No significant change in the cost of any line or body; more samples "
			     "(record --freq, --repeat) would show smaller changes.");
		return;
	}
	view_text(v, "%s: ~%s%s%s per %s, between %s and %s (95 %%)%s.", row->where ?: row->of.path,
		  output_number(OUTPUT_DELTA, row->of.delta.value, clock),
		  ANNOTATE_UNIT(&c->sides[0].a), c->diff.is_of_call ? "call" : "run",
		  output_number(OUTPUT_DELTA, row->of.delta.low, clock),
		  output_number(OUTPUT_DELTA, row->of.delta.high, clock),
		  !(row->of.sides[0].n_insns > 0) ? "; the baseline has no code for it" :
		  !(row->of.sides[1].n_insns > 0) ? "; the hardened kernel has no code for it" :
						    "");
}

void view_annotate_diff_page(const struct view_annotate_diff *c, int top, bool all)
{
	const struct view_table *lines = &annotate_diff_lines, *bodies = &annotate_diff_bodies;
	bool counted = c->sides[0].a.counted || c->sides[1].a.counted;
	scoped(view_rows_deinit) struct view_rows changed_bodies, changed_lines, source;
	struct view v;

	view_init(&v, stdout, top);
	annotate_diff_rows_init(&changed_bodies, bodies, c, ANNOTATE_DIFF_CHANGED);
	annotate_diff_rows_init(&changed_lines, lines, c, ANNOTATE_DIFF_CHANGED);
	annotate_diff_rows_init(&source, lines, c, all ? ANNOTATE_DIFF_ALL : ANNOTATE_DIFF_SEEN);
	view_text(&v,
		  "%s in %s, by line and inlined body; costs are per %s, including callees. ~: "
		  "estimated from samples.%s",
		  c->func, c->context ? c->context : "all contexts",
		  c->diff.is_of_call ? "call" : "run",
		  counted ? " EXECUTED: counted instructions per call, excluding callees." : "");
	for (unsigned int i = 0; i < VIEW_N_SIDES; i++)
		write_side(&v, c, i);
	write_headline(&v, c, &changed_bodies, &changed_lines);
	annotate_table_write(&v, bodies->title, &changed_bodies, bodies->first);
	annotate_table_write(&v, lines->title, &changed_lines, lines->first);
	if (!top)
		v.top = -1;
	annotate_table_write(&v, "Lines by body and source", &source, 0);
}

static json_t *side_json(const struct annotated *f)
{
	const struct analyze_annotation *a = &f->a;
	json_t *side = json_object();

	output_json_set(side, "file", output_json_text(f->path));
	output_json_set(side, "kernel",
			output_json_text(profile_env_get(f->p, PROFILE_ENV_RELEASE)));
	output_json_set(side, "build_id",
			output_json_text(profile_env_get(f->p, PROFILE_ENV_BUILD_ID)));
	output_json_set(side, "vmlinux", output_json_text(kernel_image_path(f->image)));
	output_json_set(side, "source", output_json_text(kernel_source_dir(f->source)));
	output_json_set(side, "places", json_integer(a->n_places));
	output_json_set(side, "runs", json_integer(a->runs));
	output_json_set(side, "calls",
			a->n_places ? output_json_number(a->figures.calls) : json_null());
	output_json_set(side, "mean",
			a->n_places ? output_json_number(a->figures.mean) : json_null());
	output_json_set(side, "samples", output_json_number(a->samples));
	output_json_set(side, "unplaced", output_json_number(a->unplaced));
	return side;
}

static void json(json_t *root, const void *data)
{
	const struct view_annotate_diff *c = data;

	output_json_set(root, "unit", json_string(c->sides[0].a.unit));
	output_json_set(root, "function", output_json_text(c->sides[0].name));
	output_json_set(root, "within", output_json_text(c->sides[0].within));
	output_json_set(root, "context",
			output_json_text(c->context ? c->context : ANALYZE_ALL_CONTEXTS));
	output_json_set(root, "cost_of", json_string(c->diff.is_of_call ? "call" : "run"));
	for (unsigned int i = 0; i < VIEW_N_SIDES; i++)
		output_json_set(root, view_side_names[i], side_json(&c->sides[i]));
}

const struct view_list view_annotate_diff_list = {
	.tables = (const struct view_table *const[]){ &annotate_diff_bodies, &annotate_diff_lines },
	.n_tables = 2,
	.schema = "kprotperf-annotate-diff/1",
	.csv = "lines",
	.json = json,
};
