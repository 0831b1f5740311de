/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table from keys to the indices of an array that the caller keeps. The table stores only pairs of hash and index, so
 * the array's items may have any type and may move. uthash and tsearch() store the items' addresses, which
 * change when the array grows; hsearch() cannot grow.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_NONE UINT32_MAX

struct hash_slot {
	uint32_t hash;
	uint32_t item; /* index of the item + 1; 0: the slot is empty */
};

/* A struct of zeros is an empty table. */
struct hash_index {
	struct hash_slot *slots;
	uint32_t n, cap; /* number of slots: 0 or a power of two */
};

/* Return whether item number ITEM of the array CTX has the key KEY. */
typedef bool (*hash_equal_fn)(const void *ctx, uint32_t item, const void *key);

/* Return a hash of the SIZE bytes at DATA. It differs from process to process, so no file can make all entries collide. */
uint32_t hash_bytes(const void *data, size_t size);
uint32_t hash_string(const char *s);

/* Return the index of the item with KEY, or HASH_NONE. */
uint32_t hash_find(const struct hash_index *index, uint32_t hash, hash_equal_fn equal,
		   const void *ctx, const void *key);
/* Return the index of the item with KEY. If there is none, add and return NEXT: the caller then appends item NEXT. */
uint32_t hash_find_or_add(struct hash_index *index, uint32_t hash, hash_equal_fn equal,
			  const void *ctx, const void *key, uint32_t next);
/* Allocate space for N items. As long as there are at most N, hash_find() finds the one of several equal items added first. */
void hash_reserve(struct hash_index *index, uint32_t n);
/* Add the index ITEM, which must be below HASH_NONE and not yet in the table. */
void hash_add(struct hash_index *index, uint32_t hash, uint32_t item);
struct hash_index hash_copy(const struct hash_index *index);
void hash_deinit(struct hash_index *index);
