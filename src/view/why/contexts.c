// SPDX-License-Identifier: GPL-2.0-or-later
/* why: all contexts, each with the largest of its causes. */
#include <math.h>

#include "view/page/columns.h"
#include "view/why.h"

struct line {
	const char *name, *cause, *protection;
	double calls[2], totals[2], delta, pct, noise, p, cause_delta;
	struct analyze_interval ci;
	bool told;
};

static const struct output_column columns[] = {
	COLUMN("name", TEXT, line, name, .header = "CONTEXT"),
	COLUMN("baseline_calls", COUNT, line, calls[0], .header = "CALLS/RUN", .rank = 2),
	COLUMN("hardened_calls", COUNT, line, calls[1], .header = "HARDENED", .rank = 2),
	COLUMN("baseline_total", TIME, line, totals[0], .header = "BASELINE/RUN", .rank = 1),
	COLUMN("hardened_total", TIME, line, totals[1]),
	COLUMN("delta_total", DELTA, line, delta, .header = "DELTA/RUN"),
	COLUMN("delta_pct", PERCENT, line, pct, .header = "%"),
	COLUMN("noise", TIME, line, noise, .header = "NOISE", .rank = OUTPUT_IF_ANY),
	COLUMN("delta_total_low", DELTA, line, ci.low),
	COLUMN("delta_total_high", DELTA, line, ci.high),
	COLUMN("by_chance", FRACTION, line, p),
	COLUMN("significant", FLAG, line, told),
	COLUMN("cause", TEXT, line, cause, .header = "MOST OF IT IN", .elastic = true),
	COLUMN("cause_delta_total", DELTA, line, cause_delta, .header = "DELTA/RUN"),
	COLUMN("protection", TEXT, line, protection, .header = "OF", .rank = OUTPUT_IF_ANY),
};

/* The protection that C's largest cause belongs to. */
static const char *owner_name(const struct why *w, const struct why_context *c)
{
	const struct catalogue_protection *owner =
		why_owner(&w->switched, &w->tree, &c->causes.parts[c->causes.items[0].first_part]);

	return owner ? owner->name : NULL;
}

static void rows(struct view_rows *rows, const void *data)
{
	const struct why *w = &((const struct view_why *)data)->why;
	struct line *lines = view_rows_new(rows, w->n_contexts, sizeof(*lines));
	uint32_t n = 0;

	vec_each(const struct why_context, c, w, contexts) {
		const struct why_cause *cause = c->causes.n_items ? &c->causes.items[0] : NULL;
		bool named = c->told && cause && why_is_named(c, 0);

		if (rows->for_people && !c->told)
			continue;
		lines[n++] = (struct line){
			.name = c->name,
			.calls = { c->calls[0], c->calls[1] },
			.totals = { c->total[0], c->total[1] },
			.delta = c->delta,
			.pct = c->total[0] > 0 ? 100 * c->delta / c->total[0] : NAN,
			.noise = why_significance_noise(&c->significance),
			.p = c->significance.p,
			.ci = c->significance.ci,
			.told = c->told == WHY_SURE || (c->told && !w->has_noise),
			.protection = named ? owner_name(w, c) : NULL,
			.cause = named ? cause->name : NULL,
			.cause_delta = named ? cause->delta : NAN,
		};
	}
	rows->section.n_rows = n;
}

const struct view_table why_contexts = {
	.name = "contexts",
	.first = 12,
	.title = "All contexts that changed",
	ONE_GROUP(columns),
	.weight = offsetof(struct line, delta),
	.rows = rows,
};
