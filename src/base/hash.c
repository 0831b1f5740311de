// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hash.h"

#include <string.h>
#include <sys/auxv.h>

#include "base/alloc.h"

/* Return random bytes that the kernel gives each process. getrandom() may block in a guest without entropy. */
static const uint64_t *hash_seed(void)
{
	static uint64_t seed[2];

	if (!seed[0]) {
		const void *random = (const void *)getauxval(AT_RANDOM);

		if (random)
			memcpy(seed, random, sizeof(seed));
		seed[0] |= 1;
		seed[1] |= 1;
	}
	return seed;
}

static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint32_t hash_bytes(const void *data, size_t size)
{
	const uint64_t *seed = hash_seed();
	const unsigned char *at = data;
	uint64_t hash = fold(size ^ seed[0], 0x9e3779b97f4a7c15ULL ^ seed[1]);
	uint64_t word;

	for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = fold(hash ^ seed[0], word ^ seed[1]);
	}
	word = 0;
	if (size)
		memcpy(&word, at, size);
	hash = fold(hash ^ seed[1], word ^ seed[0]);
	return (uint32_t)(hash ^ (hash >> 32));
}

uint32_t hash_string(const char *s)
{
	return hash_bytes(s, strlen(s));
}

uint32_t hash_find(const struct hash_index *index, uint32_t hash, hash_equal_fn equal,
		   const void *ctx, const void *key)
{
	uint32_t mask = index->cap - 1;

	if (!index->cap)
		return HASH_NONE;
	for (uint32_t i = hash & mask; index->slots[i].item; i = (i + 1) & mask) {
		const struct hash_slot *slot = &index->slots[i];

		if (slot->hash == hash && equal(ctx, slot->item - 1, key))
			return slot->item - 1;
	}
	return HASH_NONE;
}

static void slot_put(struct hash_index *index, struct hash_slot slot)
{
	uint32_t mask = index->cap - 1, i = slot.hash & mask;

	while (index->slots[i].item)
		i = (i + 1) & mask;
	index->slots[i] = slot;
}

void hash_reserve(struct hash_index *index, uint32_t n)
{
	struct hash_index bigger = { .n = index->n, .cap = index->cap ?: 16 };

	while (n > bigger.cap / 4 * 3)
		bigger.cap *= 2;
	if (bigger.cap == index->cap)
		return;
	bigger.slots = alloc_array(bigger.cap, sizeof(*bigger.slots));
	for (uint32_t i = 0; i < index->cap; i++)
		if (index->slots[i].item)
			slot_put(&bigger, index->slots[i]);
	free(index->slots);
	*index = bigger;
}

void hash_add(struct hash_index *index, uint32_t hash, uint32_t item)
{
	hash_reserve(index, index->n + 1);
	slot_put(index, (struct hash_slot){ .hash = hash, .item = item + 1 });
	index->n++;
}

uint32_t hash_find_or_add(struct hash_index *index, uint32_t hash, hash_equal_fn equal,
			  const void *ctx, const void *key, uint32_t next)
{
	uint32_t found = hash_find(index, hash, equal, ctx, key);

	if (found == HASH_NONE)
		hash_add(index, hash, found = next);
	return found;
}

struct hash_index hash_copy(const struct hash_index *index)
{
	struct hash_index copy = *index;

	copy.slots = alloc_array(index->cap, sizeof(*copy.slots));
	if (index->cap)
		memcpy(copy.slots, index->slots, index->cap * sizeof(*copy.slots));
	return copy;
}

void hash_deinit(struct hash_index *index)
{
	free(index->slots);
	*index = (struct hash_index){ 0 };
}
