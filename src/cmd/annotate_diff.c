// SPDX-License-Identifier: GPL-2.0-or-later
/* diff --annotate: one function on two kernels. */
#include "analyze/annotate_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/annotate.h"
#include "cmd/cmd.h"
#include "output/csv.h"
#include "output/json.h"
#include "output/text.h"

#define SCHEMA "kprotperf-annotate-diff/1"

#define TOP_BODIES 8
#define TOP_LINES  12

#define N_SIDES 2

static const char *const side_names[N_SIDES] = { "baseline", "hardened" };

struct side {
	double cost, low, high, share, samples, self, below, late, n_insns, line, per_call;
};

struct row {
	const char *path, *file;
	char *where, *source;
	struct side sides[N_SIDES];
	struct analyze_estimated delta;
};

struct rows {
	struct row *items;
	uint32_t n_items, cap_items;
};

struct comparison {
	const struct annotate_diff_options *o;
	struct annotated sides[N_SIDES];
	struct analyze_annotate_diff diff;
	struct rows bodies, lines;
};

/* --- rows ----------------------------------------------------------------------------------- */

static const char *line_text(unsigned int side, const char *file, uint32_t line, void *arg)
{
	const struct comparison *c = arg;
	const char *text = symbol_source_line(c->sides[side].source, file, line);

	return text ? text + strspn(text, " \t") : NULL;
}

static struct side side_of(const struct analyze_annotated_side *s)
{
	if (!(s->n_insns > 0))
		return (struct side){ .cost = 0,
				      .low = 0,
				      .high = 0,
				      .share = NAN,
				      .samples = NAN,
				      .self = NAN,
				      .below = NAN,
				      .late = NAN,
				      .n_insns = 0,
				      .line = NAN,
				      .per_call = 0 };
	return (struct side){ .cost = s->cost.value,
			      .low = s->cost.low,
			      .high = s->cost.high,
			      .share = s->share,
			      .samples = analyze_hits_all(&s->hits),
			      .self = s->hits.self,
			      .below = s->hits.below,
			      .late = s->hits.late,
			      .n_insns = s->n_insns,
			      .line = s->line ? s->line : NAN,
			      .per_call = s->per_call };
}

/* "mm/slub.c:1906", "mm/slub.c:1906, was 1890": of the hardened side where it is there. */
static char *where_text(const struct analyze_annotate_diff_row *r)
{
	uint32_t was = r->sides[0].line, is = r->sides[1].line;

	if (!r->file)
		return alloc_strdup("?");
	if (was && is && was != is)
		return alloc_printf("%s:%u, was %u", r->file, is, was);
	return alloc_printf("%s:%u", r->file, is ? is : was);
}

static void rows_form(struct comparison *c, struct rows *rows,
		      const struct analyze_annotate_diff_rows *from, bool are_lines)
{
	for (uint32_t i = 0; i < from->n_rows; i++) {
		const struct analyze_annotate_diff_row *r = &from->rows[i];
		unsigned int side = r->sides[1].n_insns > 0;
		struct analyze_line line = { .file = r->file, .line = r->sides[side].line };
		struct row row = { .path = r->path, .file = r->file, .delta = r->delta };

		row.sides[0] = side_of(&r->sides[0]);
		row.sides[1] = side_of(&r->sides[1]);
		if (are_lines) {
			row.where = where_text(r);
			row.source = annotated_source(&c->sides[side], &line);
		}
		vec_push(rows, items, row);
	}
}

static void rows_deinit(struct rows *rows)
{
	for (uint32_t i = 0; i < rows->n_items; i++) {
		free(rows->items[i].where);
		free(rows->items[i].source);
	}
	free(rows->items);
}

/* How many instructions more a call executes; 0 where that was not counted on both sides. */
static double executed_more(const struct row *row)
{
	double more = row->sides[1].per_call - row->sides[0].per_call;

	return isnan(more) ? 0 : more;
}

static bool is_worth_a_row(const struct row *row)
{
	return row->sides[0].samples > 0 || row->sides[1].samples > 0 ||
	       fabs(executed_more(row)) >= 0.05;
}

/* Largest change first, by samples, then by counting; what is not known last. */
static int change_compare(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	double da = isnan(a->delta.value) ? -1 : fabs(a->delta.value);
	double db = isnan(b->delta.value) ? -1 : fabs(b->delta.value);

	if (da == db) {
		da = fabs(executed_more(a));
		db = fabs(executed_more(b));
	}
	return da < db ? 1 : da > db ? -1 : 0;
}

/* The rows with samples or another count of FROM, which keeps their strings. */
static struct rows rows_ranked(const struct rows *from, bool by_change)
{
	struct rows rows = { 0 };

	for (uint32_t i = 0; i < from->n_items; i++)
		if (is_worth_a_row(&from->items[i]))
			vec_push(&rows, items, from->items[i]);
	if (by_change && rows.n_items)
		qsort(rows.items, rows.n_items, sizeof(*rows.items), change_compare);
	return rows;
}

/* --- columns -------------------------------------------------------------------------------- */

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define SIDE(key, field, header, type, rank)                          \
	{                                                             \
		key, header, type, rank, offsetof(struct side, field) \
	}
#define ROW(key, field, header, type, rank)                          \
	{                                                            \
		key, header, type, rank, offsetof(struct row, field) \
	}

/* FRONT: its end tells most. */
#define ELASTIC(key, field, header, rank, front)                                                 \
	{                                                                                        \
		key, header, OUTPUT_TEXT, rank, offsetof(struct row, field), false, false, true, \
			front                                                                    \
	}

/* RANK: that of executions, for tables where they were counted. */
#define SIDE_COLUMNS(rank)                                                                   \
	{ "cost", "", OUTPUT_TIME, OUTPUT_IF_ANY, offsetof(struct side, cost), true, true }, \
		SIDE("cost_low", low, "", OUTPUT_TIME, OUTPUT_DATA_ONLY),                    \
		SIDE("cost_high", high, "", OUTPUT_TIME, OUTPUT_DATA_ONLY),                  \
		SIDE("share", share, "SHARE", OUTPUT_FRACTION, 3),                           \
		SIDE("self", self, "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),                      \
		SIDE("below", below, "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),                    \
		SIDE("late", late, "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),                      \
		SIDE("instructions", n_insns, "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),           \
		SIDE("line", line, "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),                      \
		SIDE("samples", samples, "SAMPLES", OUTPUT_COUNT, 2),                        \
		SIDE("per_call", per_call, "EXECUTED", OUTPUT_COUNT, rank)

static const struct output_column side_columns[] = { SIDE_COLUMNS(OUTPUT_DATA_ONLY) };
static const struct output_column counted_columns[] = { SIDE_COLUMNS(OUTPUT_ALWAYS) };

#define DELTA_COLUMNS                                                                       \
	{ "delta", "DELTA", OUTPUT_DELTA, OUTPUT_IF_ANY, offsetof(struct row, delta.value), \
	  false,   true },                                                                  \
		ROW("delta_low", delta.low, "LOW", OUTPUT_DELTA, 4),                        \
		ROW("delta_high", delta.high, "HIGH", OUTPUT_DELTA, 4)

static const struct output_column body_columns[] = {
	DELTA_COLUMNS,
	ELASTIC("body", path, "IN", OUTPUT_ALWAYS, false),
};

/* In a narrow table the place is enough: the source says which body it is of. */
static const struct output_column line_columns[] = {
	DELTA_COLUMNS,
	ELASTIC("body", path, "IN", 1, false),
	ROW("file", file, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
	ELASTIC("", where, "LINE", OUTPUT_TABLE_ONLY, true),
	ELASTIC("source", source, "SOURCE", OUTPUT_IF_ANY, false),
};

static const char *mark_estimate(const void *row, const struct output_group *group)
{
	const struct row *r = row;

	/* That what is not there costs nothing is no estimate. */
	if (group->key && !(r->sides[!strcmp(group->key, "hardened")].n_insns > 0))
		return NULL;
	return "~";
}

#define SIDES(columns)                                                          \
	{ "baseline", offsetof(struct row, sides[0]), columns, N(columns) },    \
	{                                                                       \
		"hardened", offsetof(struct row, sides[1]), columns, N(columns) \
	}
#define LINE                                           \
	{                                              \
		NULL, 0, line_columns, N(line_columns) \
	}
#define BODY                                           \
	{                                              \
		NULL, 0, body_columns, N(body_columns) \
	}

static struct output_section section_of(const struct comparison *c, const struct rows *rows,
					bool are_lines)
{
	static const struct output_group lines[2][3] = { { SIDES(side_columns), LINE },
							 { SIDES(counted_columns), LINE } };
	static const struct output_group bodies[2][3] = { { SIDES(side_columns), BODY },
							  { SIDES(counted_columns), BODY } };
	bool counted = c->sides[0].a.counted || c->sides[1].a.counted;
	enum profile_clock clock = c->sides[0].p->clock;

	return (struct output_section){
		.groups = are_lines ? lines[counted] : bodies[counted],
		.n_groups = N(lines[0]),
		.rows = rows->items,
		.n_rows = rows->n_items,
		.row_size = sizeof(struct row),
		.clock = clock,
		.prefix = annotate_cost_header(clock, c->diff.is_of_call),
		.mark = mark_estimate,
	};
}

/* --- the page ------------------------------------------------------------------------------- */

/* "593 instructions executed a call, "; "" where they were not counted. For free(). */
static char *executed_text(const struct analyze_annotation *a)
{
	char number[OUTPUT_NUMBER_MAX];

	if (!a->counted)
		return alloc_strdup("");
	return alloc_printf("%s instructions executed a call%s, ",
			    output_number(number, OUTPUT_COUNT, a->per_call, PROFILE_CLOCK_INSN),
			    a->n_unknown ? " and some that are not known" : "");
}

static void write_side(const struct view *v, const struct comparison *c, unsigned int side)
{
	const struct annotated *f = &c->sides[side];
	const struct analyze_annotation *a = &f->a;
	const char *release = profile_env_get(f->p, PROFILE_ENV_RELEASE);
	char *kernel = output_text_escape(release ? release : "of unknown release");
	char *file = output_text_escape(f->path), *name = output_text_escape(f->name);
	char calls[OUTPUT_NUMBER_MAX], mean[OUTPUT_NUMBER_MAX], *timed = alloc_strdup("");
	char *executed = executed_text(a);

	if (!isnan(a->figures.calls)) {
		free(timed);
		timed = alloc_printf(
			"%s calls timed, %s%s each, ",
			output_number(calls, OUTPUT_COUNT, a->figures.calls, f->p->clock),
			output_number(mean, OUTPUT_TIME, a->figures.mean, f->p->clock),
			f->p->clock == PROFILE_CLOCK_INSN ? " insn" : "");
	}
	if (a->n_places)
		view_text(v, "%s: %s, kernel %s: %s%s%.0f samples (%.0f in its own code%s)",
			  side_names[side], file, kernel, timed, executed, a->samples, a->hits.self,
			  a->unplaced > 0 ? ", some of interrupts off, in no line" : "");
	else
		view_text(v, "%s: %s, kernel %s: there is no %s, inlined or not", side_names[side],
			  file, kernel, name);
	free(executed);
	free(timed);
	free(name);
	free(file);
	free(kernel);
}

static bool is_sure(const struct row *row)
{
	return row->delta.low > 0 || row->delta.high < 0;
}

/*
 * The body or line that surely changed most: a line where it did more than any body, and of bodies in one another
 * the innermost that has all of it.
 */
static const struct row *find_change(const struct rows *bodies, const struct rows *lines)
{
	const struct row *found = NULL;

	for (uint32_t i = 0; i < bodies->n_items; i++) {
		const struct row *row = &bodies->items[i];

		if (is_sure(row) && (!found || (row->delta.value / found->delta.value > 0.95 &&
						strlen(row->path) > strlen(found->path))))
			found = row;
	}
	for (uint32_t i = 0; i < lines->n_items; i++) {
		const struct row *row = &lines->items[i];

		if (is_sure(row) && (!found || fabs(row->delta.value) > fabs(found->delta.value)))
			found = row;
	}
	return found;
}

/* Of a function that one kernel has not all is the difference. */
static void write_one_sided(const struct view *v, const struct comparison *c)
{
	unsigned int side = c->sides[1].a.n_places > 0;
	const struct analyze_annotation *a = &c->sides[side].a;
	double cost = (c->diff.is_of_call ? a->tick : a->tick_of_run) * a->samples;
	char *name = output_text_escape(c->sides[side].name), text[OUTPUT_NUMBER_MAX];

	view_text(
		v, "%s is in the %s kernel alone, so that all it takes is the change: %s%s%s a %s.",
		name, side_names[side], c->diff.is_of_call ? "" : "~",
		output_number(text, OUTPUT_DELTA, side ? cost : -cost, a->clock),
		a->clock == PROFILE_CLOCK_INSN ? " insn" : "", c->diff.is_of_call ? "call" : "run");
	free(name);
}

static void write_headline(const struct view *v, const struct comparison *c,
			   const struct rows *bodies, const struct rows *lines)
{
	const struct row *row = find_change(bodies, lines);
	enum profile_clock clock = c->sides[0].p->clock;
	char delta[OUTPUT_NUMBER_MAX], low[OUTPUT_NUMBER_MAX], high[OUTPUT_NUMBER_MAX];
	char *what;

	fputc('\n', v->out);
	if (!c->sides[0].a.n_places || !c->sides[1].a.n_places) {
		write_one_sided(v, c);
		return;
	}
	if (!row && !(c->sides[0].a.samples > 0) && !(c->sides[1].a.samples > 0)) {
		view_text(v,
			  "What lines cost is not known without samples (record --freq); how often "
			  "they are executed is.");
		return;
	}
	if (!row) {
		view_text(v,
			  "No line or body of it surely costs more or less: more samples (record "
			  "--freq, --repeat) tell smaller changes.");
		return;
	}
	what = output_text_escape(row->where ? row->where : row->path);
	view_text(v, "%s: ~%s%s a %s, between %s and %s (95 %%)%s.", what,
		  output_number(delta, OUTPUT_DELTA, row->delta.value, clock),
		  clock == PROFILE_CLOCK_INSN ? " insn" : "", c->diff.is_of_call ? "call" : "run",
		  output_number(low, OUTPUT_DELTA, row->delta.low, clock),
		  output_number(high, OUTPUT_DELTA, row->delta.high, clock),
		  !(row->sides[0].n_insns > 0) ? "; the baseline has no code of it" :
		  !(row->sides[1].n_insns > 0) ? "; the hardened kernel has no code of it" :
						 "");
	free(what);
}

static void write_rows(const struct view *v, const struct comparison *c, const struct rows *rows,
		       bool are_lines, unsigned int top, const char *title)
{
	struct output_section section = section_of(c, rows, are_lines);

	if (!rows->n_items)
		return;
	fputc('\n', v->out);
	view_text(v, "%s", title);
	view_section(v, &section, top);
}

static void write_page(struct comparison *c)
{
	struct rows bodies, lines, all;
	bool counted = c->sides[0].a.counted || c->sides[1].a.counted;
	struct view v;

	view_init(&v, stdout, c->o->view);
	bodies = rows_ranked(&c->bodies, true);
	lines = rows_ranked(&c->lines, true);
	all = rows_ranked(&c->lines, false);
	output_pager_start();
	view_text(&v,
		  "%s in %s, by lines and inlined bodies; costs are a %s, with what is called. ~: "
		  "estimated from samples.%s",
		  c->o->func, c->o->annotated->context ? c->o->annotated->context : "all contexts",
		  c->diff.is_of_call ? "call" : "run",
		  counted ? " EXECUTED: instructions a call, by counting, without what is called." :
			    "");
	for (unsigned int i = 0; i < N_SIDES; i++)
		write_side(&v, c, i);
	write_headline(&v, c, &bodies, &lines);
	write_rows(&v, c, &bodies, false, TOP_BODIES,
		   "Inlined bodies, with what is inlined into them, largest change first:");
	write_rows(&v, c, &lines, true, TOP_LINES, "Lines, largest change first:");
	if (!c->o->view->top)
		v.top = -1;
	write_rows(&v, c, c->o->annotated->all ? &c->lines : &all, true, 0,
		   "Lines by body and source:");
	free(bodies.items);
	free(lines.items);
	free(all.items);
}

/* --- json, csv ------------------------------------------------------------------------------- */

static json_t *side_json(const struct annotated *f)
{
	const struct analyze_annotation *a = &f->a;
	json_t *side = json_object();

	output_json_set(side, "file", output_json_text(f->path));
	output_json_set(side, "kernel",
			output_json_text(profile_env_get(f->p, PROFILE_ENV_RELEASE)));
	output_json_set(side, "build_id",
			output_json_text(profile_env_get(f->p, PROFILE_ENV_BUILD_ID)));
	output_json_set(side, "vmlinux", output_json_text(symbol_image_path(f->image)));
	output_json_set(side, "source", output_json_text(symbol_source_dir(f->source)));
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

static void write_json(const struct comparison *c)
{
	struct output_section bodies = section_of(c, &c->bodies, false);
	struct output_section lines = section_of(c, &c->lines, true);
	const char *context = c->o->annotated->context;
	json_t *root = json_object();

	output_json_set(root, "schema", json_string(SCHEMA));
	output_json_set(root, "unit", json_string(profile_clock_unit(c->sides[0].p->clock)));
	output_json_set(root, "function", output_json_text(c->sides[0].name));
	output_json_set(root, "within", output_json_text(c->sides[0].within));
	output_json_set(root, "context", output_json_text(context ? context : "*"));
	output_json_set(root, "cost_of", json_string(c->diff.is_of_call ? "call" : "run"));
	for (unsigned int i = 0; i < N_SIDES; i++)
		output_json_set(root, side_names[i], side_json(&c->sides[i]));
	output_json_set(root, "bodies", output_json_rows(&bodies));
	output_json_set(root, "lines", output_json_rows(&lines));
	output_json_write(stdout, root);
}

static void write_csv(const struct comparison *c)
{
	struct output_section lines = section_of(c, &c->lines, true);

	output_csv_write(stdout, &lines);
}

/* --------------------------------------------------------------------------------------------- */

static int open_sides(struct comparison *c)
{
	static const char *const options[] = { "--baseline-vmlinux", "--hardened-vmlinux" };
	struct annotated_options o = *c->o->annotated;
	const struct annotated *a = c->sides, *b = c->sides + 1;

	for (unsigned int i = 0; i < N_SIDES; i++) {
		o.vmlinux_option = options[i];
		if (annotated_open(&c->sides[i], c->o->files[i], c->o->func, c->o->vmlinux[i], &o))
			return CMD_FAILED;
	}
	if (a->p->clock != b->p->clock) {
		log_error("%s is in %s and %s in %s: they cannot be compared", a->path,
			  profile_clock_unit(a->p->clock), b->path,
			  profile_clock_unit(b->p->clock));
		return CMD_FAILED;
	}
	/* One side is enough: what one kernel has and the other has not is a finding. */
	if (!a->a.n_places && !b->a.n_places)
		return annotated_check(b, &o);
	if (!(a->a.samples > 0) && !(b->a.samples > 0) && !a->a.counted && !b->a.counted)
		return annotated_check(b->a.n_places ? b : a, &o);
	return CMD_DONE;
}

int annotate_diff(const struct annotate_diff_options *o)
{
	struct comparison c = { .o = o };
	int status = open_sides(&c);

	if (!status) {
		analyze_annotate_diff_init(&c.diff, &c.sides[0].a, &c.sides[1].a, line_text, &c);
		rows_form(&c, &c.bodies, &c.diff.bodies, false);
		rows_form(&c, &c.lines, &c.diff.lines, true);
		if (o->view->format == VIEW_JSON)
			write_json(&c);
		else if (o->view->format == VIEW_CSV)
			write_csv(&c);
		else
			write_page(&c);
		status = view_finish();
		output_pager_finish();
	}
	analyze_annotate_diff_deinit(&c.diff);
	rows_deinit(&c.bodies);
	rows_deinit(&c.lines);
	annotated_close(&c.sides[0]);
	annotated_close(&c.sides[1]);
	return status;
}
