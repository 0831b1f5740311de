// SPDX-License-Identifier: GPL-2.0-or-later
/* The formats, and the two of them that programs read. */
#include "view/writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "output/csv.h"
#include "output/json.h"

#define WRITER(name, place) { place, view_write_##name },
#define NAME(name, place)   #name,
const struct view_writer view_writers[] = { VIEW_WRITERS(WRITER) };
const char *const view_writer_names[] = { VIEW_WRITERS(NAME) NULL };

bool view_request_has(const struct view_request *request, const struct view_table *table)
{
	for (size_t i = 0; i < request->n_sections; i++)
		if (!strcmp(request->sections[i], table->name))
			return true;
	return !request->n_sections;
}

static json_t *table_json(const struct view_table *table, const void *data)
{
	struct view_rows rows;
	json_t *json;

	if (table->json)
		return table->json(data);
	view_rows_init(&rows, table, data, false);
	json = output_json_rows(&rows.section);
	view_rows_deinit(&rows);
	return json;
}

void view_write_json(FILE *out, const struct view_request *request)
{
	const struct view_list *list = request->list;
	json_t *root = json_object();

	output_json_set(root, "schema", json_string(list->schema));
	if (list->json)
		list->json(root, request->data);
	for (size_t i = 0; i < list->n_tables; i++) {
		json_t *json = view_table_is_in(list->tables[i], VIEW_IN_JSON) &&
					       view_request_has(request, list->tables[i]) ?
				       table_json(list->tables[i], request->data) :
				       NULL;

		if (json)
			output_json_set(root, list->tables[i]->name, json);
	}
	output_json_write(out, root);
}

void view_write_csv(FILE *out, const struct view_request *request)
{
	const struct view_list *list = request->list;
	const struct view_table *table =
		view_list_find(list, request->n_sections ? request->sections[0] : list->csv);
	struct view_rows rows;

	if (list->warnings)
		view_warnings_log(list->warnings(request->data), true);
	view_rows_init(&rows, table, request->data, false);
	output_csv_write(out, &rows.section);
	view_rows_deinit(&rows);
}
