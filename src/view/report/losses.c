// SPDX-License-Identifier: GPL-2.0-or-later
/* Lost data, and a balance of entered and completed calls. */
#include <math.h>

#include "output/json.h"
#include "output/number.h"
#include "view/page/columns.h"
#include "view/report.h"

struct loss {
	const char *key, *text;
	const char *kind; /* "loss" or "accounting" */
	double count; /* NAN: not counted */
	bool is_none;
};

static const struct output_column columns[] = {
	COLUMN("key", TEXT, loss, key),
	COLUMN("kind", TEXT, loss, kind, .header = "KIND"),
	COLUMN("count", COUNT, loss, count, .header = "COUNT"),
	COLUMN("text", TEXT, loss, text, .header = "MEANING"),
};

static void rows(struct view_rows *rows, const void *data)
{
	const struct view_report *r = data;
	struct loss *losses = view_rows_new(rows, PROFILE_N_LOSSES, sizeof(*losses));

	for (uint32_t i = 0; i < PROFILE_N_LOSSES; i++) {
		uint64_t counted = r->losses.counts[i];
		double count = counted == PROFILE_NOT_COUNTED ? NAN : (double)counted;

		losses[i] = (struct loss){
			.key = profile_loss_key(i),
			.text = alloc_keep(&rows->texts, profile_loss_text(i, count)),
			.kind = profile_loss_is_info(i) ? "accounting" : "loss",
			.count = count,
			.is_none = !counted,
		};
	}
}

/* Return the counts of all kinds of lost data. INFO: return the kinds that only inform instead (profile_loss_is_info()). */
static json_t *counts_json(const struct view_report *r, bool info)
{
	json_t *losses = json_object();

	for (uint32_t i = 0; i < PROFILE_N_LOSSES; i++)
		if (profile_loss_is_info(i) == info)
			output_json_set(losses, profile_loss_key(i),
					output_json_count(r->losses.counts[i]));
	return losses;
}

static json_t *losses_json(const void *data)
{
	return counts_json(data, false);
}

static json_t *accounting_json(const void *data)
{
	const struct view_report *r = data;
	const struct analyze_accounting *a = &r->accounting;
	json_t *accounting = counts_json(r, true);

	/* If a run lacks one of the counters, sums over the other runs do not balance: ENTRIES and UNACCOUNTED are unknown. */
	output_json_set(accounting, "entries",
			output_json_number(a->known ? (double)a->entries : NAN));
	output_json_set(accounting, "calls", output_json_number((double)a->calls));
	output_json_set(accounting, "returned", output_json_number((double)a->returned));
	output_json_set(accounting, "unaccounted",
			output_json_number(a->known ? (double)a->unaccounted : NAN));
	output_json_set(accounting, "probe_cost", output_json_number(r->table.cost));
	return accounting;
}

static void accounting_page(const struct view *v, const void *data)
{
	const struct view_report *r = data;
	const struct analyze_accounting *a = &r->accounting;

#define NUMBER(n) output_number(OUTPUT_COUNT, (double)(n), PROFILE_CLOCK_NS)
	view_text(v,
		  "Calls: entered %s = returned %s + closed by exit %s + open at end %s + return "
		  "missed %s + not timed %s (nested too deep %s, table full %s, detached %s) + "
		  "unaccounted %s.",
		  a->known ? NUMBER(a->entries) : "(not counted)", NUMBER(a->returned),
		  NUMBER(a->closed_by_exit), NUMBER(a->open_at_end), NUMBER(a->return_missed),
		  NUMBER(a->too_deep + a->no_cell + a->detached), NUMBER(a->too_deep),
		  NUMBER(a->no_cell), NUMBER(a->detached),
		  a->known ? NUMBER(a->unaccounted) : "(not known)");
#undef NUMBER
}

const struct view_table report_losses = {
	.name = "losses",
	.is_closed = true,
	.title = "Losses and accounting; counters that are 0 are omitted",
	ONE_GROUP(columns),
	.redundant = offsetof(struct loss, is_none),
	.rows = rows,
	.json = losses_json,
};

const struct view_table report_accounting = {
	.name = "accounting",
	.is_closed = true,
	.places = VIEW_IN_PAGE | VIEW_IN_JSON,
	.page = accounting_page,
	.json = accounting_json,
};
