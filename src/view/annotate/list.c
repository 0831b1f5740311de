// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of tables of `kprotperf annotate`, and further members of its JSON. */
#include "base/alloc.h"
#include "output/json.h"
#include "view/annotate/rows.h"

#define ENTRY(name) &annotate_##name,
static const struct view_table *const tables[] = { VIEW_ANNOTATE_TABLES(ENTRY) };

static json_t *samples_json(const struct analyze_annotation *a)
{
	json_t *samples = json_object();

	output_json_set(samples, "function", output_json_number(a->samples));
	output_json_set(samples, "self", output_json_number(a->hits.self));
	output_json_set(samples, "callees", output_json_number(a->hits.callees));
	output_json_set(samples, "late", output_json_number(a->hits.late));
	output_json_set(samples, "at_return", output_json_number(a->at_return));
	output_json_set(samples, "unplaced", output_json_number(a->unplaced));
	output_json_set(samples, "astray", output_json_number(a->astray));
	output_json_set(samples, "kernel", output_json_number(a->kernel));
	return samples;
}

static json_t *env_json(const struct annotated *f, const char *key)
{
	return output_json_text(profile_env_get(f->p, key));
}

static void json(json_t *root, const void *data)
{
	const struct annotated *f = ((const struct view_annotation *)data)->f;
	const struct analyze_annotation *a = &f->a;
	bool is_live = a->n_places && annotated_is_live(f, a->places);

	output_json_set(root, "unit", json_string(profile_clock_unit(a->clock)));
	output_json_set(root, "function", output_json_text(f->name));
	output_json_set(root, "module", output_json_text(f->module));
	output_json_set(root, "within", output_json_text(f->within));
	output_json_set(root, "context",
			output_json_text(a->context ? a->context : ANALYZE_ALL_CONTEXTS));
	output_json_set(root, "kernel", env_json(f, PROFILE_ENV_RELEASE));
	output_json_set(root, "build_id", env_json(f, PROFILE_ENV_BUILD_ID));
	output_json_set(root, "vmlinux", output_json_text(kernel_image_path(f->image)));
	output_json_set(root, "code", json_string(is_live ? "live" : "file"));
	output_json_set(root, "source", output_json_text(kernel_source_dir(f->source)));
	output_json_set(root, "runs", json_integer(a->runs));
	output_json_set(root, "calls", output_json_number(a->figures.calls));
	output_json_set(root, "mean", output_json_number(a->figures.mean));
	output_json_set(root, "cost_of", json_string(a->tick_is_of_call ? "call" : "run"));
	output_json_set(root, "samples", samples_json(a));
	output_json_set(root, "places_without_samples", json_integer(a->n_other_places));
}

const struct view_list view_annotate_list = {
	.tables = tables,
	.n_tables = ARRAY_SIZE(tables),
	.schema = "kprotperf-annotate/1",
	.csv = "instructions",
	.page = annotate_page,
	.json = json,
};
