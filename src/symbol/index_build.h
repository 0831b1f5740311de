/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An index in the making: index_build.c, index_lines.c, index_strings.c. */
#ifndef KPROTPERF_SYMBOL_INDEX_BUILD_H
#define KPROTPERF_SYMBOL_INDEX_BUILD_H

#include "symbol/image_impl.h"
#include "symbol/index_impl.h"

/* Entries of tables in front of hash tables, by the address of what is looked up. */
#define BUILD_CACHE 16384

struct build_cached {
	const void *key;
	uint32_t value;
};

/* The entry for KEY, which holds that or another one. */
static inline struct build_cached *build_cached(struct build_cached *cache, const void *key)
{
	return &cache[((uintptr_t)key ^ (uintptr_t)key >> 14) % BUILD_CACHE];
}

struct build_strings {
	char *bytes; /* as they go into the file */
	size_t n_bytes, cap_bytes;
	uint32_t *slots; /* offsets, open addressing; 0: free */
	size_t n_slots, n_used;
	struct build_cached texts[BUILD_CACHE], files[BUILD_CACHE];
};

void build_strings_init(struct build_strings *s);
void build_strings_deinit(struct build_strings *s);
/*
 * The offset of TEXT, 0 for NULL and for "". What TEXT points to must stay as it is until the end: a
 * pointer seen before is not read again.
 */
uint32_t build_string(struct build_strings *s, const char *text);
/* The same for the file that the compiler named RAW, relative to the kernel's tree. */
uint32_t build_file(struct build_strings *s, struct paths *paths, const char *raw);
/* The same for text that does not last. */
uint32_t build_string_copy(struct build_strings *s, const char *text);

struct build_lines {
	struct index_line_block *blocks;
	uint32_t n_blocks, cap_blocks;
	unsigned char *bytes;
	uint32_t n_bytes, cap_bytes;
	uint32_t addr, file, line; /* of the last row */
	uint64_t end; /* up to which rows have been told */
};

/*
 * The lines of UNIT between START and END, addresses of the file; BASE is that of _stext. To be called
 * by ascending addresses.
 */
void build_lines_add(struct build_lines *l, struct build_strings *s, struct dwarf *d,
		     struct dwarf_unit *unit, uint64_t start, uint64_t end, uint64_t base);
/* After the last of them. */
void build_lines_end(struct build_lines *l, uint64_t base);
void build_lines_deinit(struct build_lines *l);

#endif
