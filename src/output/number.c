// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"

/* Larger numbers are shown with an exponent. */
#define DIGITS_LIMIT 1e15
#define NUMBER_MAX   48 /* size of a buffer for any formatted double */

bool output_number_is_whole(double value)
{
	return fabs(value) <= 0x1p53 && value == trunc(value);
}

/* Write VALUE with DECIMALS digits after the point and separated thousands. SIGN: write "+" before positive numbers. */
static void put_separated(char *buf, double value, int decimals, bool sign)
{
	char digits[NUMBER_MAX];
	size_t n, whole;
	char *out = buf;

	if (!(fabs(value) < DIGITS_LIMIT)) {
		snprintf(buf, NUMBER_MAX, sign ? "%+.3e" : "%.3e", value);
		return;
	}
	snprintf(digits, sizeof(digits), "%.*f", decimals, fabs(value));
	n = strlen(digits);
	whole = decimals ? n - decimals - 1 : n;
	if (strspn(digits, "0.") < n) {
		if (value < 0)
			*out++ = '-';
		else if (sign)
			*out++ = '+';
	}
	for (size_t i = 0; i < n; i++) {
		*out++ = digits[i];
		if (i + 1 < whole && (whole - i - 1) % 3 == 0)
			*out++ = ',';
	}
	*out = '\0';
}

/* Return the number of decimals that makes four significant digits; 0 for numbers of 1,000 and more. */
static int decimals_for(double value)
{
	double size = fabs(value);

	return size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0;
}

static void put_ns(char *buf, double value, bool sign)
{
	static const struct {
		double limit, scale;
		const char *unit;
	} units[] = {
		{ 999.95, 1, " ns" },
		{ 999.95e3, 1e3, " us" },
		{ 999.95e6, 1e6, " ms" },
		{ INFINITY, 1e9, " s" },
	};
	double scaled;
	size_t i;

	for (i = 0; i < 3 && fabs(value) >= units[i].limit; i++)
		;
	scaled = value / units[i].scale;
	put_separated(buf, scaled,
		      i == 0 && output_number_is_whole(value) ? 0 : decimals_for(scaled), sign);
	strcat(buf, units[i].unit);
}

static void put_count(char *buf, double value, bool sign)
{
	/* Show one decimal of a mean if it is below 100 and not whole. */
	put_separated(buf, value, output_number_is_whole(value) || fabs(value) >= 100 ? 0 : 1,
		      sign);
}

static void put_percent(char *buf, double value)
{
	double size = fabs(value);

	put_separated(buf, value, size < 9.995 ? 2 : size < 999.95 ? 1 : 0, true);
	strcat(buf, " %");
}

/* Return one of OUTPUT_NUMBERS static buffers, each in turn. */
static char *next_buffer(void)
{
	static char buffers[OUTPUT_NUMBERS][NUMBER_MAX];
	static unsigned int n;

	return buffers[n++ % OUTPUT_NUMBERS];
}

const char *output_digits(double value, int digits)
{
	char *buf = next_buffer();

	if (isnan(value))
		strcpy(buf, "-");
	else if (fabs(value) < 999.5)
		snprintf(buf, NUMBER_MAX, "%.*g", digits, value);
	else /* printf("%g") would write an exponent */
		put_separated(buf, value, 0, false);
	return buf;
}

const char *output_number(enum output_type type, double value, enum profile_clock clock)
{
	char *buf = next_buffer();

	if (isnan(value)) {
		strcpy(buf, "-");
		return buf;
	}
	switch (type) {
	case OUTPUT_FLAG:
		strcpy(buf, value != 0 ? "yes" : "no");
		break;
	case OUTPUT_PERCENT:
		put_percent(buf, value);
		break;
	case OUTPUT_FRACTION:
		put_separated(buf, value, 2, false);
		break;
	case OUTPUT_PROBABILITY:
		if (value < 0.001)
			strcpy(buf, "<0.001");
		else
			put_separated(buf, value, 3, false);
		break;
	case OUTPUT_TIME:
	case OUTPUT_DELTA:
		if (clock == PROFILE_CLOCK_NS)
			put_ns(buf, value, type == OUTPUT_DELTA);
		else
			put_count(buf, value, type == OUTPUT_DELTA);
		break;
	case OUTPUT_CHANGE:
		put_count(buf, value, true);
		break;
	case OUTPUT_RATE:
		put_separated(buf, value, output_number_is_whole(value) ? 0 : decimals_for(value),
			      false);
		break;
	default:
		put_count(buf, value, false);
		break;
	}
	return buf;
}

const char *output_unit(enum profile_clock clock, double n)
{
	return clock == PROFILE_CLOCK_INSN ? plural(n, " instruction", " instructions") : "";
}

const char *output_amount(enum output_type type, double value, enum profile_clock clock)
{
	const char *number = output_number(type, value, clock);
	char *buf = next_buffer();

	snprintf(buf, NUMBER_MAX, "%s%s", number, output_unit(clock, value));
	return buf;
}

const char *output_number_plain(double value)
{
	char *buf = next_buffer();

	if (!isfinite(value))
		buf[0] = '\0';
	else if (output_number_is_whole(value))
		snprintf(buf, NUMBER_MAX, "%.0f", value + 0.0); /* adding 0.0 makes -0 positive */
	else
		snprintf(buf, NUMBER_MAX, "%.12g", value);
	return buf;
}
