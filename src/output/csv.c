// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/csv.h"

#include <stdlib.h>
#include <string.h>

#include "output/number.h"
#include "output/text.h"

static void write_text(FILE *out, const char *text)
{
	char *escaped = output_text_escape(text);
	const char *c;

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
	free(escaped);
}

static void write_field(FILE *out, const struct output_section *section, size_t row,
			const struct output_group *group, const struct output_column *column)
{
	struct output_field field = output_field_get(section, row, group, column);
	char buf[OUTPUT_NUMBER_MAX];

	if (column->type == OUTPUT_INTERVAL) {
		fprintf(out, "%s,", output_number_plain(buf, field.number));
		fputs(output_number_plain(buf, field.high), out);
		return;
	}
	if (output_field_is_absent(&field, column->type))
		return;
	if (column->type == OUTPUT_TEXT)
		write_text(out, field.text);
	else if (column->type == OUTPUT_FLAG)
		fputs(field.number != 0 ? "true" : "false", out);
	else
		fputs(output_number_plain(buf, field.number), out);
}

static void write_key(FILE *out, const struct output_group *group,
		      const struct output_column *column, const char *suffix)
{
	fprintf(out, "%s%s%s%s", group->key ? group->key : "", group->key ? "_" : "", column->key,
		suffix);
}

static void write_header(FILE *out, const struct output_section *section)
{
	const char *comma = "";
	size_t i, j;

	for (i = 0; i < section->n_groups; i++) {
		const struct output_group *group = &section->groups[i];

		for (j = 0; j < group->n_columns; j++) {
			if (group->columns[j].rank == OUTPUT_TABLE_ONLY)
				continue;
			fputs(comma, out);
			comma = ",";
			if (group->columns[j].type != OUTPUT_INTERVAL) {
				write_key(out, group, &group->columns[j], "");
				continue;
			}
			write_key(out, group, &group->columns[j], "_low,");
			write_key(out, group, &group->columns[j], "_high");
		}
	}
	fputc('\n', out);
}

static void write_row(FILE *out, const struct output_section *section, size_t row)
{
	const char *comma = "";
	size_t i, j;

	for (i = 0; i < section->n_groups; i++) {
		const struct output_group *group = &section->groups[i];

		for (j = 0; j < group->n_columns; j++) {
			if (group->columns[j].rank == OUTPUT_TABLE_ONLY)
				continue;
			fputs(comma, out);
			write_field(out, section, row, group, &group->columns[j]);
			comma = ",";
		}
	}
	fputc('\n', out);
}

void output_csv_write(FILE *out, const struct output_section *section)
{
	size_t row;

	write_header(out, section);
	for (row = 0; row < section->n_rows; row++)
		write_row(out, section, row);
}
