// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/debuginfo/index_strings.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

void index_strings_init(struct index_strings *s)
{
	s->cap_bytes = 1 << 20;
	s->bytes = alloc_array(s->cap_bytes, 1);
	s->n_bytes = 1; /* offset 0 is for none */
}

void index_strings_deinit(struct index_strings *s)
{
	hash_deinit(&s->offsets);
	free(s->bytes);
}

static bool is_text(const void *bytes, uint32_t offset, const void *text)
{
	return !strcmp((const char *)bytes + offset, text);
}

static uint32_t append(struct index_strings *s, const char *text)
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

uint32_t index_strings_add(struct index_strings *s, const char *text)
{
	uint32_t hash, offset;

	if (!text || !*text)
		return 0;
	hash = hash_string(text);
	offset = hash_find(&s->offsets, hash, is_text, s->bytes, text);
	if (offset == HASH_NONE) {
		offset = append(s, text);
		hash_add(&s->offsets, hash, offset);
	}
	return offset;
}

uint32_t index_strings_add_file(struct index_strings *s, struct paths *paths, const char *raw)
{
	/* Most often it is that of the row or body before. */
	if (raw && raw != s->last_raw) {
		s->last_raw = raw;
		s->last_file = index_strings_add(s, kernel_paths_relative(paths, raw));
	}
	return raw ? s->last_file : 0;
}
