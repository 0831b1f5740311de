/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index, as it is in its file and in memory. index.c reads it, index_build.c makes it, index_file.c keeps it.
 *
 * It has native byte order and alignment, because it is read on the machine where it is made. Sections are arrays of the
 * records below, in the order of enum index_section, each aligned to 8 bytes. A string is an offset in the first section;
 * 0 means none.
 */
#pragma once

#include "kernel/debuginfo/index.h"

#define INDEX_MAGIC      "kprotidx"
#define INDEX_VERSION    3
#define INDEX_BYTE_ORDER 0x01020304

enum index_section {
	INDEX_STRINGS, /* each string ends with a NUL; the first one is empty */
	INDEX_FUNCTIONS, /* struct index_function, by entry */
	INDEX_BODIES, /* struct index_body, by function, preorder */
	INDEX_RANGES, /* struct kernel_range: those of functions and bodies */
	INDEX_NAMES, /* struct index_name, by name, file, line */
	INDEX_BY_NAME, /* ids of bodies, in the order of their names */
	INDEX_ADDRESSES, /* struct index_address, by address */
	INDEX_SYMBOLS, /* struct index_symbol, by address */
	INDEX_LINE_BLOCKS, /* struct index_line_block, by address */
	INDEX_LINE_ROWS, /* bytes: the rows of the line blocks */
	INDEX_N_SECTIONS,
};

struct index_header {
	char magic[8];
	uint32_t version;
	uint32_t byte_order;
	uint64_t size; /* file size in bytes */
	uint32_t has_dwarf;
	uint32_t id_len;
	uint8_t id[KERNEL_BUILD_ID_MAX];
	struct {
		uint64_t offset, size; /* in bytes; offset from the start of the file */
	} sections[INDEX_N_SECTIONS];
	uint64_t body_sum; /* check sum of the bytes after the header */
	uint64_t header_sum; /* check sum of the header up to here */
};

struct index_function {
	uint32_t name, symbol;
	uint32_t entry;
	uint32_t file, line; /* place of the declaration; 0: unknown */
	uint32_t first_range, n_ranges;
	uint32_t first_body, n_bodies;
};

struct index_body {
	uint32_t name; /* index in INDEX_NAMES */
	uint32_t function;
	uint32_t parent; /* a smaller id, or KERNEL_NONE */
	uint32_t entry;
	uint32_t call_file, call_line;
	uint32_t first_range, n_ranges;
};

/* A function that is inlined at some place. */
struct index_name {
	uint32_t name;
	uint32_t file, line; /* place of the declaration; 0: unknown */
	uint32_t first, n; /* its bodies, in INDEX_BY_NAME */
	uint32_t n_empty; /* number of bodies that left no instruction */
};

/* An entry of the address map. LEAF is the innermost body, or else the function, from ADDR up to the ADDR of the next entry. */
struct index_address {
	uint32_t addr;
	uint32_t leaf; /* id of a body or a function; KERNEL_NONE: unknown code */
};

#define INDEX_LEAF_FUNCTION 0x80000000u /* the other bits are the function's id */

/* Addresses from ADDR up to the ADDR of the next entry belong to the symbol that begins at START. */
struct index_symbol {
	uint32_t addr, start;
	uint32_t name; /* 0: none */
	uint32_t base; /* the name without clone suffixes */
};

/*
 * The file and line of instructions from ADDR on, in up to INDEX_LINE_BLOCK rows. A row is three varints: the address,
 * the file and the line, each less its value in the row before. The values before the first row are ADDR, 0 and 0.
 * Differences of file and line are in zigzag order: 0, -1, 1, -2, … A varint has 7 bits per byte, low bits first; the top
 * bit is set in all bytes but the last. File 0: unknown from there on.
 */
struct index_line_block {
	uint32_t addr;
	uint32_t offset; /* offset of its rows in INDEX_LINE_ROWS */
	uint32_t n_rows;
};

#define INDEX_LINE_BLOCK 64

struct kernel_index {
	const unsigned char *bytes; /* the whole file: mapped, or from malloc() */
	size_t size;
	bool is_mapped;
	char *path; /* NULL: not from a file */
	const struct index_header *header;
	const void *sections[INDEX_N_SECTIONS];
	uint32_t n[INDEX_N_SECTIONS]; /* records */
	struct kernel_build_id id;
};

/*
 * Check IDX's bytes, and set the fields from HEADER on. Return 0, -EBADMSG, or -ESTALE if the index is of another
 * version, or of another build than ID (NULL: any).
 */
int kernel_index_attach(struct kernel_index *idx, const struct kernel_build_id *id);
/* Set the check sums in H, the header at the start of an index in memory. */
void kernel_index_seal(struct index_header *h);
