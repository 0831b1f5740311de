// SPDX-License-Identifier: GPL-2.0-or-later
/* The same rows as table, CSV, JSON. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/csv.h"
#include "output/folded.h"
#include "output/json.h"
#include "output/table.h"

struct side {
	double calls, mean;
};

struct row {
	const char *name;
	bool hot, hidden;
	struct side a, b;
	double pct;
};

static const struct output_column id[] = {
	{ "name", "NAME", OUTPUT_TEXT, OUTPUT_ALWAYS, offsetof(struct row, name) },
	{ "hot", "HOT", OUTPUT_FLAG, OUTPUT_DATA_ONLY, offsetof(struct row, hot) },
};
static const struct output_column figures[] = {
	{ "calls", "CALLS", OUTPUT_COUNT, 2, offsetof(struct side, calls) },
	{ "mean", "MEAN", OUTPUT_TIME, OUTPUT_ALWAYS, offsetof(struct side, mean) },
};
static const struct output_column pct[] = {
	{ "pct", "%", OUTPUT_PERCENT, 1, offsetof(struct row, pct) },
	{ "name", "AGAIN", OUTPUT_TEXT, OUTPUT_TABLE_ONLY, offsetof(struct row, name) },
};
static const struct output_group groups[] = {
	{ NULL, 0, id, 2 },
	{ "baseline", offsetof(struct row, a), figures, 2 },
	{ "hardened", offsetof(struct row, b), figures, 2 },
	{ NULL, 0, pct, 2 },
};

static const struct row rows[] = {
	{ "clone", true, false, { 20, 11803112 }, { 20, 14137000 }, 19.77 },
	{ "say \"hi\", x\n", false, false, { 1, 0.5 }, { NAN, NAN }, NAN },
	{ "hidden", false, true, { 3, 3 }, { 3, 3 }, 0 },
};

static bool is_hidden(const void *row)
{
	return ((const struct row *)row)->hidden;
}

static struct output_section section(size_t n)
{
	return (struct output_section){
		groups, 4, rows, n, sizeof(*rows), PROFILE_CLOCK_INSN, .is_redundant = is_hidden
	};
}

static void check_table(size_t n_rows, struct output_table_options options, const char *expected)
{
	struct output_section s = section(n_rows);
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);

	output_table_write(f, &s, &options);
	fclose(f);
	assert_string_equal(out, expected);
	free(out);
}

static void test_table(void **state)
{
	(void)state;
	check_table(3, (struct output_table_options){ 0 },
		    "                 --- baseline ----  --- hardened ----\n"
		    "NAME             CALLS        MEAN  CALLS        MEAN        %  AGAIN\n"
		    "clone               20  11,803,112     20  14,137,000  +19.8 %  clone\n"
		    "say \"hi\", x\\x0a      1         0.5      -           -        -  "
		    "say \"hi\", x\\x0a\n");
	/* Ranks leave in their order, the same on both sides. */
	check_table(1, (struct output_table_options){ .width = 45 },
		    "         baseline    hardened\n"
		    "NAME         MEAN        MEAN        %  AGAIN\n"
		    "clone  11,803,112  14,137,000  +19.8 %  clone\n");
	check_table(3, (struct output_table_options){ .top = 1 },
		    "       --- baseline ----  --- hardened ----\n"
		    "NAME   CALLS        MEAN  CALLS        MEAN        %  AGAIN\n"
		    "clone     20  11,803,112     20  14,137,000  +19.8 %  clone\n"
		    "(1 more; --top=0 shows all)\n");
	check_table(0, (struct output_table_options){ 0 },
		    "      baseline  hardened\n"
		    "NAME      MEAN      MEAN  AGAIN\n");
}

static void test_truncate(void **state)
{
	static const struct output_group name_only[] = { { NULL, 0, id, 1 } };
	static const struct row long_name[] = { { .name = "a_very_long_name_of_a_function" } };
	struct output_section s = { name_only, 1, long_name, 1, sizeof(*long_name), 0, NULL };
	struct output_table_options options = { .width = 20, .truncate = true };
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);

	(void)state;
	output_table_write(f, &s, &options);
	options.width = 2; /* never shorter than can be told apart */
	output_table_write(f, &s, &options);
	options.truncate = false; /* a file keeps names whole */
	output_table_write(f, &s, &options);
	fclose(f);
	assert_string_equal(out, "NAME\na_very_long_name_o..\nNAME\na_very_lon..\n"
				 "NAME\na_very_long_name_of_a_function\n");
	free(out);
}

static void test_csv(void **state)
{
	struct output_section s = section(2);
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);

	(void)state;
	output_csv_write(f, &s);
	fclose(f);
	assert_string_equal(out,
			    "name,hot,baseline_calls,baseline_mean,hardened_calls,hardened_mean,"
			    "pct\n"
			    "clone,true,20,11803112,20,14137000,19.77\n"
			    "\"say \"\"hi\"\", x\\x0a\",false,1,0.5,,,\n");
	free(out);
}

static void test_json(void **state)
{
	struct output_section s = section(2);
	json_t *json = output_json_rows(&s), *row;

	(void)state;
	assert_int_equal(json_array_size(json), 2);
	row = json_array_get(json, 0);
	assert_true(json_is_true(json_object_get(row, "hot")));
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(row, "baseline"), "mean")),
		11803112);
	assert_null(json_object_get(row, "AGAIN"));
	row = json_array_get(json, 1);
	assert_string_equal(json_string_value(json_object_get(row, "name")), "say \"hi\", x\n");
	assert_true(json_is_null(json_object_get(row, "hardened")));
	assert_true(json_is_null(json_object_get(row, "pct")));
	json_decref(json);
}

static void test_json_values(void **state)
{
	json_t *json = json_object();
	char *text;

	(void)state;
	output_json_set(json, "\xff", output_json_text("\xfe"));
	output_json_set(json, "big", output_json_count(UINT64_MAX - 1));
	output_json_set(json, "none", output_json_count(PROFILE_NOT_COUNTED));
	output_json_set(json, "inf", output_json_number(INFINITY));
	text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(3));
	assert_string_equal(text, "{\"\\\\xff\":\"\\\\xfe\",\"big\":1.84e19,\"none\":null,"
				  "\"inf\":null}");
	free(text);
	json_decref(json);
}

static void test_folded(void **state)
{
	static char first[] = "a;b", second[] = "c";
	static const struct output_folded_line lines[] = {
		{ first, { 3, 0.5 } },
		{ second, { 0, 1e6 } },
	};
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);

	(void)state;
	output_folded_write(f, lines, 2, 1);
	output_folded_write(f, lines, 2, 2);
	fclose(f);
	assert_string_equal(out, "a;b 3\nc 0\na;b 3 0.500\nc 0 1000000\n");
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),       cmocka_unit_test(test_truncate),
		cmocka_unit_test(test_csv),         cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_values), cmocka_unit_test(test_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
