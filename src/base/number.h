/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parse numbers in options, kernel files and workloads' reports. All functions but number_version() return false and leave *VALUE
 * unchanged if there is no number or it is out of range.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Parse all of TEXT as a number from MIN to MAX. */
bool number_unsigned(const char *text, uint64_t min, uint64_t max, uint64_t *value);
/* Parse all of TEXT as a decimal number from MIN to MAX, with fraction and exponent. Infinity is refused. */
bool number_double(const char *text, double min, double max, double *value);

/* Parse all of TEXT as a time above 0: a number of seconds, or a number with the unit ns, us, ms, s, m or h. */
bool number_time(const char *text, uint64_t *ns);

/*
 * Parse the number at the start of *TEXT, and move *TEXT to the number's end. An integer has only digits, no blank or sign. These
 * functions are fast: parsing kallsyms is a large part of a recording in a guest whose clock counts instructions.
 */
bool number_scan(const char **text, uint64_t *value);
bool number_scan_hex(const char **text, uint64_t *value); /* a leading 0x is allowed */
bool number_scan_double(const char **text, double *value);

/* Parse up to three numbers of a version such as "6.1.0-13-amd64"; the rest become 0. Return how many were found. */
unsigned int number_version(const char *text, unsigned int version[3]);

/* ---- the longest common subsequence of two sequences ---- */

#define SUBSEQUENCE_NONE UINT32_MAX

/* Return whether item I of the first sequence is the same as item J of the second one. */
typedef bool (*subsequence_fn)(const void *arg, uint32_t i, uint32_t j);

/*
 * Match the longest common subsequence of N items and M items. OF[I] becomes the partner of item I, or SUBSEQUENCE_NONE. Return
 * false and match nothing if (N + 1) * (M + 1) is above 16 M (32 MB of memory), or N above 65534.
 */
bool subsequence_match(uint32_t *of, uint32_t n, uint32_t m, subsequence_fn same, const void *arg);
