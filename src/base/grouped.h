/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Indices of an array, grouped by two numbers that its entries have, for whoever asks for one group after the other. */
#pragma once

#include <stdint.h>

#define GROUPED_ALL UINT32_MAX

struct grouped_item {
	uint32_t a, b;
	uint32_t item;
};

/* All zero is empty. */
struct grouped {
	struct grouped_item *items; /* by a, then b, then item, once sorted */
	uint32_t n_items, cap_items;
};

void grouped_add(struct grouped *g, uint32_t a, uint32_t b, uint32_t item);
/* After the last add, before the first find. */
void grouped_sort(struct grouped *g);
/* The items of A and B, or of A and whatever B; *N: how many. */
const struct grouped_item *grouped_find(const struct grouped *g, uint32_t a, uint32_t b,
					uint32_t *n);
void grouped_deinit(struct grouped *g);
