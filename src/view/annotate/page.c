// SPDX-License-Identifier: GPL-2.0-or-later
/* The page of `kprotperf annotate`: the inlined functions and lines with most of the time, then the code. */
#include <math.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "view/annotate/rows.h"

/* Below this number of samples, the page warns that there are few. */
#define FEW 100

static void write_executed(const struct view *v, const struct analyze_annotation *a)
{
	scoped_free char *unknown = NULL;

	if (a->n_unknown)
		unknown = alloc_printf("; the counts of %u of its instructions are unknown",
				       a->n_unknown);
	view_text(v,
		  "Executed: %s instructions per call, counted by block, excluding callees%s. "
		  "EXECUTED shows the count for each body, line and instruction.",
		  output_number(OUTPUT_COUNT, a->per_call, PROFILE_CLOCK_INSN), unknown ?: "");
}

static void write_title(const struct view *v, const struct annotated *f)
{
	const struct analyze_annotation *a = &f->a;
	scoped_free char *command = view_command(f->p);
	char unplaced[128] = "", late[80] = "";

	view_text(v, "%s%s%s%s in %s: kernel %s, %s", f->name, f->module ? " [" : "",
		  f->module ?: "", f->module ? "]" : "", a->context ?: "all contexts",
		  view_release(f->p), command);
	if (!isnan(a->figures.calls))
		view_text(v, "%s %s timed, %s on-CPU per call, including callees.",
			  output_number(OUTPUT_COUNT, a->figures.calls, a->clock),
			  plural(a->figures.calls, "call", "calls"),
			  output_amount(OUTPUT_TIME, a->figures.mean, a->clock));
	if (a->hits.late > 0)
		snprintf(late, sizeof(late), " (!: %.0f delayed while interrupts were off)",
			 a->hits.late);
	if (a->unplaced > 0)
		snprintf(unplaced, sizeof(unplaced),
			 ", %.0f at its return (fell due with interrupts off, place unknown)",
			 a->unplaced);
	if (a->counted)
		write_executed(v, a);
	if (!(a->samples > 0))
		view_text(v, "Samples: none (use record --freq): the cost of lines is unknown; "
			     "their execution counts are known.");
	else
		view_text(v,
			  "%s: %.0f, of %.0f in the kernel: %.0f in its own code%s, %.0f in "
			  "callees%s.",
			  profile_is_exact(f->p) ? "Instructions" : "Samples", a->samples,
			  a->kernel, a->hits.self, late, a->hits.callees, unplaced);
	if (a->samples > 0 && a->samples < FEW && !profile_is_exact(f->p)) {
		struct analyze_estimated half = analyze_binomial(a->samples / 2, a->samples);

		view_text(v,
			  "These are few: a share of 0.5 may be anything from %.2f to %.2f (95 %% "
			  "interval). Use record --freq or --repeat to get more.",
			  half.low, half.high);
	}
	if (a->astray > 0)
		view_text(v, "%.0f of them %s to no line.", a->astray,
			  plural(a->astray, "matches no instruction of this code and belongs",
				 "match no instruction of this code and belong"));
}

/*
 * Return the inlined function with most of the time, or an inner one with at least 95 % of that time. NULL: there are no inlined
 * functions.
 */
static const struct annotate_row *main_body(const struct view_rows *bodies)
{
	const struct annotate_row *rows = bodies->section.rows, *body = NULL;

	for (size_t i = 0; i < bodies->section.n_rows; i++)
		if (!body || rows[i].figures.share > body->figures.share * 0.95)
			body = &rows[i];
	return body;
}

static void write_main(const struct view *v, const struct annotated *f,
		       const struct annotate_row *what, bool is_body)
{
	const struct analyze_annotation *a = &f->a;
	bool is_exact = profile_is_exact(f->p);
	scoped_free char *of =
		isnan(a->figures.calls) ?
			alloc_strdup(is_exact ? "its instructions" : "its samples") :
			alloc_printf("the time of %s %s",
				     output_number(OUTPUT_COUNT, a->figures.calls, a->clock),
				     plural(a->figures.calls, "call", "calls"));
	const char *more = is_body ? what->lines : what->source;
	scoped_free char *text = alloc_strdup(is_body ? what->name : what->where);

	if (more)
		alloc_append(&text, is_body ? " (%s)" : ", \"%s\"", more);
	fputc('\n', v->out);
	view_text(v, "%s of %s in %s: %s%s per %s.", annotate_percent(what->figures.share), of,
		  text, is_exact ? "" : "~",
		  output_amount(OUTPUT_TIME, what->figures.cost, a->clock),
		  a->tick_is_of_call ? "call" : "run");
}

static void write_headline(const struct view *v, const struct annotated *f,
			   const struct view_rows *bodies, const struct view_rows *lines)
{
	const struct annotate_row *body = main_body(bodies);
	const struct annotate_row *line = lines->section.n_rows ? lines->section.rows : NULL;
	double unplaced = f->a.unplaced / f->a.samples;
	bool is_body = body && (!line || body->figures.share >= line->figures.share);

	if (!(f->a.samples > 0))
		return;
	if (f->a.unplaced > 0 && (!body || unplaced > body->figures.share)) {
		fputc('\n', v->out);
		view_text(v,
			  "%s of its samples fell due with interrupts off, at an unknown place: "
			  "time its callees with record --func to find out more.",
			  annotate_percent(unplaced));
	} else if (is_body || line) {
		write_main(v, f, is_body ? body : line, is_body);
	}
}

static void write_notes(const struct view *v, const struct annotated *f)
{
	fputc('\n', v->out);
	if (f->a.samples > 0 && !profile_is_exact(f->p))
		view_text(v, "A sample's address is that of the next instruction to execute; the "
			     "one before it may have taken the time. ~: estimated from samples.");
	if (f->a.n_places && annotated_is_live(f, f->a.places))
		view_text(v, "The code is read from the running kernel.");
	else
		view_text(v,
			  "The code is from %s, without the running kernel's patches "
			  "(alternatives, static keys, static calls, ftrace, return thunks).",
			  kernel_image_path(f->image));
	if (!kernel_source_dir(f->source))
		view_text(v, "No source tree found; use --source=DIR to show source lines.");
}

void annotate_page(const struct view *v, const void *data)
{
	const struct view_annotation *annotation = data;
	const struct annotated *f = annotation->f;
	scoped(view_rows_deinit) struct view_rows places, bodies, lines;

	write_title(v, f);
	view_rows_init(&places, &annotate_places, annotation, true);
	view_rows_init(&bodies, &annotate_bodies, annotation, true);
	view_rows_init(&lines, &annotate_lines, annotation, true);
	write_headline(v, f, &bodies, &lines);
	if (f->a.n_places > 1)
		annotate_table_write(v, annotate_places.title, &places, annotate_places.first);
	if (f->a.n_unreadable)
		view_text(v, "The code of %u of them cannot be read.", f->a.n_unreadable);
	if (f->a.n_other_places)
		view_text(v, "Not shown: %u %s without samples (use --all).", f->a.n_other_places,
			  plural(f->a.n_other_places, "place", "places"));
	annotate_table_write(v, annotate_bodies.title, &bodies, annotate_bodies.first);
	annotate_table_write(v, annotate_lines.title, &lines, annotate_lines.first);
	write_notes(v, f);
	annotate_code_write(v, annotation);
}
