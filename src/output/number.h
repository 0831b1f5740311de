/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one place where a figure becomes text. */
#pragma once

#include "output/section.h"

#define OUTPUT_NUMBER_MAX 48 /* enough for any double, in any form below */

/*
 * VALUE for people, written to BUF and returned: instructions and counts as "11,803,112", times of
 * a real clock scaled as "11.80 ms", differences with their sign, "-" for NAN. At most four
 * significant digits behind a decimal point, since more would be noise.
 */
const char *output_number(char buf[OUTPUT_NUMBER_MAX], enum output_type type, double value,
			  enum profile_clock clock);

/* VALUE for programs: "11803112", "-0.25", "" for NAN. */
const char *output_number_plain(char buf[OUTPUT_NUMBER_MAX], double value);

/* Whether VALUE is whole, and small enough for a double to be exact. */
bool output_number_is_whole(double value);
