/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repeated readings of one thing, for calibration: interrupts that hit some of them leave their median.
 */
#pragma once

#include <stdint.h>

#define RECORD_ROUNDS 101

struct record_series {
	uint64_t values[RECORD_ROUNDS];
};

void record_values_sort(uint64_t *values, uint32_t n); /* ascending */

uint64_t record_series_median(struct record_series *s); /* sorts S */

/* The median absolute deviation of the N VALUES, at least one, from CENTRE; overwrites them. */
uint64_t record_values_deviation(uint64_t *values, uint32_t n, uint64_t centre);

/* The same of a series, which it leaves alone. */
uint64_t record_series_deviation(const struct record_series *s, uint64_t centre);
