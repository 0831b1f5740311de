// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/table.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "output/number.h"
#include "output/text.h"

#define GAP          2 /* blanks between two columns */
#define MIN_TRUNC    12
#define ELASTIC_ROOM 20 /* minimum width of elastic text; rather leave out columns */

/* A column of the table, with its formatted cells. */
struct field {
	const struct output_group *group;
	const struct output_column *column;
	char *header;
	char **cells; /* indexed by shown row */
	unsigned int width;
	bool left_out;
};

struct layout {
	struct field *fields;
	size_t n_fields, cap_fields;
	size_t *rows; /* indexes of the shown rows in the section */
	size_t n_rows;
};

char *output_cell_text(const struct output_section *section, size_t row,
		       const struct output_group *group, const struct output_column *column)
{
	struct output_field value = output_field_get(section, row, group, column);
	const char *mark = NULL;

	if (column->type != OUTPUT_TEXT) {
		if (column->estimable && section->mark && !isnan(value.number))
			mark = section->mark(output_row(section, row), group);
		return alloc_printf("%s%s", mark ? mark : "",
				    output_number(column->type, value.number, section->clock));
	}
	if (!value.text)
		return alloc_strdup("-");
	if (column->label)
		value.text = column->label(value.text);
	return column->is_raw ? output_name_escape(value.text) : output_text_escape(value.text);
}

char *output_header_text(const struct output_section *section, const struct output_column *column)
{
	bool prefixed = column->prefixed && section->prefix;

	return alloc_printf("%s%s%s", prefixed ? section->prefix : "", prefixed ? " " : "",
			    column->header);
}

static double row_weight(const struct output_section *section, size_t row)
{
	double weight;

	memcpy(&weight, (const char *)output_row(section, row) + section->weight, sizeof(weight));
	return fabs(weight);
}

/* Return the minimum weight of shown rows: the fraction LEAST of the greatest weight. */
static double least_weight(const struct output_section *section, double least)
{
	double greatest = 0;

	for (size_t row = 0; section->weight && row < section->n_rows; row++)
		if (!output_row_is_redundant(section, row))
			greatest = fmax(greatest, row_weight(section, row));
	return least * greatest;
}

static void select_rows(struct layout *l, const struct output_section *section,
			const struct output_table_options *options)
{
	double least = least_weight(section, options->least);

	l->rows = alloc_array(section->n_rows, sizeof(*l->rows));
	for (size_t row = 0; row < section->n_rows; row++) {
		if (output_row_is_redundant(section, row))
			continue;
		if ((options->top && l->n_rows == options->top) ||
		    (least > 0 && row_weight(section, row) < least))
			continue;
		l->rows[l->n_rows++] = row;
	}
}

static void layout_init(struct layout *l, const struct output_section *section,
			const struct output_table_options *options)
{
	memset(l, 0, sizeof(*l));
	select_rows(l, section, options);
	for (size_t row = 0; row < l->n_rows; row++)
		output_row_progress(section, l->rows[row]);
	vec_each(const struct output_group, group, section, groups) {
		for (size_t j = 0; j < group->n_columns; j++) {
			struct field f = { .group = group, .column = &group->columns[j] };

			if (!f.column->header)
				continue;
			f.header = output_header_text(section, f.column);
			f.width = strlen(f.header);
			f.cells = alloc_array(l->n_rows, sizeof(*f.cells));
			for (size_t row = 0; row < l->n_rows; row++) {
				f.cells[row] =
					output_cell_text(section, l->rows[row], f.group, f.column);
				if (strlen(f.cells[row]) > f.width)
					f.width = strlen(f.cells[row]);
			}
			vec_push(l, fields, f);
		}
	}
}

static void layout_deinit(struct layout *l)
{
	for (size_t i = 0; i < l->n_fields; i++) {
		for (size_t row = 0; row < l->n_rows; row++)
			free(l->fields[i].cells[row]);
		free(l->fields[i].cells);
		free(l->fields[i].header);
	}
	free(l->fields);
	free(l->rows);
}

/* Return the table's width if elastic columns are cut to ELASTIC characters; 0: not cut. */
static size_t layout_width_with(const struct layout *l, unsigned int elastic)
{
	size_t width = 0;

	vec_each(const struct field, f, l, fields) {
		if (f->left_out)
			continue;
		width += elastic && f->column->elastic && f->width > elastic ? elastic : f->width;
		width += GAP;
	}
	return width ? width - GAP : 0;
}

static size_t layout_width(const struct layout *l)
{
	return layout_width_with(l, 0);
}

/* Leave out columns without values (except OUTPUT_ALWAYS), and OUTPUT_IF_VARIES columns with the same value in all rows. */
static void leave_out_empty(struct layout *l)
{
	size_t row;

	vec_each(struct field, f, l, fields) {
		int rank = f->column->rank;
		const char *nothing = "-";

		if (rank == OUTPUT_IF_VARIES && l->n_rows)
			nothing = f->cells[0];
		else if (rank <= OUTPUT_ALWAYS && rank != OUTPUT_IF_ANY)
			continue;
		for (row = 0; row < l->n_rows && !strcmp(f->cells[row], nothing); row++)
			;
		f->left_out = row == l->n_rows;
	}
}

/* Leave out all columns of the highest rank, so that both sides of a diff have the same ones. Return false if there are none. */
static bool leave_out_rank(struct layout *l)
{
	int rank = OUTPUT_ALWAYS;

	for (size_t i = 0; i < l->n_fields; i++)
		if (!l->fields[i].left_out && l->fields[i].column->rank > rank)
			rank = l->fields[i].column->rank;
	if (rank == OUTPUT_ALWAYS)
		return false;
	for (size_t i = 0; i < l->n_fields; i++)
		if (l->fields[i].column->rank == rank)
			l->fields[i].left_out = true;
	return true;
}

/* Return the widest text column that can still be cut, or NULL. */
static struct field *widest_text(const struct layout *l, bool elastic_only)
{
	struct field *widest = NULL;

	vec_each(struct field, f, l, fields)
		if (!f->left_out && f->column->type == OUTPUT_TEXT && f->width > MIN_TRUNC &&
		    (f->column->elastic || !elastic_only) && (!widest || f->width > widest->width))
			widest = f;
	return widest;
}

static void cut(const struct field *f, char *text)
{
	size_t len = strlen(text);

	if (len <= f->width)
		return;
	if (f->column->cut_front) {
		memmove(text, text + len - f->width, f->width + 1);
		memcpy(text, "..", 2);
	} else {
		strcpy(text + f->width - 2, "..");
	}
}

/* Cut the widest text column, one character at a time, until the table fits in WIDTH or no text can be cut. */
static void truncate_text(struct layout *l, unsigned int width, bool elastic_only)
{
	size_t excess = layout_width(l) > width ? layout_width(l) - width : 0, i, row;
	struct field *f;

	for (; excess && (f = widest_text(l, elastic_only)) != NULL; excess--)
		f->width--;
	for (i = 0; i < l->n_fields; i++)
		for (row = 0; row < l->n_rows; row++)
			cut(&l->fields[i], l->fields[i].cells[row]);
}

/* Return the end (exclusive) of the group of columns at I. Set *LAST to its last shown column or NULL, *WIDTH to the width. */
static size_t group_end(const struct layout *l, size_t i, struct field **last, size_t *width)
{
	const struct output_group *group = l->fields[i].group;

	*last = NULL;
	*width = 0;
	for (; i < l->n_fields && l->fields[i].group == group; i++) {
		if (l->fields[i].left_out)
			continue;
		*last = &l->fields[i];
		*width += l->fields[i].width + GAP;
	}
	return i;
}

/* Widen groups of columns that are narrower than their names. */
static void widen_groups(struct layout *l)
{
	struct field *last;
	size_t end, width;

	for (size_t i = 0; i < l->n_fields; i = end) {
		const char *key = l->fields[i].group->key;

		end = group_end(l, i, &last, &width);
		if (key && last && width < strlen(key) + GAP)
			last->width += strlen(key) + GAP - width;
	}
}

static void layout_fit(struct layout *l, const struct output_table_options *options)
{
	leave_out_empty(l);
	widen_groups(l);
	if (!options->width)
		return;
	while (layout_width_with(l, ELASTIC_ROOM) > options->width && leave_out_rank(l))
		widen_groups(l);
	truncate_text(l, options->width, true);
	if (options->truncate)
		truncate_text(l, options->width, false);
}

static void put_times(FILE *out, char c, size_t n)
{
	while (n--)
		fputc(c, out);
}

/* Write the groups' names in a line above the headers, "---- baseline ----". Write no line if no group has a name. */
static void write_groups(FILE *out, const struct layout *l)
{
	size_t end, width, pending = 0;
	struct field *last;
	bool any = false;

	for (size_t i = 0; i < l->n_fields; i++)
		any |= l->fields[i].group->key && !l->fields[i].left_out;
	for (size_t i = 0; any && i < l->n_fields; i = end) {
		const char *key = l->fields[i].group->key;
		size_t dashes;

		end = group_end(l, i, &last, &width);
		if (!key || !last) {
			pending += width;
			continue;
		}
		put_times(out, ' ', pending);
		dashes = width - GAP - strlen(key);
		/* Write blanks around the name, unless it would leave no space for dashes. */
		if (dashes < 4) {
			put_times(out, ' ', dashes);
			fputs(key, out);
		} else {
			put_times(out, '-', (dashes - 2) / 2);
			fprintf(out, " %s ", key);
			put_times(out, '-', dashes - 2 - (dashes - 2) / 2);
		}
		pending = GAP;
	}
	if (any)
		fputc('\n', out);
}

/* Write row number ROW without trailing blanks; the headers if ROW is -1. */
static void write_row(FILE *out, const struct layout *l, ssize_t row)
{
	size_t pending = 0;

	vec_each(const struct field, f, l, fields) {
		const char *text = row < 0 ? f->header : f->cells[row];
		size_t blanks;

		if (f->left_out)
			continue;
		blanks = strlen(text) < f->width ? f->width - strlen(text) : 0;
		if (f->column->type == OUTPUT_TEXT || f->column->type == OUTPUT_FLAG)
			fprintf(out, "%*s%s", (int)pending, "", text);
		else
			fprintf(out, "%*s%s", (int)(pending + blanks), "", text);
		pending = f->column->type == OUTPUT_TEXT || f->column->type == OUTPUT_FLAG ?
				  blanks + GAP :
				  GAP;
	}
	fputc('\n', out);
}

void output_table_write(FILE *out, const struct output_section *section,
			const struct output_table_options *options)
{
	scoped(layout_deinit) struct layout l;

	layout_init(&l, section, options);
	layout_fit(&l, options);
	write_groups(out, &l);
	write_row(out, &l, -1);
	for (size_t row = 0; row < l.n_rows; row++)
		write_row(out, &l, row);
}

size_t output_table_shown(const struct output_section *section,
			  const struct output_table_options *options)
{
	struct layout l = { .rows = NULL };

	select_rows(&l, section, options);
	free(l.rows);
	return l.n_rows;
}
