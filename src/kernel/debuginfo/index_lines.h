/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Make the line table and the strings of an index. */
#pragma once

#include "base/alloc.h"
#include "base/hash.h"
#include "kernel/debuginfo/dwarf.h"
#include "kernel/debuginfo/index_impl.h"
#include "kernel/debuginfo/source.h"

struct index_strings {
	char *bytes; /* all strings, in the format of the file */
	size_t n_bytes, cap_bytes;
	struct hash_index offsets; /* finds the offset of a string in BYTES */
	const char *last_raw; /* RAW in the last call of index_strings_add_file() */
	uint32_t last_file; /* result of the last call of index_strings_add_file() */
};

void index_strings_init(struct index_strings *s);
void index_strings_deinit(struct index_strings *s);
/* Store TEXT once. Return its offset in the strings; 0 for NULL and for "". */
uint32_t index_strings_add(struct index_strings *s, const char *text);
/*
 * Return the offset of a source file's name, relative to the kernel's tree. RAW is the compiler's name of the file. The text at
 * RAW must never change: if RAW is the same pointer as in the last call, the text is not read again.
 */
uint32_t index_strings_add_file(struct index_strings *s, struct paths *paths, const char *raw);

struct index_lines {
	vec_of(struct index_line_block, blocks);
	vec_of(unsigned char, bytes);
	uint32_t addr, file, line; /* values of the last row that was added */
	uint64_t end; /* rows have been added up to this address */
};

/*
 * Add the source lines of UNIT's code from START to END, which are addresses in the file. BASE is the address of _stext. Calls
 * must have ascending addresses.
 */
void index_lines_add(struct index_lines *l, struct index_strings *s, struct dwarf *d,
		     struct dwarf_unit *unit, uint64_t start, uint64_t end, uint64_t base);
/* Call this after the last index_lines_add(), with the same BASE. */
void index_lines_end(struct index_lines *l, uint64_t base);
void index_lines_deinit(struct index_lines *l);
