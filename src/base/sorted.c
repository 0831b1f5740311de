// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/sorted.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return compare_values(x, y);
}

int compare_text(const char *a, const char *b)
{
	if (a == b)
		return 0;
	return a && b ? strcmp(a, b) : !!a - !!b;
}

void sort_array(void *items, size_t n, size_t size, compare_fn compare)
{
	if (n)
		qsort(items, n, size, compare);
}

size_t unite_array(void *items, size_t n, size_t size, compare_fn compare,
		   void (*add)(void *to, void *from))
{
	char *to = NULL, *end = items;

	sort_array(items, n, size, compare);
	for (char *from = items; n; n--, from += size) {
		if (!to || compare(to, from)) {
			to = memmove(end, from, size);
			end += size;
		} else if (add) {
			add(to, from);
		}
	}
	return (size_t)(end - (char *)items) / size;
}

void *search_array(const void *key, const void *items, size_t n, size_t size, compare_fn compare)
{
	return n ? bsearch(key, items, n, size, compare) : NULL;
}

static int pointer_compare(const void *left, const void *right, void *arg)
{
	const void *a = *(const void *const *)left, *b = *(const void *const *)right;
	const struct pointers *p = arg;

	return p->compare(a, b) ?: compare_values((const char *)a, (const char *)b);
}

struct pointers pointers_sort(const void *items, size_t n, size_t size, compare_fn compare)
{
	struct pointers p = { alloc_array(n, sizeof(*p.items)), n, compare };

	for (size_t i = 0; i < n; i++)
		p.items[i] = (const char *)items + i * size;
	qsort_r(p.items, n, sizeof(*p.items), pointer_compare, &p);
	return p;
}

const void *const *pointers_find(const struct pointers *p, const void *key, size_t *n)
{
	size_t first = bisect(p->n_items, i, p->compare(p->items[i], key) < 0);

	*n = bisect(p->n_items, i, p->compare(p->items[i], key) <= 0) - first;
	return p->items + first;
}

struct join join_sorted(const void *a, size_t n_a, const void *b, size_t n_b, size_t size,
			compare_fn compare)
{
	return (struct join){
		.a = a,
		.b = b,
		.end_a = n_a ? (const char *)a + n_a * size : a,
		.end_b = n_b ? (const char *)b + n_b * size : b,
		.size = size,
		.compare = compare,
	};
}

/* Count the items from START on that equal the item at START. END is the end of the array. */
static size_t count_equal(const struct join *j, const char *start, const char *end)
{
	size_t n = 1;

	for (const char *at = start + j->size; at < end && !j->compare(start, at); at += j->size)
		n++;
	return n;
}

bool join_next(struct join *j)
{
	const char *a = j->n_a ? (const char *)j->a + j->n_a * j->size : j->a;
	const char *b = j->n_b ? (const char *)j->b + j->n_b * j->size : j->b;
	int order;

	j->a = a;
	j->b = b;
	j->n_a = j->n_b = 0;
	if (a == j->end_a && b == j->end_b)
		return false;
	order = a == j->end_a ? 1 : b == j->end_b ? -1 : j->compare(a, b);
	if (order <= 0)
		j->n_a = count_equal(j, a, j->end_a);
	if (order >= 0)
		j->n_b = count_equal(j, b, j->end_b);
	return true;
}
