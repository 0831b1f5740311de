// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/subsequence.h"

#include "base/alloc.h"

#define CELLS_MAX (1u << 24)

bool subsequence_match(uint32_t *of, uint32_t n, uint32_t m, subsequence_fn same, const void *arg)
{
	size_t width = (size_t)m + 1;
	bool fits = n < UINT16_MAX && (n + 1) * width <= CELLS_MAX;
	/* LENGTHS[I][J] is that of the longest one behind I and J. */
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
