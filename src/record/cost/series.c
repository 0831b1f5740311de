// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/cost/series.h"

#include "base/sorted.h"

void record_values_sort(uint64_t *values, uint32_t n)
{
	sort_array(values, n, sizeof(*values), compare_u64);
}

uint64_t record_series_median(struct record_series *s)
{
	record_values_sort(s->values, RECORD_ROUNDS);
	return s->values[RECORD_ROUNDS / 2];
}

uint64_t record_values_deviation(uint64_t *values, uint32_t n, uint64_t centre)
{
	for (uint32_t i = 0; i < n; i++)
		values[i] = values[i] > centre ? values[i] - centre : centre - values[i];
	record_values_sort(values, n);
	return values[n / 2];
}

uint64_t record_series_deviation(const struct record_series *s, uint64_t centre)
{
	struct record_series d = *s;

	return record_values_deviation(d.values, RECORD_ROUNDS, centre);
}
