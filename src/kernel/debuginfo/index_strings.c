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

static void append(struct index_strings *s, const char *text)
{
	size_t len = strlen(text) + 1;

	while (s->n_bytes + len > s->cap_bytes) {
		s->cap_bytes *= 2;
		s->bytes = alloc_resize(s->bytes, s->cap_bytes, 1);
	}
	memcpy(s->bytes + s->n_bytes, text, len);
	s->n_bytes += len;
}

uint32_t index_strings_add(struct index_strings *s, const char *text)
{
	uint32_t next = (uint32_t)s->n_bytes, offset;

	if (!text || !*text)
		return 0;
	offset = hash_find_or_add(&s->offsets, hash_string(text), is_text, s->bytes, text, next);
	if (offset == next)
		append(s, text);
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
