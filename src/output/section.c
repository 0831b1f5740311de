// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/section.h"

#include <math.h>
#include <unistd.h>

#include "base/log.h"

void *output_row(const struct output_section *section, size_t row)
{
	char *at = (char *)section->rows + row * section->row_size;

	return section->pointers ? *(void **)(void *)at : at;
}

struct output_field output_field_get(const struct output_section *section, size_t row,
				     const struct output_group *group,
				     const struct output_column *column)
{
	const void *at = (const char *)output_row(section, row) + group->offset + column->offset;
	struct output_field field = { NULL, NAN, NAN };

	switch (column->type) {
	case OUTPUT_TEXT:
		field.text = column->names ? column->names[*(const unsigned int *)at] :
					     *(const char *const *)at;
		break;
	case OUTPUT_FLAG:
		field.number = *(const bool *)at;
		break;
	case OUTPUT_INTERVAL:
		field.high = ((const double *)at)[1];
		/* fall through */
	default:
		field.number = *(const double *)at;
		break;
	}
	return field;
}

void output_row_progress(const struct output_section *section, size_t row)
{
	if (log_progress_due() && !isatty(STDOUT_FILENO))
		log_progress("writing: row %zu of %zu", row, section->n_rows);
}

bool output_row_is_redundant(const struct output_section *section, size_t row)
{
	const char *at = output_row(section, row);

	return section->redundant && *(const bool *)(at + section->redundant);
}

size_t output_rows_count(const struct output_section *section)
{
	size_t n = 0;

	for (size_t row = 0; row < section->n_rows; row++)
		n += !output_row_is_redundant(section, row);
	return n;
}

bool output_field_is_absent(const struct output_field *field, enum output_type type)
{
	return type == OUTPUT_TEXT ? !field->text : isnan(field->number);
}
