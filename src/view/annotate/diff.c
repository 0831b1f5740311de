// SPDX-License-Identifier: GPL-2.0-or-later
/* The page of `diff --annotate`, and its JSON members other than tables. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "base/sorted.h"
#include "output/json.h"
#include "view/annotate/rows.h"
#include "view/diff.h"

/* ---- `diff --annotate`: the lines and inlined functions of one function on two kernels ---- */

/* Minimum size of a shown change. Smaller changes would be printed as 0.0. */
#define SHOWN 0.05

static uint32_t line_number(double line)
{
	return isnan(line) ? 0 : (uint32_t)line;
}

/* Return the line's location, "mm/slub.c:1906" or, if it differs on the baseline, "mm/slub.c:1906, was 1890". */
static char *where_text(const struct analyze_annotate_diff_row *r)
{
	double was = r->sides[0].line, is = r->sides[1].line;

	if (!r->file)
		return alloc_strdup("?");
	if (!isnan(was) && !isnan(is) && was != is)
		return alloc_printf("%s:%.0f, was %.0f", r->file, is, was);
	return alloc_printf("%s:%u", r->file, line_number(isnan(is) ? was : is));
}

/* Return how many more instructions the hardened kernel executes per call at ROW; 0: not counted in both recordings. */
static double executed_more(const struct annotate_diff_row *row)
{
	double more = row->of.sides[1].per_call - row->of.sides[0].per_call;

	return isnan(more) ? 0 : more;
}

static bool is_worth_a_row(const struct annotate_diff_row *row)
{
	return row->of.sides[0].samples > 0 || row->of.sides[1].samples > 0 ||
	       fabs(executed_more(row)) >= SHOWN;
}

/* Return the size of the sampled change of ROW; -1: unknown. */
static double change_size(const struct annotate_diff_row *row)
{
	return isnan(row->of.delta.value) ? -1 : fabs(row->of.delta.value);
}

/* Sort by size of the sampled change, then by change in executed instructions, largest first. Unknown changes come last. */
define_compare(change_compare, struct annotate_diff_row,
	       compare_values(change_size(b), change_size(a)) ?:
		       compare_values(fabs(executed_more(b)), fabs(executed_more(a))));

#define SIDE_COLUMN(key, type, field, ...) \
	COLUMN(key, type, analyze_annotated_side, field, ##__VA_ARGS__)
#define DIFF_COLUMN(key, type, field, ...) \
	COLUMN(key, type, annotate_diff_row, field, ##__VA_ARGS__)

#define SIDE_COLUMNS(samples_, ...)                                                            \
	SIDE_COLUMN("cost", TIME, cost.value, .header = "", .rank = OUTPUT_IF_ANY,             \
		    .prefixed = true, .estimable = true),                                      \
		SIDE_COLUMN("cost_low", TIME, cost.low),                                       \
		SIDE_COLUMN("cost_high", TIME, cost.high),                                     \
		SIDE_COLUMN("share", FRACTION, share, .header = "SHARE", .rank = 3),           \
		SIDE_COLUMN("self", COUNT, hits.self),                                         \
		SIDE_COLUMN("callees", COUNT, hits.callees),                                   \
		SIDE_COLUMN("late", COUNT, hits.late),                                         \
		SIDE_COLUMN("instructions", COUNT, n_insns), SIDE_COLUMN("line", COUNT, line), \
		SIDE_COLUMN("samples", COUNT, samples, .header = samples_, .rank = 2),         \
		SIDE_COLUMN("per_call", COUNT, per_call, ##__VA_ARGS__)

/* Origin of a table's figures: samples, samples and counted executions, or an exact recording. */
enum source {
	SAMPLED,
	SAMPLED_COUNTED,
	EXACT,
	N_SOURCES
};

static const struct output_column sampled_columns[] = { SIDE_COLUMNS("SAMPLES") };
static const struct output_column counted_columns[] = { SIDE_COLUMNS("SAMPLES",
								     .header = "EXECUTED") };
static const struct output_column exact_columns[] = { SIDE_COLUMNS("INSTRUCTIONS",
								   .header = "EXECUTED") };

#define DELTA_COLUMNS                                                                         \
	DIFF_COLUMN("delta", DELTA, of.delta.value, .header = "DELTA", .rank = OUTPUT_IF_ANY, \
		    .estimable = true),                                                       \
		DIFF_COLUMN("delta_low", DELTA, of.delta.low, .header = "LOW", .rank = 4),    \
		DIFF_COLUMN("delta_high", DELTA, of.delta.high, .header = "HIGH", .rank = 4)

static const struct output_column body_columns[] = {
	DELTA_COLUMNS,
	DIFF_COLUMN("body", TEXT, of.path, .header = "IN", .elastic = true),
};

/* A narrow table drops the column IN, since FILE and LINE identify the inlined function. */
static const struct output_column line_columns[] = {
	DELTA_COLUMNS,
	DIFF_COLUMN("body", TEXT, of.path, .header = "IN", .rank = 1, .elastic = true),
	DIFF_COLUMN("file", TEXT, of.file),
	DIFF_COLUMN(NULL, TEXT, where, .header = "LINE", .elastic = true, .cut_front = true),
	DIFF_COLUMN("source", TEXT, source, .header = "SOURCE", .rank = OUTPUT_IF_ANY,
		    .elastic = true),
};

#define SIDES(columns, own)                                                                  \
	{ .key = "baseline", AT(annotate_diff_row, of.sides[0]), COLUMNS(columns) },         \
		{ .key = "hardened", AT(annotate_diff_row, of.sides[1]), COLUMNS(columns) }, \
	{                                                                                    \
		COLUMNS(own)                                                                 \
	}
static const struct output_group body_groups[N_SOURCES][3] = {
	{ SIDES(sampled_columns, body_columns) },
	{ SIDES(counted_columns, body_columns) },
	{ SIDES(exact_columns, body_columns) },
};
static const struct output_group line_groups[N_SOURCES][3] = {
	{ SIDES(sampled_columns, line_columns) },
	{ SIDES(counted_columns, line_columns) },
	{ SIDES(exact_columns, line_columns) },
};

/* Return whether all costs are exact counts, not estimates from samples. */
static bool is_exact(const struct view_annotate_diff *c)
{
	return profile_is_exact(c->sides[0].p) && profile_is_exact(c->sides[1].p);
}

static enum source source_of(const struct view_annotate_diff *c)
{
	if (is_exact(c))
		return EXACT;
	return c->sides[0].a.counted || c->sides[1].a.counted ? SAMPLED_COUNTED : SAMPLED;
}

static const char *mark_estimate(const void *row, const struct output_group *group)
{
	const struct annotate_diff_row *r = row;

	/* If a kernel lacks this code, its cost is exactly 0, so the value in this kernel's column has no mark. */
	if (group->key && !(r->of.sides[!strcmp(group->key, "hardened")].n_insns > 0))
		return NULL;
	return "~";
}

/* Set ROWS to the rows of FROM. Return them, all without WHERE and SOURCE. */
static struct annotate_diff_row *rows_set(struct view_rows *rows,
					  const struct view_annotate_diff *c,
					  const struct analyze_annotate_diff_rows *from,
					  const struct output_group groups[N_SOURCES][3])
{
	struct annotate_diff_row *items = view_rows_new(rows, from->n_rows, sizeof(*items));

	for (uint32_t i = 0; i < from->n_rows; i++)
		items[i].of = from->rows[i];
	rows->section.groups = groups[source_of(c)];
	if (source_of(c) == EXACT)
		rows->section.mark = NULL;
	return items;
}

/* Set ROWS to the rows of TABLE that ORDER selects for the page. Sort them as ORDER says. */
static void annotate_diff_rows_init(struct view_rows *rows, const struct view_table *table,
				    const struct view_annotate_diff *c,
				    enum annotate_diff_order order)
{
	struct annotate_diff_row *items;
	size_t n = 0;

	view_rows_init(rows, table, c, true);
	items = rows->owned;
	if (order == ANNOTATE_DIFF_ALL)
		return;
	for (size_t i = 0; i < rows->section.n_rows; i++)
		if (is_worth_a_row(&items[i]))
			items[n++] = items[i];
	rows->section.n_rows = n;
	if (order == ANNOTATE_DIFF_CHANGED)
		sort_array(items, n, sizeof(*items), change_compare);
}

static void bodies_rows(struct view_rows *rows, const void *data)
{
	const struct view_annotate_diff *c = data;

	rows_set(rows, c, &c->diff.bodies, body_groups);
}

static void lines_rows(struct view_rows *rows, const void *data)
{
	const struct view_annotate_diff *c = data;
	struct annotate_diff_row *items = rows_set(rows, c, &c->diff.lines, line_groups);

	for (uint32_t i = 0; i < c->diff.lines.n_rows; i++) {
		const struct analyze_annotate_diff_row *r = &items[i].of;
		unsigned int side = r->sides[1].n_insns > 0;
		struct analyze_line line = { .file = r->file,
					     .line = line_number(r->sides[side].line) };

		items[i].where = alloc_keep(&rows->texts, where_text(r));
		items[i].source =
			alloc_keep(&rows->texts, annotated_source(&c->sides[side], &line));
	}
}

const struct view_table annotate_diff_bodies = {
	.name = "bodies",
	.places = VIEW_IN_JSON | VIEW_IN_CSV,
	.first = 8,
	.title = "Inlined bodies, including bodies inlined into them, largest change first",
	.groups = body_groups[0],
	.n_groups = 3,
	.mark = mark_estimate,
	.rows = bodies_rows,
};

const struct view_table annotate_diff_lines = {
	.name = "lines",
	.places = VIEW_IN_JSON | VIEW_IN_CSV,
	.first = 12,
	.title = "Lines, largest change first",
	.groups = line_groups[0],
	.n_groups = 3,
	.mark = mark_estimate,
	.rows = lines_rows,
};

/* ---- the page of `diff --annotate` ---- */

/* Return "593 instructions executed per call, ", or "" if instructions were not counted; for free(). */
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
		timed = alloc_printf("%s %s timed, %s per call, ",
				     output_number(OUTPUT_COUNT, a->figures.calls, f->p->clock),
				     plural(a->figures.calls, "call", "calls"),
				     output_amount(OUTPUT_TIME, a->figures.mean, f->p->clock));
	if (a->n_places)
		view_text(v, "%s: %s, kernel %s: %s%s%s %s (%s in its own code%s)",
			  view_side_names[side], f->path, kernel, timed ?: "", executed,
			  output_number(OUTPUT_COUNT, a->samples, f->p->clock),
			  profile_is_exact(f->p) ? "instructions in all" :
						   plural(a->samples, "sample", "samples"),
			  output_number(OUTPUT_COUNT, a->hits.self, f->p->clock),
			  a->unplaced > 0 ? "; some fell due with interrupts off and belong to no "
					    "line" :
					    "");
	else
		view_text(v, "%s: %s, kernel %s: no function %s, inlined or not",
			  view_side_names[side], f->path, kernel, f->name);
}

static bool is_significant(const struct annotate_diff_row *row)
{
	return (row->of.delta.low > 0 || row->of.delta.high < 0) &&
	       fabs(row->of.delta.value) >= SHOWN;
}

/*
 * Return the inlined function with the largest significant change, or a source line that changed more. Of nested inlined
 * functions, prefer the inner one if it has above 95 % of the outer one's change.
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

/* Write the cost of a function that only one kernel has. */
static void write_one_sided(const struct view *v, const struct view_annotate_diff *c)
{
	unsigned int side = c->sides[1].a.n_places > 0;
	const struct analyze_annotation *a = &c->sides[side].a;
	double cost = (c->diff.is_of_call ? a->tick : a->tick_of_run) * a->samples;

	view_text(v,
		  "%s exists in the %s kernel only, so all of its cost is the change: %s%s per "
		  "%s.",
		  c->sides[side].name, view_side_names[side], c->diff.is_of_call ? "" : "~",
		  output_amount(OUTPUT_DELTA, side ? cost : -cost, a->clock),
		  c->diff.is_of_call ? "call" : "run");
}

static void write_headline(const struct view *v, const struct view_annotate_diff *c,
			   const struct view_rows *bodies, const struct view_rows *lines)
{
	const struct annotate_diff_row *row = find_change(bodies, lines);
	enum profile_clock clock = c->sides[0].a.clock;
	scoped_free char *interval = NULL;

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
	if (!row && is_exact(c)) {
		view_text(v, "No line or body costs more or less.");
		return;
	}
	if (!row) {
		view_text(v, "No significant change in the cost of any line or body; more samples "
			     "(record --freq, --repeat) would show smaller changes.");
		return;
	}
	if (!is_exact(c))
		interval = alloc_printf(", between %s and %s (95 %%)",
					output_number(OUTPUT_DELTA, row->of.delta.low, clock),
					output_number(OUTPUT_DELTA, row->of.delta.high, clock));
	view_text(v, "%s: %s%s per %s%s%s.", row->where ?: row->of.path, interval ? "~" : "",
		  output_amount(OUTPUT_DELTA, row->of.delta.value, clock),
		  c->diff.is_of_call ? "call" : "run", interval ?: "",
		  !(row->of.sides[0].n_insns > 0) ? "; the baseline has no code for it" :
		  !(row->of.sides[1].n_insns > 0) ? "; the hardened kernel has no code for it" :
						    "");
}

static void page(const struct view *v, const void *data)
{
	const struct view_table *lines = &annotate_diff_lines, *bodies = &annotate_diff_bodies;
	const struct view_annotate_diff *c = data;
	scoped(view_rows_deinit) struct view_rows changed_bodies, changed_lines, source;
	struct view all = *v;

	annotate_diff_rows_init(&changed_bodies, bodies, c, ANNOTATE_DIFF_CHANGED);
	annotate_diff_rows_init(&changed_lines, lines, c, ANNOTATE_DIFF_CHANGED);
	annotate_diff_rows_init(&source, lines, c,
				v->everything ? ANNOTATE_DIFF_ALL : ANNOTATE_DIFF_SEEN);
	view_text(v, "%s in %s, by line and inlined body; costs are per %s, including callees.%s%s",
		  c->func, c->context ? c->context : "all contexts",
		  c->diff.is_of_call ? "call" : "run",
		  is_exact(c) ? "" : " ~: estimated from samples.",
		  source_of(c) != SAMPLED ?
			  " EXECUTED: counted instructions per call, excluding callees." :
			  "");
	for (unsigned int i = 0; i < VIEW_N_SIDES; i++)
		write_side(v, c, i);
	write_headline(v, c, &changed_bodies, &changed_lines);
	annotate_table_write(v, bodies->title, &changed_bodies, bodies->first);
	annotate_table_write(v, lines->title, &changed_lines, lines->first);
	if (!v->top)
		all.top = -1;
	annotate_table_write(&all, "Lines by body and source", &source, 0);
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

	output_json_set(root, "unit", json_string(profile_clock_unit(c->sides[0].a.clock)));
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
	.page = page,
	.json = json,
};
