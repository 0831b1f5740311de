/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KPROTPERF_ANALYZE_SORT_H
#define KPROTPERF_ANALYZE_SORT_H

#include <stdlib.h>

/* qsort() for arrays that may be empty, and then have no memory: it must not be given NULL. */
static inline void analyze_sort(void *items, size_t n, size_t size,
				int (*compare)(const void *, const void *))
{
	if (n)
		qsort(items, n, size, compare);
}

#endif
