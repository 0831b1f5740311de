// SPDX-License-Identifier: GPL-2.0-or-later
/* For profiler.firefox.com: a profile in its processed format of version 48, which later ones read. */
#include <math.h>

#include "base/alloc.h"
#include "output/export/export.h"
#include "output/json.h"

/* The categories, by kind of frame. */
static const struct {
	const char *name, *color;
} categories[] = {
	[ANALYZE_FRAME_OTHER] = { "Other", "grey" },
	[ANALYZE_FRAME_KERNEL] = { "Kernel", "orange" },
	[ANALYZE_FRAME_INLINED] = { "Kernel, inlined", "yellow" },
	[ANALYZE_FRAME_USER] = { "User", "green" },
};

/* N times VALUE, whose reference is taken. */
static json_t *column(size_t n, json_t *value)
{
	json_t *all = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append(all, value);
	json_decref(value);
	return all;
}

static json_t *meta_json(const struct export *e)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(categories); i++)
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:[s]}", "name", categories[i].name, "color",
					categories[i].color, "subcategories", "Other"));
	return json_pack("{s:i, s:i, s:f, s:f, s:i, s:s, s:i, s:b, s:b, s:b, s:b, s:o, s:[]}",
			 "version", 27, "preprocessedProfileVersion", 48, "interval",
			 e->period / 1e6, "startTime", isnan(e->time) ? 0 : e->time * 1e3,
			 "processType", 0, "product", "kprotperf", "stackwalk", 1, "symbolicated",
			 1, "usesOnlyOneStackType", 1, "doesNotUseFrameImplementation", 1,
			 "sourceCodeIsNotOnSearchfox", 1, "categories", list, "markerSchema");
}

/* Samples are in no order: each begins where those before it end. */
static json_t *samples_json(const struct export *e)
{
	json_t *stack = json_array(), *time = json_array(), *weight = json_array();
	double at = 0;

	for (uint32_t i = 0; i < e->n_leaves; i++) {
		json_array_append_new(stack, json_integer(e->leaves[i].node));
		json_array_append_new(weight, output_json_number(e->leaves[i].counts[0]));
		json_array_append_new(time, json_real(at / 1e6));
		at += e->leaves[i].counts[0] * e->period;
	}
	return json_pack("{s:I, s:o, s:o, s:o, s:s}", "length", (json_int_t)e->n_leaves, "stack",
			 stack, "time", time, "weight", weight, "weightType", "samples");
}

static json_t *stacks_json(const struct export *e)
{
	json_t *prefix = json_array(), *frame = json_array(), *category = json_array();

	vec_each(const struct export_node, n, e, nodes) {
		json_array_append_new(prefix, n->parent == EXPORT_NO_NODE ?
						      json_null() :
						      json_integer(n->parent));
		json_array_append_new(frame, json_integer(n->frame));
		json_array_append_new(category, json_integer(e->frames[n->frame].kind));
	}
	return json_pack("{s:I, s:o, s:o, s:o, s:o}", "length", (json_int_t)e->n_nodes, "prefix",
			 prefix, "frame", frame, "category", category, "subcategory",
			 column(e->n_nodes, json_integer(0)));
}

/* The tables of frames and functions, which are the same, and of their names, into THREAD. */
static void frames_json(json_t *thread, const struct export *e)
{
	json_t *index = json_array(), *category = json_array(), *names = json_array();
	size_t n = e->n_frames;

	for (uint32_t i = 0; i < n; i++) {
		json_array_append_new(index, json_integer(i));
		json_array_append_new(category, json_integer(e->frames[i].kind));
		json_array_append_new(names, output_json_text(e->frames[i].label));
	}
	json_object_set_new(
		thread, "frameTable",
		json_pack("{s:I, s:o, s:o, s:o, s:o, s:O, s:o, s:o, s:o, s:o, s:o}", "length",
			  (json_int_t)n, "address", column(n, json_integer(-1)), "inlineDepth",
			  column(n, json_integer(0)), "category", category, "subcategory",
			  column(n, json_integer(0)), "func", index, "nativeSymbol",
			  column(n, json_null()), "innerWindowID", column(n, json_integer(0)),
			  "implementation", column(n, json_null()), "line", column(n, json_null()),
			  "column", column(n, json_null())));
	json_object_set_new(thread, "funcTable",
			    json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "length",
				      (json_int_t)n, "name", index, "isJS", column(n, json_false()),
				      "relevantForJS", column(n, json_false()), "resource",
				      column(n, json_integer(-1)), "fileName",
				      column(n, json_null()), "lineNumber", column(n, json_null()),
				      "columnNumber", column(n, json_null())));
	json_object_set_new(thread, "stringArray", names);
}

static json_t *thread_json(const struct export *e)
{
	json_t *thread = json_pack(
		"{s:o, s:s, s:b, s:s, s:i, s:n, s:i, s:n, s:[], s:s, s:i, s:o, s:o}", "name",
		output_json_text(e->title), "processType", "default", "isMainThread", 1,
		"processName", "kprotperf", "processStartupTime", 0, "processShutdownTime",
		"registerTime", 0, "unregisterTime", "pausedRanges", "pid", "1", "tid", 1,
		"samples", samples_json(e), "stackTable", stacks_json(e));

	frames_json(thread, e);
	/* Markers, libraries and their symbols: there are none, but tables of them. */
	json_object_set_new(thread, "markers",
			    json_pack("{s:i, s:[], s:[], s:[], s:[], s:[], s:[]}", "length", 0,
				      "category", "data", "endTime", "name", "phase", "startTime"));
	json_object_set_new(thread, "resourceTable",
			    json_pack("{s:i, s:[], s:[], s:[], s:[]}", "length", 0, "lib", "name",
				      "host", "type"));
	json_object_set_new(thread, "nativeSymbols",
			    json_pack("{s:i, s:[], s:[], s:[], s:[]}", "length", 0, "address",
				      "functionSize", "libIndex", "name"));
	return thread;
}

void export_write_firefox_profiler(FILE *out, const struct export *e)
{
	struct output_json json = { .out = out, .compact = true };

	output_json_member(&json, "meta", meta_json(e));
	output_json_member(&json, "libs", json_array());
	output_json_member(&json, "threads", json_pack("[o]", thread_json(e)));
	output_json_end(&json);
}
