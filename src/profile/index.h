/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table from keys to the indices of an array that somebody else keeps: the items stay where
 * they are, the table holds only (hash, index) pairs. Internal to profile/.
 */
#ifndef KPROTPERF_PROFILE_INDEX_H
#define KPROTPERF_PROFILE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

struct index_slot {
	uint32_t hash;
	uint32_t item; /* + 1; 0 is an empty slot */
};

/* All zero is an empty table. */
struct index {
	struct index_slot *slots;
	uint32_t n, cap; /* cap is 0 or a power of two */
};

/* Whether array item ITEM of CTX is the one that KEY describes. */
typedef bool (*index_equal_fn)(const void *ctx, uint32_t item, const void *key);

/*
 * Hash of SIZE bytes. It differs from process to process, so that no file can be made whose entries
 * all collide.
 */
uint32_t index_hash(const void *data, size_t size);

/* The item for KEY, or INDEX_NONE. */
uint32_t index_find(const struct index *index, uint32_t hash, index_equal_fn equal, const void *ctx,
		    const void *key);
/* Adds ITEM, which must not be in the table. */
void index_add(struct index *index, uint32_t hash, uint32_t item);
void index_deinit(struct index *index);

#endif
