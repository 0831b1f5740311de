// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/grouped.h"

#include "base/alloc.h"
#include "base/sorted.h"

define_compare(item_compare, struct grouped_item,
	       compare_values(a->a, b->a)         ?:
		       compare_values(a->b, b->b) ?:
						    compare_values(a->item, b->item));

void grouped_add(struct grouped *g, uint32_t a, uint32_t b, uint32_t item)
{
	vec_push(g, items, ((struct grouped_item){ a, b, item }));
}

void grouped_sort(struct grouped *g)
{
	sort_array(g->items, g->n_items, sizeof(*g->items), item_compare);
}

const struct grouped_item *grouped_find(const struct grouped *g, uint32_t a, uint32_t b,
					uint32_t *n)
{
	struct grouped_item low = { a, b == GROUPED_ALL ? 0 : b, 0 };
	struct grouped_item high = { a, b, UINT32_MAX };
	uint32_t first = bisect(g->n_items, i, item_compare(&g->items[i], &low) < 0);

	*n = bisect(g->n_items, i, item_compare(&g->items[i], &high) <= 0) - first;
	return g->items + first;
}

void grouped_deinit(struct grouped *g)
{
	free(g->items);
	*g = (struct grouped){ 0 };
}
