// SPDX-License-Identifier: GPL-2.0-or-later
/* `kprotperf why`: the table of the causes of a context's change. */
#include <math.h>

#include "base/alloc.h"

#include "view/page/columns.h"
#include "view/why.h"

struct line {
	const char *name, *function, *how, *what, *protection, *contexts;
	double delta, share, total, noise, p, calls[2];
};

static const struct output_column columns[] = {
	COLUMN("name", TEXT, line, name, .header = "CAUSE", .elastic = true),
	COLUMN("inlined_into", TEXT, line, function),
	COLUMN("kind", TEXT, line, how, .header = "KIND"),
	COLUMN("of", TEXT, line, what, .header = "OF", .elastic = true),
	COLUMN("baseline_calls", COUNT, line, calls[0], .header = "CALLS/RUN", .rank = 2),
	COLUMN("hardened_calls", COUNT, line, calls[1], .header = "HARDENED", .rank = 2),
	COLUMN("delta_total", DELTA, line, delta, .header = "DELTA/RUN"),
	COLUMN("share", FRACTION, line, share, .header = "SHARE"),
	COLUMN("cause_delta_total", DELTA, line, total),
	COLUMN("noise", TIME, line, noise),
	COLUMN("by_chance", FRACTION, line, p),
	COLUMN("protection", TEXT, line, protection),
	COLUMN("contexts", TEXT, line, contexts),
};

static const char *const kinds[] = {
	[WHY_SELF] = "itself",
	[WHY_NEW] = "new",
	[WHY_GONE] = "gone",
	[WHY_OFTEN] = "calls",
};

/* Return CAUSE's contexts, each with its share of CAUSE's change, "clone 73 %, mmap 27 %"; for free(). */
static char *contexts_of(const struct why *w, const struct why_causes *c,
			 const struct why_cause *cause)
{
	char *text = NULL;

	for (uint32_t i = 0; i < cause->n_shares; i++) {
		const struct why_share *share = &c->shares[cause->first_share + i];

		alloc_append(&text, "%s%s %.0f %%", i ? ", " : "",
			     w->pair.nodes[share->context].name, 100 * share->delta / cause->delta);
	}
	return text;
}

static double known(double calls)
{
	return calls > 0 ? calls : NAN;
}

static void rows(struct view_rows *rows, const void *data)
{
	const struct view_why *w = data;
	const struct why_causes *c = w->of ? &w->of->causes : NULL;
	struct line *lines = view_rows_new(rows, c ? c->n_parts : 0, sizeof(*lines));
	uint32_t n = 0;

	for (uint32_t i = 0; c && i < c->n_items; i++) {
		const struct why_cause *cause = &c->items[i];
		const char *contexts = alloc_keep(&rows->texts, contexts_of(&w->why, c, cause));

		for (uint32_t k = 0; k < cause->n_parts; k++) {
			const struct why_part *part = &c->parts[cause->first_part + k];
			const struct catalogue_protection *owner =
				why_owner(&w->why.switched, &w->why.pair, part);

			lines[n++] = (struct line){
				.name = cause->name,
				.function = cause->function,
				.how = kinds[part->kind],
				.what = part->kind == WHY_SELF ? NULL : part->name,
				.delta = part->delta,
				.share = part->delta / why_caused(w->of),
				.total = cause->delta,
				.p = cause->significance.p,
				.contexts = contexts,
				.protection = owner ? owner->name : NULL,
				.noise = why_significance_noise(&cause->significance),
				.calls = { known(part->calls[0]), known(part->calls[1]) },
			};
		}
	}
}

const struct view_table why_causes = {
	.name = "causes",
	.is_answer = true,
	.first = 12,
	.title = "Functions whose code causes the difference, and how",
	.legend = "KIND itself: its own instructions; new, gone: called there on one side "
		  "only, including callees; calls: called more or less often",
	ONE_GROUP(columns),
	.weight = offsetof(struct line, total),
	.rows = rows,
};
