// SPDX-License-Identifier: GPL-2.0-or-later
/* docs/json.md names every table and every key of report, diff and changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "view/changes.h"
#include "view/diff.h"
#include "view/report.h"
#include "view/page/writer.h"

/* Tests run in the top folder. */
#define DOCS "docs/json.md"

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

/* Whether DOCS has `NAME`. */
static bool has(const char *docs, const char *name)
{
	char *quoted = alloc_printf("`%s`", name);
	bool found = strstr(docs, quoted);

	free(quoted);
	if (!found)
		print_error(DOCS " does not name `%s`\n", name);
	return found;
}

static uint32_t count_missing(const char *docs, const struct view_list *list)
{
	uint32_t missing = 0;
	size_t t, g, c;

	for (t = 0; t < list->n_tables; t++) {
		const struct view_table *table = list->tables[t];

		missing += !has(docs, table->name);
		for (g = 0; g < table->n_groups; g++)
			for (c = 0; c < table->groups[g].n_columns; c++)
				if (output_column_in_data(&table->groups[g].columns[c]))
					missing += !has(docs, table->groups[g].columns[c].key);
	}
	return missing;
}

static void test_docs_name_all(void **state)
{
	char *docs = read_docs();

	(void)state;
	assert_int_equal(count_missing(docs, &view_report_list), 0);
	assert_int_equal(count_missing(docs, &view_diff_list), 0);
	assert_int_equal(count_missing(docs, &view_changes_list), 0);
	free(docs);
}

/* What a descriptor must have to be shown at all. */
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

static void test_tables_are_complete(void **state)
{
	(void)state;
	check_list(&view_report_list);
	check_list(&view_diff_list);
	check_list(&view_changes_list);
	assert_null(view_list_find(&view_diff_list, "losses"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_docs_name_all),
		cmocka_unit_test(test_tables_are_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
