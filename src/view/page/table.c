// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/page/table.h"

#include <string.h>

#include "base/alloc.h"
#include "view/page/columns.h"

const struct view_table *view_list_find(const struct view_list *list, const char *name)
{
	for (size_t i = 0; i < list->n_tables; i++)
		if (!strcmp(list->tables[i]->name, name))
			return list->tables[i];
	return NULL;
}

bool view_table_is_in(const struct view_table *table, enum view_places place)
{
	return !table->places || table->places & place;
}

const char **view_list_names(const struct view_list *list)
{
	const char **names = alloc_array(list->n_tables + 1, sizeof(*names));

	for (size_t i = 0; i < list->n_tables; i++)
		names[i] = list->tables[i]->name;
	return names;
}

static void make_lines(struct view_rows *rows, const struct view_table *table, const void *data)
{
	const struct output_section list = rows->section;
	size_t size = table->line_size, n = 0;
	char *lines = view_rows_new(rows, list.n_rows, size);

	for (size_t i = 0; i < list.n_rows; i++) {
		memset(lines + n * size, 0, size);
		memcpy(lines + n * size, output_row(&list, i), list.row_size);
		n += table->line(rows, lines + n * size, data);
	}
	rows->section.n_rows = n;
}

void view_rows_init(struct view_rows *rows, const struct view_table *table, const void *data,
		    bool for_people)
{
	const struct view_data *common = data;
	const char *list = (const char *)data + table->list;

	*rows = (struct view_rows){ .for_people = for_people };
	rows->section = (struct output_section){ .groups = table->groups,
						 .n_groups = table->n_groups,
						 .row_size = table->row_size,
						 .clock = common->clock,
						 .prefix = common->prefix,
						 .redundant = table->redundant,
						 .mark = table->mark,
						 .weight = table->weight };
	if (table->row_size) {
		memcpy(&rows->section.rows, list, sizeof(rows->section.rows));
		rows->section.n_rows = *(const uint32_t *)((const char *)data + table->list_n);
	}
	if (table->line)
		make_lines(rows, table, data);
	if (table->rows)
		table->rows(rows, data);
}

void *view_rows_new(struct view_rows *rows, size_t n, size_t size)
{
	rows->section.rows = rows->owned = alloc_array(n, size);
	rows->section.n_rows = n;
	rows->section.row_size = size;
	return rows->owned;
}

void view_rows_refer(struct view_rows *rows, const void *list, size_t n, size_t size)
{
	struct output_section *section = &rows->section;
	const char **at = alloc_resize(rows->owned, section->n_rows + n, sizeof(*at));

	section->rows = rows->owned = at;
	section->row_size = sizeof(*at);
	section->pointers = true;
	for (size_t i = 0; i < n; i++)
		at[section->n_rows++] = (const char *)list + i * size;
}

void view_rows_deinit(struct view_rows *rows)
{
	alloc_texts_free(&rows->texts);
	free(rows->owned);
}

const struct output_column view_distribution[] = {
	COLUMN("p50", TIME, analyze_figures, p50), COLUMN("p90", TIME, analyze_figures, p90),
	COLUMN("p99", TIME, analyze_figures, p99), COLUMN("p999", TIME, analyze_figures, p999),
	COLUMN("min", TIME, analyze_figures, min), COLUMN("max", TIME, analyze_figures, max),
};

const struct output_column view_all_times[] = {
	COLUMN("oncpu_total", TIME, analyze_figures, totals[ANALYZE_TIME_ONCPU]),
	COLUMN("oncpu_mean", TIME, analyze_figures, means[ANALYZE_TIME_ONCPU]),
	COLUMN("wall_total", TIME, analyze_figures, totals[ANALYZE_TIME_WALL]),
	COLUMN("wall_mean", TIME, analyze_figures, means[ANALYZE_TIME_WALL]),
	COLUMN("self_total", TIME, analyze_figures, totals[ANALYZE_TIME_SELF]),
	COLUMN("self_mean", TIME, analyze_figures, means[ANALYZE_TIME_SELF]),
};
