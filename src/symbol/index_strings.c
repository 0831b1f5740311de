// SPDX-License-Identifier: GPL-2.0-or-later
/* The strings of an index in the making, each kept once. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/index_build.h"

void build_strings_init(struct build_strings *s)
{
	s->n_slots = 1 << 16;
	s->slots = alloc_array(s->n_slots, sizeof(*s->slots));
	s->cap_bytes = 1 << 20;
	s->bytes = alloc_array(s->cap_bytes, 1);
	s->n_bytes = 1; /* offset 0 is for none */
}

void build_strings_deinit(struct build_strings *s)
{
	free(s->slots);
	free(s->bytes);
}

static size_t hash_string(const char *s)
{
	size_t h = 14695981039346656037u;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 1099511628211u;
	return h ^ h >> 32;
}

/* The slot that holds TEXT, or where it belongs. */
static uint32_t *find_slot(struct build_strings *s, const char *text)
{
	size_t i = hash_string(text);

	for (;; i++) {
		uint32_t *slot = &s->slots[i & (s->n_slots - 1)];

		if (!*slot || !strcmp(s->bytes + *slot, text))
			return slot;
	}
}

static void grow(struct build_strings *s)
{
	uint32_t *old = s->slots;
	size_t n = s->n_slots;

	s->n_slots *= 2;
	s->slots = alloc_array(s->n_slots, sizeof(*s->slots));
	for (size_t i = 0; i < n; i++)
		if (old[i])
			*find_slot(s, s->bytes + old[i]) = old[i];
	free(old);
}

static uint32_t append(struct build_strings *s, const char *text)
{
	size_t len = strlen(text) + 1, at = s->n_bytes;

	while (s->n_bytes + len > s->cap_bytes) {
		s->cap_bytes *= 2;
		s->bytes = alloc_resize(s->bytes, s->cap_bytes, 1);
	}
	memcpy(s->bytes + at, text, len);
	s->n_bytes += len;
	return (uint32_t)at;
}

uint32_t build_string_copy(struct build_strings *s, const char *text)
{
	uint32_t *slot, offset;

	if (!text || !*text)
		return 0;
	slot = find_slot(s, text);
	if (!*slot) {
		*slot = append(s, text);
		s->n_used++;
	}
	offset = *slot;
	if (s->n_used * 2 > s->n_slots)
		grow(s);
	return offset;
}

uint32_t build_string(struct build_strings *s, const char *text)
{
	struct build_cached *c = build_cached(s->texts, text);

	if (!text)
		return 0;
	if (c->key != text) {
		c->key = text;
		c->value = build_string_copy(s, text);
	}
	return c->value;
}

uint32_t build_file(struct build_strings *s, struct paths *paths, const char *raw)
{
	struct build_cached *c = build_cached(s->files, raw);

	if (!raw)
		return 0;
	if (c->key != raw) {
		c->key = raw;
		c->value = build_string_copy(s, symbol_paths_relative(paths, raw));
	}
	return c->value;
}
