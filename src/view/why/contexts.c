// SPDX-License-Identifier: GPL-2.0-or-later
/* `kprotperf why`: the table of contexts, each with the largest cause of its change. */
#include <math.h>

#include "view/page/columns.h"
#include "view/why.h"

struct line {
	struct why_context of;
	const char *cause, *protection;
	double pct, noise, cause_delta;
	bool significant;
};

static const struct output_column columns[] = {
	COLUMN("name", TEXT, line, of.name, .header = "CONTEXT"),
	COLUMN("baseline_calls", COUNT, line, of.calls[0], .header = "BASELINE CALLS", .rank = 2),
	COLUMN("hardened_calls", COUNT, line, of.calls[1], .header = "HARDENED CALLS", .rank = 2),
	COLUMN("baseline_total", TIME, line, of.total[0], .header = "BASELINE/RUN", .rank = 1),
	COLUMN("hardened_total", TIME, line, of.total[1]),
	COLUMN("delta_total", DELTA, line, of.delta, .header = "DELTA/RUN"),
	COLUMN("delta_pct", PERCENT, line, pct, .header = "%"),
	COLUMN("noise", TIME, line, noise, .header = "NOISE", .rank = OUTPUT_IF_ANY),
	COLUMN("delta_total_low", DELTA, line, of.significance.ci.low),
	COLUMN("delta_total_high", DELTA, line, of.significance.ci.high),
	COLUMN("by_chance", FRACTION, line, of.significance.p),
	COLUMN("significant", FLAG, line, significant),
	COLUMN("cause", TEXT, line, cause, .header = "MAIN CAUSE", .elastic = true),
	COLUMN("cause_delta_total", DELTA, line, cause_delta, .header = "CAUSE DELTA"),
	COLUMN("protection", TEXT, line, protection, .header = "PROTECTION", .rank = OUTPUT_IF_ANY),
};

/* Return the protection to which the code of C's largest cause belongs; NULL: none. */
static const char *owner_name(const struct why *w, const struct why_context *c)
{
	const struct catalogue_protection *owner =
		why_owner(&w->switched, &w->pair, &c->causes.parts[c->causes.items[0].first_part]);

	return owner ? owner->name : NULL;
}

static bool make_line(struct view_rows *rows, void *line, const void *data)
{
	const struct why *w = &((const struct view_why *)data)->why;
	struct line *l = line;
	const struct why_context *c = &l->of;
	bool named = c->sureness && c->causes.n_items && why_is_named(c, 0);

	l->pct = analyze_percent(c->delta, c->total[0]);
	l->noise = why_significance_noise(&c->significance);
	l->significant = c->sureness == WHY_SURE || (c->sureness && !w->tree.has_noise);
	l->protection = named ? owner_name(w, c) : NULL;
	l->cause = named ? c->causes.items[0].name : NULL;
	l->cause_delta = named ? c->causes.items[0].delta : NAN;
	return c->sureness || !rows->for_people;
}

const struct view_table why_contexts = {
	.name = "contexts",
	.is_answer = true,
	.first = 12,
	.title = "All contexts that changed",
	ONE_GROUP(columns),
	.weight = offsetof(struct line, of.delta),
	VIEW_LIST(view_why, why.contexts, why.n_contexts),
	VIEW_LINES(line, make_line),
};
