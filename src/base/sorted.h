/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sort arrays, search sorted arrays, and join two of them. Comparators get the addresses of two items, as in qsort(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

typedef int (*compare_fn)(const void *a, const void *b);

/* Return -1, 0 or 1 for the order of two numbers. X and Y are evaluated twice. */
#define compare_values(x, y) (((x) > (y)) - ((x) < (y)))

/* Define a comparator NAME of two TYPEs, *a and *b. ORDER is an expression of a and b that is below, equal to or above 0. */
#define define_compare(name, type, order)                      \
	static int name(const void *left_, const void *right_) \
	{                                                      \
		const type *a = left_;                         \
		const type *b = right_;                        \
                                                               \
		return order;                                  \
	}

/* Compare two uint64_t, or two structs by a uint64_t at their start. */
int compare_u64(const void *a, const void *b);

/* Compare strings as strcmp() does, with NULL first. The comparison is fast if equal strings have the same address. */
int compare_text(const char *a, const char *b);

static inline bool same_text(const char *a, const char *b)
{
	return !compare_text(a, b);
}

/* Call qsort() or bsearch(). ITEMS may be NULL if N is 0. */
void sort_array(void *items, size_t n, size_t size, compare_fn compare);
void *search_array(const void *key, const void *items, size_t n, size_t size, compare_fn compare);

/*
 * Sort the N ITEMS and unite equal ones: ADD adds each further equal item FROM to the first item TO. If ADD is NULL, further equal
 * items are dropped. Return the number of items that are left.
 */
size_t unite_array(void *items, size_t n, size_t size, compare_fn compare,
		   void (*add)(void *to, void *from));

/* Call unite_array() for the growing array ITEMS of S. */
#define vec_unite(s, items, compare, add)                                                       \
	do {                                                                                    \
		if ((s)->n_##items)                                                             \
			(s)->n_##items = (__typeof__((s)->n_##items))unite_array(               \
				(s)->items, (s)->n_##items, sizeof(*(s)->items), compare, add); \
	} while (0)

/* Pointers to an array's items, in the order of the items. Equal items keep their order. The caller frees ITEMS. */
struct pointers {
	const void **items;
	size_t n_items;
	compare_fn compare; /* compares the items, not the pointers */
};

struct pointers pointers_sort(const void *items, size_t n, size_t size, compare_fn compare);
/* Find the items that equal KEY, and set *N to their number. Of KEY only the fields that COMPARE reads are needed. */
const void *const *pointers_find(const struct pointers *p, const void *key, size_t *n);

/*
 * Return the lowest I from 0 to N - 1 for which the expression IS_BEFORE is false, or N. IS_BEFORE must be true for all numbers
 * below some number, and false from there on.
 */
#define bisect(n, i, is_before)                                            \
	({                                                                 \
		__typeof__((n) + 0) low_ = 0, high_ = (n);                 \
                                                                           \
		while (low_ < high_) {                                     \
			__typeof__((n) + 0) i = low_ + (high_ - low_) / 2; \
                                                                           \
			if (is_before)                                     \
				low_ = i + 1;                              \
			else                                               \
				high_ = i;                                 \
		}                                                          \
		low_;                                                      \
	})

/* Loop over runs of equal items among N: items I to J - 1 are equal. SAME is an expression: items I and J are equal. */
#define for_each_run(i, j, n, same)                                          \
	for (__typeof__((n) + 0) i = 0, j; i < (n) && ({                     \
						   j = i + 1;                \
						   while (j < (n) && (same)) \
							   j++;              \
						   true;                     \
					   });                               \
	     i = j)

/*
 * Join two sorted arrays. Each step of
 *	struct join j = join_sorted(…);
 *	while (join_next(&j))
 * gives the items with the same key: n_a items from a on in the first array, n_b items from b on in the second.
 * n_a or n_b may be 0.
 */
struct join {
	const void *a, *b;
	size_t n_a, n_b;
	/* for join_next() only */
	const char *end_a, *end_b;
	size_t size;
	compare_fn compare;
};

struct join join_sorted(const void *a, size_t n_a, const void *b, size_t n_b, size_t size,
			compare_fn compare);
bool join_next(struct join *j);
