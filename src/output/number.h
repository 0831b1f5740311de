/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one place where a figure becomes text. */
#pragma once

#include "output/section.h"

/*
 * VALUE for people: instructions and counts as "11,803,112", times of a real clock scaled as "11.80 ms", differences
 * with their sign, "-" for NAN. At most four significant digits behind a decimal point, since more would be noise. The
 * text stays until OUTPUT_NUMBERS more are made, here or below: long enough for the sentence that it is part of.
 */
const char *output_number(enum output_type type, double value, enum profile_clock clock);
#define OUTPUT_NUMBERS 16

/* VALUE for people, a rate or a factor in a sentence: DIGITS significant ones, at least 3, and all in front of the point. */
const char *output_digits(double value, int digits);

/* VALUE for programs: "11803112", "-0.25", "" for NAN. */
const char *output_number_plain(double value);

/* Return whether VALUE is whole, and small enough for a double to be exact. */
bool output_number_is_whole(double value);
