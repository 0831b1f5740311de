// SPDX-License-Identifier: GPL-2.0-or-later
/* Write the same rows as a table, as CSV and as JSON. */
#include <math.h>

#include "test.h"
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
	{ "hot", NULL, OUTPUT_FLAG, OUTPUT_ALWAYS, offsetof(struct row, hot) },
};
static const struct output_column figures[] = {
	{ "calls", "CALLS", OUTPUT_COUNT, 2, offsetof(struct side, calls) },
	{ "mean", "MEAN", OUTPUT_TIME, OUTPUT_ALWAYS, offsetof(struct side, mean) },
};
static const struct output_column pct[] = {
	{ "pct", "%", OUTPUT_PERCENT, 1, offsetof(struct row, pct) },
	{ NULL, "AGAIN", OUTPUT_TEXT, OUTPUT_ALWAYS, offsetof(struct row, name) },
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

static struct output_section section(size_t n)
{
	return (struct output_section){ groups,
					4,
					rows,
					n,
					sizeof(*rows),
					PROFILE_CLOCK_INSN,
					.redundant = offsetof(struct row, hidden) };
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

TEST(tables_are_aligned)
{
	check_table(3, (struct output_table_options){ 0 },
		    "                 --- baseline ----  --- hardened ----\n"
		    "NAME             CALLS        MEAN  CALLS        MEAN        %  AGAIN\n"
		    "clone               20  11,803,112     20  14,137,000  +19.8 %  clone\n"
		    "say \"hi\", x\\x0a      1         0.5      -           -        -  "
		    "say \"hi\", x\\x0a\n");
	/* If the table is too wide, columns of low rank are left out, for both recordings alike. */
	check_table(1, (struct output_table_options){ .width = 45 },
		    "         baseline    hardened\n"
		    "NAME         MEAN        MEAN        %  AGAIN\n"
		    "clone  11,803,112  14,137,000  +19.8 %  clone\n");
	check_table(3, (struct output_table_options){ .top = 1 },
		    "       --- baseline ----  --- hardened ----\n"
		    "NAME   CALLS        MEAN  CALLS        MEAN        %  AGAIN\n"
		    "clone     20  11,803,112     20  14,137,000  +19.8 %  clone\n");
	check_table(0, (struct output_table_options){ 0 },
		    "      baseline  hardened\n"
		    "NAME      MEAN      MEAN  AGAIN\n");
}

/* Rows with a small weight are left out, rows with an unknown weight are not. A column with only one text may be left out. */
TEST(rows_with_a_small_weight_are_left_out)
{
	static const struct output_column columns[] = {
		{ "name", "NAME", OUTPUT_TEXT, OUTPUT_IF_VARIES, offsetof(struct row, name) },
		{ "pct", "%", OUTPUT_PERCENT, OUTPUT_ALWAYS, offsetof(struct row, pct) },
		{ .header = "CALLS",
		  .type = OUTPUT_COUNT,
		  .offset = offsetof(struct row, a.calls) },
		{ .key = "b", .type = OUTPUT_COUNT, .offset = offsetof(struct row, b.calls) },
	};
	static const struct output_group group[] = { { NULL, 0, columns, 4 } };
	static const struct row changes[] = {
		{ .name = "clone", .pct = -50 },
		{ .name = "clone", .pct = NAN },
		{ .name = "clone", .pct = 0.4 },
		{ .name = "mmap", .pct = 400, .hidden = true },
	};
	struct output_section s = { group,
				    1,
				    changes,
				    4,
				    sizeof(*changes),
				    PROFILE_CLOCK_INSN,
				    .redundant = offsetof(struct row, hidden),
				    .weight = offsetof(struct row, pct) };
	struct output_table_options options = { .least = 0.01 };
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);

	assert_int_equal(output_table_shown(&s, &options), 2);
	output_table_write(f, &s, &options);
	fclose(f);
	assert_string_equal(out, "      %  CALLS\n"
				 "-50.0 %      0\n"
				 "      -      0\n");
	free(out);
	options.least = 0;
	assert_int_equal(output_table_shown(&s, &options), 3);
	options.top = 1;
	assert_int_equal(output_table_shown(&s, &options), 1);
}

TEST(long_texts_are_truncated)
{
	static const struct output_group name_only[] = { { NULL, 0, id, 1 } };
	static const struct row long_name[] = { { .name = "a_very_long_name_of_a_function" } };
	struct output_section s = { name_only, 1, long_name, 1, sizeof(*long_name), 0, NULL };
	struct output_table_options options = { .width = 20, .truncate = true };
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);

	output_table_write(f, &s, &options);
	options.width = 2; /* long enough to distinguish names */
	output_table_write(f, &s, &options);
	options.truncate = false; /* names in files are not cut */
	output_table_write(f, &s, &options);
	fclose(f);
	assert_string_equal(out, "NAME\na_very_long_name_o..\nNAME\na_very_lon..\n"
				 "NAME\na_very_long_name_of_a_function\n");
	free(out);
}

TEST(csv_quotes_what_needs_it)
{
	struct output_section s = section(2);
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);

	output_csv_write(f, &s);
	fclose(f);
	assert_string_equal(out,
			    "name,hot,baseline_calls,baseline_mean,hardened_calls,hardened_mean,"
			    "pct\n"
			    "clone,true,20,11803112,20,14137000,19.77\n"
			    "\"say \"\"hi\"\", x\\x0a\",false,1,0.5,,,\n");
	free(out);
}

TEST(texts_are_no_formulas_for_spreadsheets)
{
	static const struct row formulas[] = {
		{ "=1+1" }, { "+1" }, { "-1" }, { "@f(\"a\")" }, { "\t=1" }, { "", .pct = -1 },
	};
	struct output_section s = section(ARRAY_SIZE(formulas));
	const char *expected[] = { "'=1+1", "'+1", "'-1", "\"'@f(\"\"a\"\")\"", "\\x09=1", "" };
	char *out = NULL, *line;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);

	s.rows = formulas;
	output_csv_write(f, &s);
	fclose(f);
	line = out;
	for (size_t i = 0; i < ARRAY_SIZE(formulas); i++) {
		line = strchr(line, '\n') + 1;
		if (strncmp(line, expected[i], strlen(expected[i])) != 0)
			fail_msg("%zu: %s", i, line);
	}
	assert_non_null(strstr(line, ",-1\n"));
	free(out);
}

TEST(json_has_all_columns)
{
	struct output_section s = section(2);
	json_t *json = output_json_rows(&s), *row;

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

TEST(json_has_null_for_unknown_values)
{
	json_t *json = json_object();
	char *text;

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

TEST(folded_stacks_are_lines_of_frames_and_counts)
{
	struct analyze_frame first[] = { { ANALYZE_FRAME_OTHER, "a" },
					 { ANALYZE_FRAME_OTHER, "b" } };
	struct analyze_frame second[] = { { ANALYZE_FRAME_OTHER, "c" } };
	struct analyze_stack stack_rows[] = {
		{ .frames = second, .n_frames = 1, .count = { 0, 1e6 } },
		{ .frames = first, .n_frames = 2, .count = { 3, 0.5 } },
	};
	const struct analyze_stacks stacks = { .rows = stack_rows, .n_rows = 2 };
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);

	output_folded_write(f, &stacks, 1);
	output_folded_write(f, &stacks, 2);
	fclose(f);
	assert_string_equal(out, "a;b 3\nc 0\na;b 3 0.500\nc 0 1000000\n");
	free(out);
}

RUN_TESTS(NULL, NULL)
