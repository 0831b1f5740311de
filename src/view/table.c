// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

const struct view_table *view_list_find(const struct view_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->n_tables; i++)
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

void view_rows_init(struct view_rows *rows, const struct view_table *table, const void *data,
		    bool for_people)
{
	memset(rows, 0, sizeof(*rows));
	rows->for_people = for_people;
	rows->section.groups = table->groups;
	rows->section.n_groups = table->n_groups;
	rows->section.is_redundant = table->is_redundant;
	rows->section.mark = table->mark;
	rows->section.prepare = table->prepare;
	rows->section.weight = table->weight;
	table->rows(rows, data);
}

void view_rows_deinit(struct view_rows *rows)
{
	uint32_t i;

	for (i = 0; i < rows->n_texts; i++)
		free(rows->texts[i]);
	free(rows->texts);
	free(rows->owned);
}

size_t view_rows_count(const struct view_rows *rows)
{
	const struct output_section *s = &rows->section;
	size_t i, n = 0;

	for (i = 0; i < s->n_rows; i++)
		n += !s->is_redundant || !s->is_redundant((const char *)s->rows + i * s->row_size);
	return n;
}

const char *view_rows_text(struct view_rows *rows, char *text)
{
	vec_push(rows, texts, text);
	return text;
}
