// SPDX-License-Identifier: GPL-2.0-or-later
/* `report --why-varies`: the captured variables that explain the varying latency of a function. */
#include <math.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "output/json.h"
#include "output/number.h"
#include "view/page/columns.h"
#include "view/names.h"
#include "view/report.h"

struct line {
	struct varies_rank of;
	const char *name, *kind, *law;
};

struct part {
	struct varies_part of;
	const char *where, *condition, *variable, *law;
};

static const struct output_column columns[] = {
	COLUMN("name", TEXT, line, name, .header = "VARIABLE"),
	COLUMN("kind", TEXT, line, kind, .header = "KIND", .rank = 1),
	COLUMN("values", COUNT, line, of.n_values, .header = "VALUES", .rank = 2),
	COLUMN("explained", FRACTION, line, of.alone, .header = "EXPLAINED"),
	COLUMN("given_others", FRACTION, line, of.given_others, .header = "GIVEN OTHERS"),
	COLUMN("p", PROBABILITY, line, of.p, .header = "P"),
	COLUMN("significant", FLAG, line, of.is_selected),
	COLUMN("slope", TIME, line, of.law.slope),
	COLUMN("slope_interval", INTERVAL, line, of.law.slope_interval),
	COLUMN("constant", TIME, line, of.law.constant),
	COLUMN(NULL, TEXT, line, law, .header = "FIT", .rank = 3, .elastic = true),
};

static const struct output_column part_columns[] = {
	COLUMN("depth", COUNT, part, of.depth),
	COLUMN("condition", TEXT, part, condition),
	COLUMN(NULL, TEXT, part, where, .header = "WHERE", .elastic = true),
	COLUMN("calls", COUNT, part, of.calls, .header = "CALLS"),
	COLUMN("mean", TIME, part, of.mean, .header = "CPU MEAN"),
	COLUMN("explained", FRACTION, part, of.explained, .header = "EXPLAINED"),
	COLUMN("unexplained", FRACTION, part, of.unexplained, .header = "UNEXPLAINED"),
	COLUMN("variable", TEXT, part, variable),
	COLUMN("slope", TIME, part, of.law.slope),
	COLUMN("slope_interval", INTERVAL, part, of.law.slope_interval),
	COLUMN("constant", TIME, part, of.law.constant),
	COLUMN(NULL, TEXT, part, law, .header = "FIT", .rank = 1, .elastic = true),
};

/* Return TIME as text, with DIGITS significant digits if it is less than 1000 instructions. */
static char *number(double time, int digits, enum profile_clock clock)
{
	return clock == PROFILE_CLOCK_NS || fabs(time) >= 1000 ?
		       alloc_strdup(output_number(OUTPUT_TIME, time, clock)) :
		       alloc_printf("%.*g", digits, time);
}

/* Return time as a linear function, "20.2 +-0.1 instructions per unit of s->objects + 96"; for free(). NULL: it is not linear. */
static char *law_text(const struct varies_law *law, enum profile_clock clock)
{
	scoped_free char *slope = number(law->slope, 4, clock),
			 *half = number(law->slope_interval.high - law->slope, 2, clock),
			 *constant = number(fabs(law->constant), 4, clock);

	if (!law->variable)
		return NULL;
	return alloc_printf("%s +-%s%s per unit of %s %c %s", slope, half,
			    output_unit(clock, law->slope), law->variable->name,
			    law->constant < 0 ? '-' : '+', constant);
}

/* Return a condition on a variable such as "crng_init = 0", for free(). */
static char *condition_text(const struct varies_part *part, const struct profile *p)
{
	static const struct {
		const char *before, *between, *after;
	} forms[] = {
		[VARIES_AT_MOST] = { "", " <= ", "" },     [VARIES_AT_LEAST] = { "", " >= ", "" },
		[VARIES_EQUAL] = { "", " = ", "" },        [VARIES_NOT_EQUAL] = { "", " != ", "" },
		[VARIES_BIT] = { "", " & ", "" },          [VARIES_NO_BIT] = { "!(", " & ", ")" },
		[VARIES_UNKNOWN] = { "", " unknown", "" }, [VARIES_KNOWN] = { "", " known", "" },
	};
	const struct profile_variable *v = part->variable;
	char *text = NULL;

	if (part->op == VARIES_ALL)
		return alloc_strdup("all calls");
	alloc_append(&text, "%s%s%s", forms[part->op].before, v->name, forms[part->op].between);
	if (part->op < VARIES_UNKNOWN)
		view_append_value(&text, p, v, part->value, !v->is_signed && part->value >> 32);
	alloc_append(&text, "%s", forms[part->op].after);
	return text;
}

/* PART is a set of calls. Return their time as a linear function of a variable or, without one, as the mean; for free(). */
static char *part_text(const struct varies_part *part, enum profile_clock clock)
{
	return law_text(&part->law, clock) ?:
		       alloc_strdup(output_amount(OUTPUT_TIME, part->mean, clock));
}

/* Append each part of the calls, slower parts first: "crng_init = 0: 11,077; otherwise s->objects >= 16: 1,204; else 610". */
static void append_parts(char **text, const struct varies *v, const struct profile *p)
{
	const struct varies_part *part = v->parts, *end = v->parts + v->n_parts;
	const char *before = "";

	while (part < end) {
		const struct varies_part *first = part + 1, *other = first + 1;
		char *figure = part_text(part, p->clock), *condition;

		if (!part->is_split) {
			alloc_append(text, "%s%s", *before ? "else " : "", figure);
			free(figure);
			return;
		}
		free(figure);
		while (other->depth != first->depth)
			other++;
		condition = condition_text(first, p);
		figure = part_text(first, p->clock);
		alloc_append(text, "%s%s: %s%s; ", before, condition, figure,
			     first->is_split ? " on average" : "");
		free(condition);
		free(figure);
		part = other;
		before = "otherwise ";
	}
}

/* Append ", as do a, b and c": the variables that, each alone, explain nearly as much as the first selected variable. */
static void append_same(char **text, const struct varies *v)
{
	scoped_free const char **names = alloc_array(v->n_ranks, sizeof(*names));
	size_t n = 0;

	for (uint32_t i = v->n_selected; i < v->n_ranks; i++)
		if (v->ranks[i].alone >= (1 - LITTLE) * v->ranks[0].alone)
			names[n++] = v->ranks[i].variable->name;
	alloc_append(text, "%s", n ? plural((double)n, ", as does ", ", as do ") : "");
	view_append_list(text, names, n);
}

/* Return a sentence that names the variables which explain the latency, each with its share of the variance. */
static char *sentence(const struct varies *v, const struct profile *profile)
{
	const enum profile_clock clock = profile->clock;
	const char *calls = output_number(OUTPUT_COUNT, v->calls, clock), *p;
	char *text;

	if (isnan(v->explained))
		return alloc_printf(
			"Nothing to explain in %s captured %s of %s: too few, or all took the same "
			"time.",
			calls, plural(v->calls, "call", "calls"), v->function);
	if (!v->n_selected)
		return alloc_printf(
			"No captured variable explains the latency of %s: none of %u explains %.1f "
			"%% of the variance of %s calls with p below %.2f.",
			v->function, v->n_ranks, 100 * NEGLIGIBLE, calls, ONE_PERCENT);
	p = output_number(OUTPUT_PROBABILITY, v->ranks[0].p, clock);
	text = alloc_printf("%s explains %.1f %% of the variance of %s's latency",
			    v->ranks[0].variable->name, 100 * v->ranks[0].alone, v->function);
	append_same(&text, v);
	for (uint32_t i = 1; i < v->n_selected; i++)
		if (v->ranks[i].given_others >= HALF_A_PERCENT)
			alloc_append(&text, ", and %s another %.1f %%", v->ranks[i].variable->name,
				     100 * v->ranks[i].given_others);
	alloc_append(&text, " (%s calls, cross-validated; p %s%s): ", calls, *p == '<' ? "" : "= ",
		     p);
	append_parts(&text, v, profile);
	alloc_append(&text, ".");
	return text;
}

static const struct varies *varies_of(const void *data)
{
	return &((const struct view_report *)data)->varies;
}

static bool make_line(struct view_rows *rows, void *line, const void *data)
{
	struct line *l = line;

	(void)data;
	l->name = l->of.variable->name;
	l->kind = profile_variable_kind_name(l->of.variable->kind);
	l->law = alloc_keep(&rows->texts, law_text(&l->of.law, rows->section.clock));
	return true;
}

static void part_rows(struct view_rows *rows, const void *data)
{
	const struct varies *v = varies_of(data);
	const struct profile *p = ((const struct view_data *)data)->p[0];
	struct part *parts = view_rows_new(rows, v->n_parts, sizeof(*parts));

	for (uint32_t i = 0; i < v->n_parts; i++) {
		const struct varies_part *of = &v->parts[i];
		struct part *part = &parts[i];
		bool is_first = i && v->parts[i - 1].depth < of->depth;

		part->of = *of;
		part->variable = of->law.variable ? of->law.variable->name : NULL;
		part->condition = alloc_keep(&rows->texts, condition_text(of, p));
		part->where = alloc_keep(
			&rows->texts, alloc_printf("%*s%s", 2 * (int)of->depth, "",
						   !i || is_first ? part->condition : "otherwise"));
		part->law = alloc_keep(&rows->texts, law_text(&of->law, rows->section.clock));
	}
	if (rows->for_people && !v->n_selected)
		rows->section.n_rows = 0;
}

static void after(const struct view *view, const void *data)
{
	const struct varies *v = varies_of(data);

	if (!isnan(v->explained))
		view_text(view,
			  "Unexplained: %.1f %% of the variance; %.1f %% is among calls whose "
			  "values are all equal, which no captured variable can explain.",
			  100 * (1 - v->explained), 100 * v->equal);
	if (v->lost > 0)
		view_text(view,
			  "%s %s not fit into the table of values; a sample of %s represents all "
			  "that did not.",
			  output_number(OUTPUT_COUNT, v->lost, PROFILE_CLOCK_INSN),
			  plural(v->lost, "call did", "calls did"),
			  output_number(OUTPUT_COUNT, v->sampled, PROFILE_CLOCK_INSN));
}

static void page(const struct view *view, const void *data)
{
	const struct view_report *r = data;
	scoped_free char *text = NULL;

	if (!r->varies.function)
		return;
	text = sentence(&r->varies, r->common.p[0]);
	view_text(view, "%s", text);
}

static json_t *json(const void *data)
{
	const struct view_report *r = data;
	const struct varies *v = &r->varies;
	json_t *object = json_object();
	scoped_free char *text = NULL;

	if (!v->function)
		return object;
	text = sentence(v, r->common.p[0]);
	output_json_set(object, "text", output_json_text(text));
	output_json_set(object, "function", output_json_text(v->function));
	output_json_set(object, "calls", output_json_number(v->calls));
	output_json_set(object, "mean", output_json_number(v->mean));
	output_json_set(object, "deviation", output_json_number(v->deviation));
	output_json_set(object, "explained", output_json_number(v->explained));
	output_json_set(object, "between_equal", output_json_number(v->equal));
	output_json_set(object, "permutations", output_json_number(VARIES_PERMUTATIONS));
	output_json_set(object, "lost", output_json_number(v->lost));
	output_json_set(object, "sampled", output_json_number(v->sampled));
	return object;
}

const struct view_table report_variation = {
	.name = "variation",
	.places = VIEW_IN_PAGE | VIEW_IN_JSON,
	.page = page,
	.json = json,
};

const struct view_table report_variable_tree = {
	.name = "variable_tree",
	.title = "Conditions, slower side first; EXPLAINED and UNEXPLAINED are shares of the "
		 "variance",
	ONE_GROUP(part_columns),
	.rows = part_rows,
};

const struct view_table report_variables = {
	.name = "variables",
	.title = "Captured variables, by the share of the variance that each explains alone",
	.legend =
		"GIVEN OTHERS: explained variance lost if the variable is left out. P: probability that "
		"chance explains as much of the variance that the selected variables leave unexplained",
	ONE_GROUP(columns),
	VIEW_LIST(view_report, varies.ranks, varies.n_ranks),
	VIEW_LINES(line, make_line),
	.after = after,
};
