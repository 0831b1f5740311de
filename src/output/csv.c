// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/csv.h"

#include <string.h>

#include "base/alloc.h"
#include "output/number.h"
#include "output/text.h"

static void write_text(FILE *out, const char *text, bool is_raw)
{
	scoped_free char *escaped = is_raw ? output_name_escape(text) : output_text_escape(text);
	const char *c;

	/* Spreadsheets would execute it. Tabs and carriage returns are escaped. */
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

/* Row -1 is the header. */
static void write_line(FILE *out, const struct output_section *section, ssize_t row)
{
	const char *comma = "";

	if (row >= 0)
		output_row_prepare(section, row);
	vec_each(const struct output_group, group, section, groups) {
		vec_each(const struct output_column, column, group, columns) {
			if (!output_column_in_data(column))
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
