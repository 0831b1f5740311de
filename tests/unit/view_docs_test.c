// SPDX-License-Identifier: GPL-2.0-or-later
/* Check that docs/json.md documents every table and key in the part on the command that prints it. */
#include <stdio.h>

#include "test.h"
#include "base/alloc.h"
#include "view/annotate.h"
#include "view/changes.h"
#include "view/diff.h"
#include "view/list.h"
#include "view/report.h"
#include "view/why.h"
#include "view/page/writer.h"

/* The path is relative to the top folder, in which tests run. */
#define DOCS "docs/json.md"

static const struct view_list *const lists[] = {
	&view_report_list,   &view_diff_list,          &view_changes_list, &view_why_list,
	&view_annotate_list, &view_annotate_diff_list, &view_code_list,    &view_protections_list,
};

static char *read_docs(void)
{
	FILE *f = fopen(DOCS, "r");
	char *text;
	size_t n;

	assert_non_null(f);
	text = alloc_array(1 << 20, 1);
	n = fread(text, 1, (1 << 20) - 1, f);
	assert_true(n > 0 && feof(f));
	fclose(f);
	return text;
}

/* Return the part of DOCS on SCHEMA, after the part on shared rows. The caller frees it. */
static char *part_on(const char *docs, const char *schema)
{
	const char *shared = strstr(docs, "\n## Rows of "), *end = strstr(docs, "\n## kprotperf-");
	char *title = alloc_printf("\n## %s\n", schema), *part = NULL;
	const char *own = strstr(docs, title);
	const char *own_end = own ? strstr(own + 1, "\n## ") : NULL;

	free(title);
	if (!shared || !end || !own_end)
		print_error(DOCS " has no part on %s\n", schema);
	assert_true(shared && end && own_end);
	alloc_append(&part, "%.*s%.*s", (int)(end - shared), shared, (int)(own_end - own), own);
	return part;
}

/* Return whether DOCS has `NAME`. */
static bool has(const char *docs, const char *schema, const char *name)
{
	char *quoted = alloc_printf("`%s`", name);
	bool found = strstr(docs, quoted);

	free(quoted);
	if (!found)
		print_error(DOCS " does not name `%s` of %s\n", name, schema);
	return found;
}

static uint32_t count_missing(const char *all, const struct view_list *list)
{
	char *docs = part_on(all, list->schema);
	uint32_t missing = 0;
	size_t t, g, c;

	for (t = 0; t < list->n_tables; t++) {
		const struct view_table *table = list->tables[t];

		missing += !has(docs, list->schema, table->name);
		for (g = 0; g < table->n_groups; g++)
			for (c = 0; c < table->groups[g].n_columns; c++)
				if (table->groups[g].columns[c].key)
					missing += !has(docs, list->schema,
							table->groups[g].columns[c].key);
	}
	free(docs);
	return missing;
}

TEST(test_docs_name_all)
{
	char *docs = read_docs();
	uint32_t missing = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		missing += count_missing(docs, lists[i]);
	assert_int_equal(missing, 0);
	free(docs);
}

/* Check that each table's descriptor has everything needed to show it. */
static void check_list(const struct view_list *list)
{
	size_t i, j;

	assert_non_null(view_list_find(list, list->csv));
	for (i = 0; i < list->n_tables; i++) {
		const struct view_table *table = list->tables[i];

		for (j = 0; j < i; j++)
			assert_string_not_equal(list->tables[j]->name, table->name);
		if (view_table_is_in(table, VIEW_IN_PAGE))
			assert_true(table->page || table->rows || table->row_size);
		if (view_table_is_in(table, VIEW_IN_JSON))
			assert_true(table->json || table->rows || table->row_size);
		if (view_table_is_in(table, VIEW_IN_CSV))
			assert_true((table->rows || table->row_size) && table->n_groups);
	}
}

TEST(test_tables_are_complete)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		check_list(lists[i]);
	assert_null(view_list_find(&view_diff_list, "losses"));
}

RUN_TESTS(NULL, NULL)
