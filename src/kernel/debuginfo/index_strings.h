/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The strings of an index in the making, each kept once. */
#pragma once

#include "base/hash.h"
#include "kernel/debuginfo/path.h"

struct index_strings {
	char *bytes; /* as they go into the file */
	size_t n_bytes, cap_bytes;
	struct hash_index offsets; /* of strings in BYTES */
	const char *last_raw; /* of index_strings_add_file() */
	uint32_t last_file;
};

void index_strings_init(struct index_strings *s);
void index_strings_deinit(struct index_strings *s);
/* The offset of TEXT, 0 for NULL and for "". */
uint32_t index_strings_add(struct index_strings *s, const char *text);
/*
 * The same for the file that the compiler named RAW, relative to the kernel's tree. RAW's text must
 * not change until the end: a pointer seen just before is not read again.
 */
uint32_t index_strings_add_file(struct index_strings *s, struct paths *paths, const char *raw);
