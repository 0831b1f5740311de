// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples by the function that was being executed. */

#include "base/alloc.h"
#include "output/folded.h"
#include "output/json.h"
#include "output/number.h"
#include "view/names.h"
#include "view/page/columns.h"
#include "view/report.h"

struct line {
	const char *name;
	double samples, share;
};

#define LEAF_COLUMNS(samples_)                                                       \
	{                                                                            \
		COLUMN("name", TEXT, line, name, .header = "FUNCTION (SELF)"),       \
			COLUMN("samples", COUNT, line, samples, .header = samples_), \
			COLUMN("share", FRACTION, line, share, .header = "SHARE"),   \
	}

static const struct output_column columns[] = LEAF_COLUMNS("SAMPLES");
static const struct output_column exact_columns[] = LEAF_COLUMNS("INSTRUCTIONS");
static const struct output_group exact_group = { COLUMNS(exact_columns) };

static void rows(struct view_rows *rows, const void *data)
{
	const struct analyze_leaves *leaves = &((const struct view_report *)data)->leaves;
	struct line *lines = view_rows_new(rows, leaves->n_leaves, sizeof(*lines));

	if (view_report_is_exact(data))
		rows->section.groups = &exact_group;
	for (size_t i = 0; i < leaves->n_leaves; i++) {
		const struct analyze_leaf *leaf = &leaves->leaves[i];
		char *name = rows->for_people ? view_frames(leaf->frames, leaf->n_frames) :
						output_folded_frames(leaf->frames, leaf->n_frames);

		lines[i] =
			(struct line){ alloc_keep(&rows->texts, name), leaf->samples, leaf->share };
	}
}

static const char *count_text(uint64_t count)
{
	return count == PROFILE_NOT_COUNTED ?
		       "not counted" :
		       output_number(OUTPUT_COUNT, (double)count, PROFILE_CLOCK_NS);
}

static char *title(const void *data)
{
	const struct view_report *r = data;
	const char *tasks = profile_env_get(r->common.p[0], PROFILE_ENV_TASKS);
	const char *used = output_number(OUTPUT_COUNT, r->leaves.samples, r->common.p[0]->clock);

	if (profile_is_exact(r->common.p[0]))
		return alloc_printf("Instructions executed: %s, including user space", used);
	return alloc_printf("Samples at %u Hz: %s in the workload; %s received of %s expected%s",
			    r->common.p[0]->freq, used, count_text(r->losses.samples_received),
			    count_text(r->losses.samples_expected),
			    tasks && !strcmp(tasks, "all") ? ", idle tasks left out" : "");
}

static json_t *json(const void *data)
{
	const struct view_report *r = data;
	json_t *samples = json_object();
	scoped(view_rows_deinit) struct view_rows leaves;

	view_rows_init(&leaves, &report_samples, data, false);
	output_json_set(samples, "freq", json_integer(r->common.p[0]->freq));
	output_json_set(samples, "period", output_json_count(r->common.p[0]->sample_period));
	output_json_set(samples, "expected", output_json_count(r->losses.samples_expected));
	output_json_set(samples, "received", output_json_count(r->losses.samples_received));
	output_json_set(samples, "workload", output_json_number(r->leaves.samples));
	output_json_set(samples, "leaves", output_json_rows(&leaves.section));
	return samples;
}

const struct view_table report_samples = {
	.name = "samples",
	.first = 5,
	.title_of = title,
	.legend = "kprotperf fold prints stacks",
	.none = "Samples: none (use record --freq HZ).",
	ONE_GROUP(columns),
	.rows = rows,
	.json = json,
};
