/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table from keys to the indices of an array (or offsets, or ids) that its user keeps: it holds
 * only (hash, index) pairs, so the items may be of any kind and may move. uthash and tsearch() take
 * the items' addresses, which an array that grows does not keep; hsearch() cannot grow.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_NONE UINT32_MAX

struct hash_slot {
	uint32_t hash;
	uint32_t item; /* + 1; 0 is an empty slot */
};

/* All zero is an empty table. */
struct hash_index {
	struct hash_slot *slots;
	uint32_t n, cap; /* cap is 0 or a power of two */
};

/* Return whether item ITEM of CTX is the one that KEY describes. */
typedef bool (*hash_equal_fn)(const void *ctx, uint32_t item, const void *key);

/* Hash of SIZE bytes. It differs from process to process, so that no file can be made whose entries all collide. */
uint32_t hash_bytes(const void *data, size_t size);
uint32_t hash_string(const char *s);

/* Return the item for KEY, or HASH_NONE. */
uint32_t hash_find(const struct hash_index *index, uint32_t hash, hash_equal_fn equal,
		   const void *ctx, const void *key);
/* Return the item for KEY. If there is none, add and return NEXT: the caller then appends item NEXT to its array. */
uint32_t hash_find_or_add(struct hash_index *index, uint32_t hash, hash_equal_fn equal,
			  const void *ctx, const void *key, uint32_t next);
/* Make room for N items. While there are at most N items, hash_find() returns the one that was added first among equal items. */
void hash_reserve(struct hash_index *index, uint32_t n);
/* Add ITEM, which must be below HASH_NONE and not in the table. */
void hash_add(struct hash_index *index, uint32_t hash, uint32_t item);
/* Return a copy of the table, for a copy of the array. */
struct hash_index hash_copy(const struct hash_index *index);
void hash_deinit(struct hash_index *index);
