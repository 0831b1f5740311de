// SPDX-License-Identifier: GPL-2.0-or-later
/* Format numbers as text. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "test.h"
#include "output/number.h"
#include "output/text.h"

static void check(enum output_type type, enum profile_clock clock, double value, const char *text)
{
	assert_string_equal(output_number(type, value, clock), text);
}

TEST(instructions_are_whole_with_commas)
{
	check(OUTPUT_TIME, PROFILE_CLOCK_INSN, NAN, "-");
	check(OUTPUT_TIME, PROFILE_CLOCK_INSN, 0, "0");
	check(OUTPUT_TIME, PROFILE_CLOCK_INSN, 7, "7");
	check(OUTPUT_TIME, PROFILE_CLOCK_INSN, 7.25, "7.2");
	check(OUTPUT_TIME, PROFILE_CLOCK_INSN, 943.4, "943");
	check(OUTPUT_TIME, PROFILE_CLOCK_INSN, 1000, "1,000");
	check(OUTPUT_TIME, PROFILE_CLOCK_INSN, 11803112.55, "11,803,113");
	check(OUTPUT_TIME, PROFILE_CLOCK_INSN, 999999.5, "1,000,000");
	check(OUTPUT_TIME, PROFILE_CLOCK_INSN, -46.5, "-46.5");
	check(OUTPUT_DELTA, PROFILE_CLOCK_INSN, 2331000, "+2,331,000");
	check(OUTPUT_DELTA, PROFILE_CLOCK_INSN, -2331000, "-2,331,000");
	check(OUTPUT_DELTA, PROFILE_CLOCK_INSN, 0, "0");
	check(OUTPUT_DELTA, PROFILE_CLOCK_INSN, -0.01, "0.0");
	check(OUTPUT_TIME, PROFILE_CLOCK_INSN, 1e18, "1.000e+18");
	check(OUTPUT_TIME, PROFILE_CLOCK_INSN, INFINITY, "inf");
}

TEST(nanoseconds_have_units)
{
	check(OUTPUT_TIME, PROFILE_CLOCK_NS, 0, "0 ns");
	check(OUTPUT_TIME, PROFILE_CLOCK_NS, 360, "360 ns");
	check(OUTPUT_TIME, PROFILE_CLOCK_NS, 12.34, "12.34 ns");
	check(OUTPUT_TIME, PROFILE_CLOCK_NS, 999.96, "1.000 us");
	check(OUTPUT_TIME, PROFILE_CLOCK_NS, 1234, "1.234 us");
	check(OUTPUT_TIME, PROFILE_CLOCK_NS, 12345, "12.35 us");
	check(OUTPUT_TIME, PROFILE_CLOCK_NS, 999.96e3, "1.000 ms");
	check(OUTPUT_TIME, PROFILE_CLOCK_NS, 123456789, "123.5 ms");
	check(OUTPUT_TIME, PROFILE_CLOCK_NS, 5e9, "5.000 s");
	check(OUTPUT_TIME, PROFILE_CLOCK_NS, 5e12, "5,000 s");
	check(OUTPUT_DELTA, PROFILE_CLOCK_NS, -1234, "-1.234 us");
	check(OUTPUT_DELTA, PROFILE_CLOCK_NS, 1234, "+1.234 us");
}

TEST(other_columns_have_their_formats)
{
	check(OUTPUT_COUNT, PROFILE_CLOCK_NS, 120180, "120,180");
	check(OUTPUT_COUNT, PROFILE_CLOCK_NS, 2.5, "2.5");
	check(OUTPUT_PERCENT, PROFILE_CLOCK_NS, 0.6, "+0.60 %");
	check(OUTPUT_PERCENT, PROFILE_CLOCK_NS, 19.77, "+19.8 %");
	check(OUTPUT_PERCENT, PROFILE_CLOCK_NS, -19.77, "-19.8 %");
	check(OUTPUT_PERCENT, PROFILE_CLOCK_NS, 1113.8, "+1,114 %");
	check(OUTPUT_PERCENT, PROFILE_CLOCK_NS, -0.0001, "0.00 %");
	check(OUTPUT_FRACTION, PROFILE_CLOCK_NS, 1.011, "1.01");
	check(OUTPUT_FRACTION, PROFILE_CLOCK_NS, -0.5, "-0.50");
	check(OUTPUT_FLAG, PROFILE_CLOCK_NS, 1, "yes");
}

TEST(no_value_overruns_the_buffer)
{
	static const double values[] = { DBL_MAX,  -DBL_MAX,  DBL_MIN, -DBL_MIN,
					 1e15,     -999999e9, 9e14,    -999999999999999.4,
					 INFINITY, -INFINITY, 0x1p53,  NAN,
					 -0.0,     1e-300,    99.9951 };
	size_t i;
	int type, clock;

	for (i = 0; i < sizeof(values) / sizeof(*values); i++) {
		for (type = OUTPUT_FLAG; type <= OUTPUT_FRACTION; type++)
			for (clock = 0; clock < 2; clock++)
				assert_true(strlen(output_number(type, values[i], clock)) < 32);
		assert_true(strlen(output_number_plain(values[i])) < 32);
	}
}

TEST(sentences_have_short_numbers)
{
	const char *texts[OUTPUT_NUMBERS];
	char expected[8];

	for (int i = 0; i < OUTPUT_NUMBERS; i++)
		texts[i] = i % 2 ? output_number_plain(i) :
				   output_number(OUTPUT_COUNT, i, PROFILE_CLOCK_NS);
	for (int i = 0; i < OUTPUT_NUMBERS; i++) {
		snprintf(expected, sizeof(expected), "%d", i);
		assert_string_equal(texts[i], expected);
	}
}

static void check_digits(double value, int digits, const char *text)
{
	assert_string_equal(output_digits(value, digits), text);
}

TEST(precision_follows_the_digits)
{
	check_digits(2, 3, "2");
	check_digits(0.01148, 3, "0.0115");
	check_digits(98.96, 3, "99");
	check_digits(999.4, 3, "999");
	check_digits(999.5, 3, "1,000");
	check_digits(2990.5, 3, "2,990");
	check_digits(65536, 3, "65,536");
	check_digits(-65536, 3, "-65,536");
	check_digits(98.55, 4, "98.55");
	check_digits(1906.25, 4, "1,906");
	check_digits(10000, 4, "10,000");
	check_digits(NAN, 3, "-");
	check_digits(INFINITY, 3, "inf");
}

TEST(files_have_plain_numbers)
{
	assert_string_equal(output_number_plain(NAN), "");
	assert_string_equal(output_number_plain(11803112), "11803112");
	assert_string_equal(output_number_plain(-0.0), "0");
	assert_string_equal(output_number_plain(-0.25), "-0.25");
}

static void check_escape(const char *text, const char *expected)
{
	char *escaped = output_text_escape(text);

	assert_string_equal(escaped, expected);
	free(escaped);
}

TEST(control_characters_are_escaped)
{
	check_escape("", "");
	check_escape("allocate_slab", "allocate_slab");
	check_escape("\033[31m\a\n\x7f", "\\x1b[31m\\x07\\x0a\\x7f");
	/* Escape C1 control characters, which have two bytes in UTF-8. */
	check_escape("\\x1b", "\\x1b");
	check_escape("\xc2\x9b", "\\xc2\\x9b");
}

static void check_wrap(const char *text, unsigned int width, unsigned int column,
		       const char *expected)
{
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);

	output_text_wrap(f, text, width, column, 2);
	fclose(f);
	assert_string_equal(out, expected);
	free(out);
}

TEST(lines_are_wrapped_between_words)
{
	check_wrap("", 10, 0, "\n");
	check_wrap("one two three", 0, 0, "one two three\n");
	check_wrap("one two three", 8, 0, "one two\n  three\n");
	check_wrap("one two three", 8, 4, "one\n  two\n  three\n");
	check_wrap("toolongforaline x", 5, 0, "toolongforaline\n  x\n");
}

RUN_TESTS(NULL, NULL)
