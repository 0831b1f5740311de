/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers out of text: of options, of the kernel's files and of workloads' reports. All return false
 * and leave *VALUE as it was where there is no number or it is out of range.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* All of TEXT is a number from MIN to MAX. */
bool number_unsigned(const char *text, uint64_t min, uint64_t max, uint64_t *value);
/* Parse a number as strtod() does, but finite. */
bool number_double(const char *text, double min, double max, double *value);

/* A time above 0, as timeout(1) reads it: seconds, or with one of the units ns, us, ms, s, m and h. */
bool number_time(const char *text, uint64_t *ns);

/*
 * The number that *TEXT begins with; *TEXT moves behind it. Digits only, no blank or sign. Fast: of a
 * recording in a guest whose clock counts instructions, parsing kallsyms is a large part.
 */
bool number_scan(const char **text, uint64_t *value);
bool number_scan_hex(const char **text, uint64_t *value); /* accepts a leading 0x */
bool number_scan_double(const char **text, double *value);

/* Parse the first three numbers of a version, as in "6.1.0-13-amd64"; the missing are 0. Return how many TEXT has. */
unsigned int number_version(const char *text, unsigned int version[3]);

/* ---- the longest common subsequence of two sequences ---- */

#define SUBSEQUENCE_NONE UINT32_MAX

/* Return whether item I of the first sequence is the same as item J of the second one. */
typedef bool (*subsequence_fn)(const void *arg, uint32_t i, uint32_t j);

/*
 * Match the longest common subsequence of N items and M items: set OF[I] to the item that I is matched with, or to
 * SUBSEQUENCE_NONE. Return false, with nothing matched, if N times M is more than the 16 M that fit into 32 MB.
 */
bool subsequence_match(uint32_t *of, uint32_t n, uint32_t m, subsequence_fn same, const void *arg);
