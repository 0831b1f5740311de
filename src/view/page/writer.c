// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of output formats, and the formats JSON and CSV. */
#include "view/page/writer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
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

void view_write(const struct view_request *request, const void *data)
{
	struct view_request with_data = *request;

	with_data.data = data;
	view_writers[request->format].write(stdout, &with_data);
	log_progress_end();
}

static void write_table(struct output_json *json, const struct view_table *table, const void *data)
{
	struct view_rows rows;
	json_t *value;

	if (table->json) {
		value = table->json(data);
		if (value)
			output_json_member(json, table->name, value);
		return;
	}
	view_rows_init(&rows, table, data, false);
	output_json_member_rows(json, table->name, &rows.section);
	view_rows_deinit(&rows);
}

void view_write_json(FILE *out, const struct view_request *request)
{
	const struct view_list *list = request->list;
	struct output_json json = { .out = out };
	json_t *head = json_object();

	output_json_member(&json, "schema", json_string(list->schema));
	if (list->json)
		list->json(head, request->data);
	for (void *at = json_object_iter(head); at; at = json_object_iter_next(head, at))
		output_json_member(&json, json_object_iter_key(at),
				   json_incref(json_object_iter_value(at)));
	json_decref(head);
	for (size_t i = 0; i < list->n_tables; i++)
		if (view_table_is_in(list->tables[i], VIEW_IN_JSON) &&
		    view_request_has(request, list->tables[i]))
			write_table(&json, list->tables[i], request->data);
	output_json_end(&json);
}

void view_write_csv(FILE *out, const struct view_request *request)
{
	const struct view_list *list = request->list;
	const struct view_data *common = request->data;
	const struct view_table *table =
		view_list_find(list, request->n_sections ? request->sections[0] : list->csv);
	scoped(view_rows_deinit) struct view_rows rows;

	if (common->warnings)
		view_warnings_log(common->warnings, true);
	view_rows_init(&rows, table, request->data, false);
	output_csv_write(out, &rows.section);
}
