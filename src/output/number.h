/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conversion of numbers to text, for all output formats. */
#pragma once

#include "output/section.h"

/*
 * Return VALUE as text for people. Instructions and counts become "11,803,112", times in ns "11.80 ms", and NAN "-". Differences
 * have a sign. A value with a decimal point has at most four significant digits, since more would be noise. The static buffer is
 * valid for the next OUTPUT_NUMBERS - 1 calls of functions in this header.
 */
const char *output_number(enum output_type type, double value, enum profile_clock clock);
#define OUTPUT_NUMBERS 16

/* Return " instructions" or, if N is 1, " instruction". Return "" for times in ns, since output_number() appends the unit. */
const char *output_unit(enum profile_clock clock, double n);
/* Return the time VALUE as output_number() does, always with its unit: "1 instruction", "11,803 instructions" or "11.80 ms". */
const char *output_amount(enum output_type type, double value, enum profile_clock clock);

/* Return VALUE, a rate or factor, as text with DIGITS (at least 3) significant digits. Values from 999.5 on become an integer. */
const char *output_digits(double value, int digits);

/* Return VALUE as text for programs, such as "11803112" or "-0.25"; "" for NAN and infinity. */
const char *output_number_plain(double value);

/* Return whether VALUE is an integer that a double represents exactly. */
bool output_number_is_whole(double value);
