/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of an index in its file and in memory. index.c reads an index, index_build.c makes
 * it, index_file.c opens and writes its file.
 *
 * An index has native byte order and alignment, because it is read on the machine where it is made. Sections are arrays of the
 * records below, in the order of enum index_section, each aligned to 8 bytes. A string is stored as its offset in the first
 * section; offset 0 means no string.
 */
#pragma once

#include "kernel/debuginfo/index.h"

#define INDEX_MAGIC      "kprotidx"
#define INDEX_VERSION    3
#define INDEX_BYTE_ORDER 0x01020304

enum index_section {
	INDEX_STRINGS, /* each string ends with a NUL; the first one is empty */
	INDEX_FUNCTIONS, /* struct index_function, sorted by entry */
	INDEX_BODIES, /* struct index_body, sorted by function, in preorder */
	INDEX_RANGES, /* struct kernel_range of functions and inlined functions */
	INDEX_NAMES, /* struct index_name, sorted by name, file, line */
	INDEX_BY_NAME, /* ids of inlined functions, sorted by name */
	INDEX_ADDRESSES, /* struct index_address, sorted by address */
	INDEX_SYMBOLS, /* struct index_symbol, sorted by address */
	INDEX_LINE_BLOCKS, /* struct index_line_block, sorted by address */
	INDEX_LINE_ROWS, /* bytes of the rows of all line blocks */
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
	uint32_t file, line; /* where the function is declared; 0: unknown */
	uint32_t first_range, n_ranges;
	uint32_t first_body, n_bodies;
};

struct index_body {
	uint32_t name; /* index of the function's name in INDEX_NAMES */
	uint32_t function;
	uint32_t parent; /* id of the next outer inlined function (a smaller id), or KERNEL_NONE */
	uint32_t entry;
	uint32_t call_file, call_line;
	uint32_t first_range, n_ranges;
};

/* A function that is inlined somewhere. */
struct index_name {
	uint32_t name;
	uint32_t file, line; /* where the function is declared; 0: unknown */
	uint32_t first, n; /* its inlined copies: first index in INDEX_BY_NAME, and their number */
	uint32_t n_empty; /* number of inlined copies that left no instruction */
};

/* The address map. LEAF is the innermost inlined function, or else the function, from ADDR up to the next entry's ADDR. */
struct index_address {
	uint32_t addr;
	uint32_t leaf; /* id, plus INDEX_LEAF_FUNCTION for a function; or KERNEL_NONE */
};

#define INDEX_LEAF_FUNCTION 0x80000000u /* LEAF is a function; the other bits are its id */

/* Addresses from ADDR up to the ADDR of the next entry belong to the symbol that begins at START. */
struct index_symbol {
	uint32_t addr, start;
	uint32_t name; /* offset of the string; 0: no name */
	uint32_t base; /* string of the name without clone suffixes */
};

/*
 * The file and line of instructions from ADDR on, in up to INDEX_LINE_BLOCK rows. A row is three varints, the differences of
 * address, file and line to the previous row. The first row is relative to ADDR, file 0 and line 0. Zigzag order makes small
 * numbers of negative differences of file and line: 0, -1, 1, -2, … A varint has 7 bits per byte, low bits first; the top bit is
 * set in all bytes but the last. File 0 means unknown.
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
	uint32_t n[INDEX_N_SECTIONS]; /* number of records in each section */
	struct kernel_build_id id;
};

/*
 * Check IDX's bytes, and set HEADER and the members after it. Return 0, -EBADMSG if the bytes are damaged, or -ESTALE if the index
 * is of another version, or of another build than ID (NULL: any).
 */
int kernel_index_attach(struct kernel_index *idx, const struct kernel_build_id *id);
/* Set the check sums in H, the header at the start of an index in memory. */
void kernel_index_seal(struct index_header *h);
