/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conversion of figures to text, for all formats. */
#pragma once

#include "output/section.h"

/*
 * Return VALUE as text for people: instructions and counts as "11,803,112", times in ns scaled as "11.80 ms", differences with
 * their sign, "-" for NAN. A value with a decimal point has at most four significant digits, since more would be noise. The text is
 * static: it is valid for the next OUTPUT_NUMBERS - 1 calls of the functions of this header.
 */
const char *output_number(enum output_type type, double value, enum profile_clock clock);
#define OUTPUT_NUMBERS 16

/* Return VALUE, a rate or factor in a sentence, as text with DIGITS (at least 3) significant digits; from 999.5 on, an integer. */
const char *output_digits(double value, int digits);

/* Return VALUE as text for programs: "11803112", "-0.25", "" for NAN and infinity. */
const char *output_number_plain(double value);

/* Return whether VALUE is whole, and small enough for a double to be exact. */
bool output_number_is_whole(double value);
