// SPDX-License-Identifier: GPL-2.0-or-later
/* The output of `kprotperf changes`: the functions, structures and variables that differ between two kernels. */
#include "view/changes.h"

#include "base/alloc.h"
#include "base/plural.h"
#include "output/json.h"
#include "view/page/columns.h"

static const char *const kinds[ANALYZE_N_CHANGES] = { "differs",   "new",     "gone", "offsets",
						      "registers", "renamed", "moved" };

static const struct output_column function_columns[] = {
	COLUMN("change", TEXT, analyze_changed, kind, .header = "CHANGE", .names = kinds),
	COLUMN("function", TEXT, analyze_changed, name, .header = "FUNCTION"),
	COLUMN("baseline_function", TEXT, analyze_changed, was, .header = "BASELINE'S",
	       .rank = OUTPUT_IF_ANY),
	COLUMN("added", COUNT, analyze_changed, added, .header = "ADDED"),
	COLUMN("removed", COUNT, analyze_changed, removed, .header = "REMOVED"),
	COLUMN("baseline_insns", COUNT, analyze_changed, n_insns[0]),
	COLUMN("hardened_insns", COUNT, analyze_changed, n_insns[1], .header = "INSTRUCTIONS",
	       .rank = 2),
	COLUMN("callers", COUNT, analyze_changed, callers, .header = "CALLERS", .rank = 1),
	COLUMN("init", FLAG, analyze_changed, is_init),
	COLUMN("file", TEXT, analyze_changed, files[1]),
	COLUMN("baseline_file", TEXT, analyze_changed, files[0]),
	COLUMN("inlined", TEXT, analyze_changed, inlined, .header = "INLINED",
	       .rank = OUTPUT_IF_ANY, .elastic = true),
};

static const struct view_table functions = {
	.name = "functions",
	.first = 30,
	.title = "Functions, most likely costs first (by size of the change and number of "
		 "callers)",
	.legend = "ADDED and REMOVED: instructions in one kernel only. CALLERS: direct calls in "
		  "the code. \"offsets\": same instructions, different structure offsets; "
		  "\"registers\": same instructions, different registers or order. Init code, "
		  "which is discarded after boot, comes last of each kind",
	.none = "No function differs.",
	ONE_GROUP(function_columns),
	VIEW_LIST(view_changes, functions, n_functions),
};

static const struct output_column struct_columns[] = {
	COLUMN("struct", TEXT, analyze_struct_change, name, .header = "STRUCT"),
	COLUMN("baseline_bytes", COUNT, analyze_struct_change, sizes[0], .header = "BYTES BEFORE"),
	COLUMN("hardened_bytes", COUNT, analyze_struct_change, sizes[1], .header = "AFTER"),
	COLUMN("moved", COUNT, analyze_struct_change, moved, .header = "MEMBERS MOVED"),
	COLUMN("members", TEXT, analyze_struct_change, members, .header = "MEMBERS",
	       .rank = OUTPUT_IF_ANY, .elastic = true),
};

static const struct view_table structs = {
	.name = "structs",
	.first = 5,
	.title = "Structures with a different layout",
	.none = "No structure is known to have a different layout.",
	ONE_GROUP(struct_columns),
	VIEW_LIST(view_changes, structs.rows, structs.n_rows),
};

static const struct output_column variable_columns[] = {
	COLUMN("variable", TEXT, analyze_variable, name, .header = "VARIABLE"),
	COLUMN("bytes", COUNT, analyze_variable, bytes, .header = "BYTES"),
	COLUMN("words", COUNT, analyze_variable, words, .header = "WORDS"),
	COLUMN("offset", COUNT, analyze_variable, at, .header = "OFFSET"),
	COLUMN("baseline", TEXT, analyze_variable, values[0], .header = "BASELINE"),
	COLUMN("hardened", TEXT, analyze_variable, values[1], .header = "HARDENED"),
};

static const struct view_table variables = {
	.name = "variables",
	.first = 8,
	.title = "Variables and static keys with different initial values",
	.legend = "WORDS: number of differing 8-byte words; the first is at OFFSET, with the "
		  "values BASELINE and HARDENED. Addresses differ only if they refer to different "
		  "symbols. A static key starts with its count; above 0 it is on",
	.none = "No variable present in both kernels has a different initial value.",
	ONE_GROUP(variable_columns),
	VIEW_LIST(view_changes, variables.rows, variables.n_rows),
};

static const char *const on_off[] = { "off", "on" };

static const struct output_column key_columns[] = {
	COLUMN("key", TEXT, analyze_static_key, name, .header = "KEY"),
	COLUMN("baseline", TEXT, analyze_static_key, on[0], .header = "BASELINE", .names = on_off),
	COLUMN("hardened", TEXT, analyze_static_key, on[1], .header = "HARDENED", .names = on_off),
	COLUMN("jumps", COUNT, analyze_static_key, jumps, .header = "JUMPS"),
	COLUMN("functions", TEXT, analyze_static_key, functions, .header = "IN", .elastic = true),
};

static const struct view_table static_keys = {
	.name = "static_keys",
	.first = 10,
	.title = "Static keys, as they were in the running kernels when recorded",
	.legend = "JUMPS: places in the code that the key patches; IN: functions that contain them",
	ONE_GROUP(key_columns),
	VIEW_LIST(view_changes, keys.rows, keys.n_rows),
};

static bool is_one_kernel(const struct view_changes *c)
{
	const struct kernel_build_id *id = kernel_image_build_id(c->images[0]);

	return id->len && kernel_build_id_equal(id, kernel_image_build_id(c->images[1]));
}

/* Write a sentence such as "4 functions differ, 3 are new, ...". */
static void page(const struct view *v, const void *data)
{
	static const char *const verbs[ANALYZE_N_CHANGES][2] = {
		{ "differs", "differ" },
		{ "is new", "are new" },
		{ "is gone", "are gone" },
		{ "differs in structure offsets only", "differ in structure offsets only" },
		{ "differs in registers or order only", "differ in registers or order only" },
		{ "is renamed", "are renamed" },
		{ "moved to another file", "moved to another file" },
	};
	const struct view_changes *c = data;
	uint32_t n[ANALYZE_N_CHANGES] = { 0 };
	scoped_free char *text = NULL;

	for (uint32_t i = 0; i < c->n_functions; i++)
		n[c->functions[i].kind]++;
	for (int i = 0; i < ANALYZE_CHANGE_SAME; i++)
		if (n[i])
			alloc_append(&text, "%s%u%s %s", text ? ", " : "", n[i],
				     text ? "" : plural(n[i], " function", " functions"),
				     plural(n[i], verbs[i][0], verbs[i][1]));
	if (is_one_kernel(c))
		view_text(v,
			  "Both are the same kernel, by build-id, so their code does not "
			  "differ%s.",
			  !c->keys.known ? "; which static keys were on is unknown" :
			  c->keys.n_rows ? " except where static keys patch it" :
					   ", and the same static keys were on");
	else if (text)
		view_text(v, "%s; %u %s the same.", text, c->n_same,
			  plural(c->n_same, "is", "are"));
	else
		view_text(v, "No function differs; %u %s the same.", c->n_same,
			  plural(c->n_same, "is", "are"));
}

static void json(json_t *root, const void *data)
{
	const struct view_changes *c = data;
	char hex[2 * KERNEL_BUILD_ID_MAX + 1];

	for (int i = 0; i < 2; i++) {
		json_t *kernel = json_object();

		kernel_build_id_format(kernel_image_build_id(c->images[i]), hex, sizeof(hex));
		output_json_set(kernel, "build_id", output_json_text(*hex ? hex : NULL));
		output_json_set(kernel, "vmlinux",
				output_json_text(kernel_image_path(c->images[i])));
		output_json_set(root, i ? "hardened" : "baseline", kernel);
	}
	output_json_set(root, "same", json_integer(c->n_same));
}

const struct view_list view_changes_list = {
	.tables = (const struct view_table *const[]){ &functions, &structs, &variables,
						      &static_keys },
	.n_tables = 4,
	.schema = "kprotperf-changes/1",
	.csv = "functions",
	.page = page,
	.json = json,
};
