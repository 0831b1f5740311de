// SPDX-License-Identifier: GPL-2.0-or-later
/* The lists of a kernel's functions and inlined functions. */

#include "base/alloc.h"
#include "output/json.h"
#include "view/page/columns.h"
#include "view/list.h"

static json_t *place_json(const char *file, uint32_t line)
{
	json_t *place;

	if (!file)
		return json_null();
	place = json_object();
	output_json_set(place, "file", output_json_text(file));
	output_json_set(place, "line", json_integer(line));
	return place;
}

/* --- functions ------------------------------------------------------------------------------ */

/* JSON and the page have the columns in different orders, so HOW is here twice. */
static const struct output_column function_columns[] = {
	COLUMN("name", TEXT, view_code_row, name, .header = "FUNCTION"),
	COLUMN(NULL, TEXT, view_code_row, how, .header = "HOW"),
	COLUMN("module", TEXT, view_code_row, module, .header = "MODULE", .rank = 1),
	COLUMN("how", TEXT, view_code_row, how),
	COLUMN("note", TEXT, view_code_row, note, .header = "NOTE"),
};

static const struct output_column other_columns[] = {
	COLUMN("name", TEXT, view_code_row, name, .header = "FUNCTION"),
	COLUMN("module", TEXT, view_code_row, module),
	COLUMN("how", TEXT, view_code_row, how),
	COLUMN("note", TEXT, view_code_row, note),
	COLUMN("declared", TEXT, view_code_row, place, .header = "DECLARED AT"),
	COLUMN(NULL, COUNT, view_code_row, n_bytes, .header = "BYTES", .rank = 1),
};

static void functions_rows(struct view_rows *rows, const void *data)
{
	static const struct output_group other[] = { { COLUMNS(other_columns) } };
	const struct view_code *code = data;

	if (code->is_other_kernel)
		rows->section.groups = other;
}

static const struct view_table functions = {
	.name = "functions",
	.places = VIEW_IN_PAGE | VIEW_IN_JSON,
	ONE_GROUP(function_columns),
	VIEW_LIST(view_code, functions.items, functions.n_items),
	.rows = functions_rows,
};

/* --- inlined functions ---------------------------------------------------------------------- */

static const struct output_column body_columns[] = {
	COLUMN("name", TEXT, view_code_row, name, .header = "INLINED"),
	COLUMN("function", TEXT, view_code_row, function, .header = "INTO"),
	COLUMN("module", TEXT, view_code_row, module, .header = "MODULE", .rank = 1),
	COLUMN("chain", TEXT, view_code_row, chain, .header = "VIA", .rank = 1),
	COLUMN("place", TEXT, view_code_row, place, .header = "CALLED AT"),
	COLUMN("how", TEXT, view_code_row, how, .header = "HOW"),
	COLUMN("bytes", COUNT, view_code_row, n_bytes, .header = "BYTES", .rank = 2),
	COLUMN("entry", TEXT, view_code_row, entry, .header = "ENTRY"),
	COLUMN("addresses", TEXT, view_code_row, addresses, .header = "ADDRESSES"),
	COLUMN("note", TEXT, view_code_row, note, .header = "NOTE", .rank = 3),
};

static json_t *body_json(const struct view_code_row *row)
{
	const struct kernel_body *b = &row->body;
	json_t *object = json_object(), *ranges = json_array();

	output_json_set(object, "name", output_json_text(row->name));
	output_json_set(object, "declared", place_json(b->file, b->line));
	output_json_set(object, "function", output_json_text(b->function.name));
	output_json_set(object, "symbol", output_json_text(b->function.symbol));
	output_json_set(object, "module", output_json_text(row->module));
	output_json_set(object, "symbol_addr", json_integer((json_int_t)b->function.addr));
	output_json_set(object, "chain", output_json_text(row->chain));
	output_json_set(object, "called", place_json(b->call_file, b->call_line));
	output_json_set(object, "entry", json_integer((json_int_t)b->entry));
	for (size_t i = 0; i < b->n_ranges; i++)
		json_array_append_new(ranges, json_pack("[I, I]", (json_int_t)b->ranges[i].start,
							(json_int_t)b->ranges[i].end));
	output_json_set(object, "ranges", ranges);
	output_json_set(object, "bytes", output_json_number(row->n_bytes));
	output_json_set(object, "how", output_json_text(row->how));
	output_json_set(object, "note", output_json_text(row->note));
	return object;
}

static json_t *bodies_json(const void *data)
{
	const struct view_code *code = data;
	json_t *list;

	if (!code->index && !code->bodies.n_items)
		return json_null();
	list = json_array();
	for (uint32_t i = 0; i < code->bodies.n_items; i++)
		json_array_append_new(list, body_json(&code->bodies.items[i]));
	return list;
}

static const struct view_table bodies = {
	.name = "inlined",
	.places = VIEW_IN_PAGE | VIEW_IN_JSON,
	ONE_GROUP(body_columns),
	VIEW_LIST(view_code, bodies.items, bodies.n_items),
	.json = bodies_json,
};

/* Return, as JSON, the number of inlined copies without instructions. NULL omits the key: inlined functions are unknown. */
static json_t *empty_json(const void *data)
{
	const struct view_code *code = data;

	return code->index ? json_integer(code->n_empty) : NULL;
}

static const struct view_table empty = {
	.name = "inlined_empty",
	.places = VIEW_IN_JSON,
	.json = empty_json,
};

/* --- functions and inlined functions together, as CSV --------------------------------------- */

static const struct output_column columns[] = {
	COLUMN("kind", TEXT, view_code_row, kind),
	COLUMN("name", TEXT, view_code_row, name),
	COLUMN("how", TEXT, view_code_row, how),
	COLUMN("note", TEXT, view_code_row, note),
	COLUMN("module", TEXT, view_code_row, module),
	COLUMN("function", TEXT, view_code_row, function),
	COLUMN("chain", TEXT, view_code_row, chain),
	COLUMN("place", TEXT, view_code_row, place),
	COLUMN("bytes", COUNT, view_code_row, n_bytes),
	COLUMN("entry", TEXT, view_code_row, entry),
	COLUMN("addresses", TEXT, view_code_row, addresses),
};

static void all_rows(struct view_rows *rows, const void *data)
{
	const struct view_code *code = data;

	view_rows_refer(rows, code->functions.items, code->functions.n_items,
			sizeof(*code->functions.items));
	view_rows_refer(rows, code->bodies.items, code->bodies.n_items,
			sizeof(*code->bodies.items));
}

static const struct view_table all = {
	.name = "all",
	.places = VIEW_IN_CSV,
	ONE_GROUP(columns),
	.rows = all_rows,
};

static void json(json_t *root, const void *data)
{
	const struct view_code *code = data;
	char hex[2 * KERNEL_BUILD_ID_MAX + 1] = "";

	if (code->index)
		kernel_build_id_format(kernel_index_build_id(code->index), hex, sizeof(hex));
	output_json_set(root, "build_id", output_json_text(*hex ? hex : NULL));
}

const struct view_list view_code_list = {
	.tables = (const struct view_table *const[]){ &functions, &bodies, &empty, &all },
	.n_tables = 4,
	.schema = "kprotperf-list/1",
	.csv = "all",
	.json = json,
};
