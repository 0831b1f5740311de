/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers in the text of options, of the kernel's files and of workloads' reports. If there is no number, or it is out of range,
 * all functions but number_version() return false and do not change *VALUE.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Parse all of TEXT as a number from MIN to MAX. */
bool number_unsigned(const char *text, uint64_t min, uint64_t max, uint64_t *value);
/* Parse all of TEXT as a number from MIN to MAX, as strtod() does, but neither an infinite nor a hexadecimal one. */
bool number_double(const char *text, double min, double max, double *value);

/* Parse all of TEXT as a time above 0: a number of seconds, or with one of the units ns, us, ms, s, m and h. */
bool number_time(const char *text, uint64_t *ns);

/*
 * Parse the number at the start of *TEXT, and move *TEXT to the end of it. An integer has only digits, no blank or sign. This is
 * fast: parsing kallsyms is a large part of a recording in a guest whose clock counts instructions.
 */
bool number_scan(const char **text, uint64_t *value);
bool number_scan_hex(const char **text, uint64_t *value); /* accepts a leading 0x */
bool number_scan_double(const char **text, double *value);

/* Parse the first three numbers of a version, as in "6.1.0-13-amd64". Missing ones become 0. Return how many TEXT has. */
unsigned int number_version(const char *text, unsigned int version[3]);

/* ---- the longest common subsequence of two sequences ---- */

#define SUBSEQUENCE_NONE UINT32_MAX

/* Return whether item I of the first sequence is the same as item J of the second one. */
typedef bool (*subsequence_fn)(const void *arg, uint32_t i, uint32_t j);

/*
 * Match the longest common subsequence of N items and M items: set OF[I] to the item that I is matched with, or to
 * SUBSEQUENCE_NONE. Return false, with nothing matched, if (N + 1) * (M + 1) is above 16 M, which take 32 MB, or N above 65534.
 */
bool subsequence_match(uint32_t *of, uint32_t n, uint32_t m, subsequence_fn same, const void *arg);
