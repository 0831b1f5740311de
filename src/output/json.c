// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "output/number.h"
#include "output/text.h"
#include "profile/stats.h"

json_t *output_json_text(const char *text)
{
	json_t *json;
	scoped_free char *escaped = NULL;

	if (!text)
		return json_null();
	json = json_string(text);
	if (json)
		return json;
	escaped = output_text_escape(text);
	return json_string(escaped);
}

json_t *output_json_number(double number)
{
	if (!isfinite(number))
		return json_null();
	return output_number_is_whole(number) ? json_integer((json_int_t)number) :
						json_real(number);
}

json_t *output_json_count(uint64_t count)
{
	if (count == PROFILE_NOT_COUNTED)
		return json_null();
	/* Only a forged file has counts beyond the range of a JSON integer. */
	return count <= INT64_MAX ? json_integer((json_int_t)count) : json_real((double)count);
}

void output_json_set(json_t *object, const char *key, json_t *value)
{
	char *escaped;

	/* json_object_set() fails only for a key that is not UTF-8. It then keeps no reference of VALUE. */
	json_incref(value);
	if (json_object_set(object, key, value)) {
		escaped = output_text_escape(key);
		json_object_set(object, escaped, value);
		free(escaped);
	}
	json_decref(value);
	json_decref(value);
}

static json_t *field_json(const struct output_field *field, enum output_type type)
{
	if (type == OUTPUT_TEXT)
		return output_json_text(field->text);
	if (type == OUTPUT_FLAG)
		return json_boolean(field->number != 0);
	if (type == OUTPUT_INTERVAL && !isnan(field->number))
		return json_pack("[oo]", output_json_number(field->number),
				 output_json_number(field->high));
	return output_json_number(field->number);
}

static bool group_set(json_t *object, const struct output_section *section, size_t row,
		      const struct output_group *group)
{
	bool any = false;

	vec_each(const struct output_column, column, group, columns) {
		struct output_field field = output_field_get(section, row, group, column);

		if (!column->key)
			continue;
		any |= !output_field_is_absent(&field, column->type);
		output_json_set(object, column->key, field_json(&field, column->type));
	}
	return any;
}

/* Return a JSON object with ROW's fields in GROUPS[FIRST] and in later groups of this key; null if all these fields are absent. */
static json_t *object_json(const struct output_section *section, size_t row, size_t first)
{
	const char *key = section->groups[first].key;
	json_t *object = json_object();
	bool any = false;

	for (size_t i = first; i < section->n_groups; i++)
		if (section->groups[i].key && !strcmp(section->groups[i].key, key))
			any |= group_set(object, section, row, &section->groups[i]);
	if (any)
		return object;
	json_decref(object);
	return json_null();
}

static json_t *row_json(const struct output_section *section, size_t row)
{
	json_t *object = json_object();

	output_row_progress(section, row);
	for (size_t i = 0; i < section->n_groups; i++) {
		const struct output_group *group = &section->groups[i];

		if (!group->key)
			group_set(object, section, row, group);
		else if (!json_object_get(object, group->key))
			output_json_set(object, group->key, object_json(section, row, i));
	}
	return object;
}

json_t *output_json_rows(const struct output_section *section)
{
	json_t *rows = json_array();

	for (size_t row = 0; row < section->n_rows; row++)
		json_array_append_new(rows, row_json(section, row));
	return rows;
}

/* ---- the file ---- */

struct nested {
	FILE *out;
	int depth;
};

/* Indent the lines of TEXT. JSON values contain no line ends. */
static int put_nested(const char *text, size_t n, void *arg)
{
	const struct nested *to = arg;
	const char *end = text + n, *line;

	for (; (line = memchr(text, '\n', (size_t)(end - text))); text = line + 1)
		fprintf(to->out, "%.*s\n%*s", (int)(line - text), text, 2 * to->depth, "");
	fwrite(text, 1, (size_t)(end - text), to->out);
	return 0;
}

/* 12 digits exceed the accuracy of figures, and print 0.1 as 0.1. Write ASCII, since terminals obey C1 control characters. */
#define DUMP (JSON_REAL_PRECISION(12) | JSON_ENCODE_ANY | JSON_ENSURE_ASCII)

/* Write VALUE, indented by DEPTH levels, and drop its reference. */
static void put(FILE *out, json_t *value, int depth)
{
	struct nested to = { out, depth };

	json_dump_callback(value, put_nested, &to, JSON_INDENT(2) | DUMP);
	json_decref(value);
}

static void put_key(struct output_json *json, const char *key)
{
	fputs(json->n_members++ ? ",\n  " : "{\n  ", json->out);
	put(json->out, output_json_text(key), 0);
	fputs(": ", json->out);
}

void output_json_member(struct output_json *json, const char *key, json_t *value)
{
	put_key(json, key);
	if (json->compact) {
		json_dumpf(value, json->out, JSON_COMPACT | DUMP);
		json_decref(value);
		return;
	}
	put(json->out, value, 1);
}

void output_json_member_rows(struct output_json *json, const char *key,
			     const struct output_section *section)
{
	put_key(json, key);
	for (size_t row = 0; row < section->n_rows; row++) {
		fputs(row ? ",\n    " : "[\n    ", json->out);
		put(json->out, row_json(section, row), 2);
	}
	fputs(section->n_rows ? "\n  ]" : "[]", json->out);
}

void output_json_end(struct output_json *json)
{
	fputs(json->n_members ? "\n}\n" : "{}\n", json->out);
}

/* ---- csv ---- */

static void write_text(FILE *out, const char *text, bool is_raw)
{
	scoped_free char *escaped = is_raw ? output_name_escape(text) : output_text_escape(text);
	const char *c;

	/* Spreadsheets would execute such text as a formula. Tabs and carriage returns are escaped already. */
	if (*escaped && strchr("=+-@", *escaped)) {
		scoped_free char *formula = escaped;

		escaped = alloc_printf("'%s", formula);
	}
	if (!strpbrk(escaped, ",\"")) {
		fputs(escaped, out);
	} else {
		fputc('"', out);
		for (c = escaped; *c; c++) {
			if (*c == '"')
				fputc('"', out);
			fputc(*c, out);
		}
		fputc('"', out);
	}
}

static void write_field(FILE *out, const struct output_section *section, size_t row,
			const struct output_group *group, const struct output_column *column)
{
	struct output_field field = output_field_get(section, row, group, column);

	if (column->type == OUTPUT_INTERVAL) {
		fprintf(out, "%s,%s", output_number_plain(field.number),
			output_number_plain(field.high));
		return;
	}
	if (output_field_is_absent(&field, column->type))
		return;
	if (column->type == OUTPUT_TEXT)
		write_text(out, field.text, column->is_raw);
	else if (column->type == OUTPUT_FLAG)
		fputs(field.number != 0 ? "true" : "false", out);
	else
		fputs(output_number_plain(field.number), out);
}

static void write_key(FILE *out, const struct output_group *group,
		      const struct output_column *column)
{
	const char *prefix = group->key ? group->key : "", *joint = group->key ? "_" : "";

	if (column->type == OUTPUT_INTERVAL)
		fprintf(out, "%s%s%s_low,%s%s%s_high", prefix, joint, column->key, prefix, joint,
			column->key);
	else
		fprintf(out, "%s%s%s", prefix, joint, column->key);
}

/* Write row number ROW, or the header if ROW is -1. */
static void write_line(FILE *out, const struct output_section *section, ssize_t row)
{
	const char *comma = "";

	if (row >= 0)
		output_row_progress(section, row);
	vec_each(const struct output_group, group, section, groups) {
		vec_each(const struct output_column, column, group, columns) {
			if (!column->key)
				continue;
			fputs(comma, out);
			comma = ",";
			if (row < 0)
				write_key(out, group, column);
			else
				write_field(out, section, row, group, column);
		}
	}
	fputc('\n', out);
}

void output_csv_write(FILE *out, const struct output_section *section)
{
	ssize_t row;

	for (row = -1; row < (ssize_t)section->n_rows; row++)
		write_line(out, section, row);
}
