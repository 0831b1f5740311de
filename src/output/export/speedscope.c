// SPDX-License-Identifier: GPL-2.0-or-later
/* Export for speedscope.app: a "sampled" profile as in its file-format-schema.json. */
#include "output/export/export.h"
#include "output/json.h"

/* Return the indexes of the frames from the root to NODE. */
static json_t *stack_json(const struct export *e, uint32_t node)
{
	json_t *stack = json_array();

	for (; node != EXPORT_NO_NODE; node = e->nodes[node].parent)
		json_array_insert_new(stack, 0, json_integer(e->nodes[node].frame));
	return stack;
}

void export_write_speedscope(FILE *out, const struct export *e)
{
	json_t *frames = json_array(), *samples = json_array(), *weights = json_array();
	struct output_json json = { .out = out, .compact = true };
	double total = 0;

	for (uint32_t i = 0; i < e->n_frames; i++)
		json_array_append_new(
			frames, json_pack("{s:o}", "name", output_json_text(e->frames[i].label)));
	for (uint32_t i = 0; i < e->n_leaves; i++) {
		json_array_append_new(samples, stack_json(e, e->leaves[i].node));
		json_array_append_new(weights, output_json_number(e->leaves[i].counts[0]));
		total += e->leaves[i].counts[0];
	}
	output_json_member(&json, "$schema",
			   json_string("https://www.speedscope.app/file-format-schema.json"));
	output_json_member(&json, "exporter", json_string("kprotperf " KPROTPERF_VERSION));
	output_json_member(&json, "name", output_json_text(e->title));
	output_json_member(&json, "shared", json_pack("{s:o}", "frames", frames));
	output_json_member(&json, "profiles",
			   json_pack("[{s:s, s:s, s:s, s:i, s:o, s:o, s:o}]", "type", "sampled",
				     "name", e->unit, "unit", "none", "startValue", 0, "endValue",
				     output_json_number(total), "samples", samples, "weights",
				     weights));
	output_json_end(&json);
}
