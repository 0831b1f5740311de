// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/number.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Return the value of the hexadecimal digit C, or at least 16 if C is no digit. */
static unsigned int digit_of(char c)
{
	unsigned int digit = (unsigned char)c - '0';

	if (digit < 10)
		return digit;
	digit = ((unsigned char)c | 32) - 'a';
	return digit < 6 ? digit + 10 : 16;
}

bool number_scan(const char **text, uint64_t *value)
{
	const char *at = *text;
	uint64_t sum = 0;

	for (unsigned int digit; (digit = digit_of(*at)) < 10; at++) {
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, digit, &sum))
			return false;
	}
	if (at == *text)
		return false;
	*text = at;
	*value = sum;
	return true;
}

/* Use shifts, faster than number_scan()'s multiplications: /proc/kallsyms has a hundred thousand hexadecimal numbers. */
bool number_scan_hex(const char **text, uint64_t *value)
{
	const char *at = *text, *start;
	uint64_t sum = 0;
	unsigned int digit;

	if (at[0] == '0' && (at[1] | 32) == 'x')
		at += 2;
	for (start = at; (digit = digit_of(*at)) < 16; at++) {
		if (sum >> 60)
			return false;
		sum = sum << 4 | digit;
	}
	if (at == start)
		return false;
	*text = at;
	*value = sum;
	return true;
}

bool number_scan_double(const char **text, double *value)
{
	char *end;
	double number = strtod(*text, &end);

	/* Refuse hexadecimal numbers, which strtod() accepts. */
	if (end == *text || !isfinite(number) || strcspn(*text, "xX") < (size_t)(end - *text))
		return false;
	*text = end;
	*value = number;
	return true;
}

bool number_unsigned(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	uint64_t number;

	if (!number_scan(&text, &number) || *text || number < min || number > max)
		return false;
	*value = number;
	return true;
}

bool number_double(const char *text, double min, double max, double *value)
{
	double number;

	if (!number_scan_double(&text, &number) || *text || number < min || number > max)
		return false;
	*value = number;
	return true;
}

bool number_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "", 1e9 }, { "s", 1e9 },  { "ms", 1e6 },  { "us", 1e3 },
		      { "ns", 1 }, { "m", 60e9 }, { "h", 3600e9 } };
	double number;

	if (!number_scan_double(&text, &number))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(text, units[i].name) != 0)
			continue;
		number *= units[i].ns;
		if (!(number >= 1) || number > (double)(INT64_MAX / 2))
			return false;
		*ns = (uint64_t)(number + 0.5);
		return true;
	}
	return false;
}

unsigned int number_version(const char *text, unsigned int version[3])
{
	unsigned int n = 0;
	uint64_t number;

	version[0] = version[1] = version[2] = 0;
	while (n < 3 && number_scan(&text, &number) && number <= UINT_MAX) {
		version[n++] = (unsigned int)number;
		if (*text++ != '.')
			break;
	}
	return n;
}

/* ---- subsequence ---- */

#define CELLS_MAX (1u << 24)

bool subsequence_match(uint32_t *of, uint32_t n, uint32_t m, subsequence_fn same, const void *arg)
{
	size_t width = (size_t)m + 1;
	bool fits = n < UINT16_MAX && (n + 1) * width <= CELLS_MAX;
	/* Row I, column J: length of the longest common subsequence of the first sequence from I on and the second from J on. */
	scoped_free uint16_t *lengths = alloc_array(fits ? (n + 1) * width : 1, sizeof(*lengths));

	for (uint32_t i = 0; i < n; i++)
		of[i] = SUBSEQUENCE_NONE;
	for (uint32_t i = fits ? n : 0; i-- > 0;)
		for (uint32_t j = m; j-- > 0;) {
			uint16_t *at = &lengths[i * width + j];

			*at = at[1] > at[width] ? at[1] : at[width];
			if (same(arg, i, j))
				*at = at[width + 1] + 1;
		}
	for (uint32_t i = 0, j = 0; fits && i < n && j < m;) {
		const uint16_t *at = &lengths[i * width + j];

		if (same(arg, i, j))
			of[i++] = j++;
		else if (at[width] >= at[1])
			i++;
		else
			j++;
	}
	return fits;
}
