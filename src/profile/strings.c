// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/strings.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

/* Short strings share blocks of this size: 10^5 symbol names are not 10^5 allocations. */
#define BLOCK_SIZE ((size_t)64 << 10)

struct pooled {
	const char *text;
	size_t len;
};

struct profile_strings {
	vec_of(struct pooled, items);
	vec_of(char *, blocks);
	char *block; /* where short strings go, with block_left bytes free */
	size_t block_left;
	struct hash_index index;
};

struct profile_strings *profile_strings_create(void)
{
	return alloc_new(struct profile_strings);
}

void profile_strings_destroy(struct profile_strings *pool)
{
	if (!pool)
		return;
	for (uint32_t i = 0; i < pool->n_blocks; i++)
		free(pool->blocks[i]);
	free(pool->blocks);
	free(pool->items);
	hash_deinit(&pool->index);
	free(pool);
}

static bool pooled_equal(const void *ctx, uint32_t item, const void *key)
{
	const struct profile_strings *pool = ctx;
	const struct pooled *a = &pool->items[item], *b = key;

	return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

static char *pool_reserve(struct profile_strings *pool, size_t size)
{
	char *text;

	if (size > BLOCK_SIZE / 4) {
		text = alloc_array(size, 1);
		vec_push(pool, blocks, text);
		return text;
	}
	if (size > pool->block_left) {
		pool->block = alloc_array(BLOCK_SIZE, 1);
		pool->block_left = BLOCK_SIZE;
		vec_push(pool, blocks, pool->block);
	}
	text = pool->block;
	pool->block += size;
	pool->block_left -= size;
	return text;
}

uint32_t profile_strings_add(struct profile_strings *pool, const char *s, size_t len)
{
	struct pooled item = { .text = s, .len = len };
	uint32_t number = hash_find_or_add(&pool->index, hash_bytes(s, len), pooled_equal, pool,
					   &item, pool->n_items);
	char *copy;

	if (number < pool->n_items)
		return number;
	copy = pool_reserve(pool, len + 1);
	memcpy(copy, s, len);
	copy[len] = '\0';
	item.text = copy;
	vec_push(pool, items, item);
	return number;
}

const char *profile_strings_get(const struct profile_strings *pool, uint32_t number)
{
	return pool->items[number].text;
}

size_t profile_strings_length(const struct profile_strings *pool, uint32_t number)
{
	return pool->items[number].len;
}

uint32_t profile_strings_count(const struct profile_strings *pool)
{
	return pool->n_items;
}
