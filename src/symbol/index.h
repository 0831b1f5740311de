/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index of a kernel's source: its functions, the bodies inlined into them, and the file and line
 * of every address, in one file that is mapped and searched, so that nobody reads DWARF twice.
 *
 * Addresses are relative to _stext, as in symbol/image.h. Functions and inlined bodies have ids, dense
 * from 0, which stay the same as long as the vmlinux does: functions by ascending entry, the bodies of
 * a function one after the other, each behind the one that it is inlined into.
 *
 * Everything handed out belongs to the index and lives as long as it. The file is not trusted: it is
 * checked whole when it is opened, and every number in it again when it is used.
 */
#ifndef KPROTPERF_SYMBOL_INDEX_H
#define KPROTPERF_SYMBOL_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/image.h"

struct symbol_index;

/* No function, no inlined body. */
#define SYMBOL_NONE UINT32_MAX

/*
 * The index of the kernel with build-id ID, which is made, from IMG's DWARF, only where it is neither in
 * the cache nor beside IMG; then it is kept in the cache, if that can be written. ID may be NULL or
 * empty for IMG's own, and IMG may be NULL. Without DWARF the index has symbols only, and is not kept. -ENOENT
 * where there is neither an index nor IMG; -EFBIG where IMG's is too large; not reported.
 */
int symbol_index_get(const struct symbol_build_id *id, struct symbol_image *img,
		     struct symbol_index **out);

/* The same where one is kept, and nothing is made; then IMG is asked for its path and build-id only. */
int symbol_index_find(const struct symbol_build_id *id, struct symbol_image *img,
		      struct symbol_index **out);

/* Makes the index of IMG in memory. -EFBIG if it is too large for any kernel; not reported. */
int symbol_index_build(struct symbol_image *img, struct symbol_index **out);

/*
 * Opens the index in PATH, which must be of the build ID (NULL: of any). -errno, not reported: -ESTALE
 * for an index of another build or of another version of this program, -EBADMSG for a damaged one.
 */
int symbol_index_open(const char *path, const struct symbol_build_id *id,
		      struct symbol_index **out);

/* Writes IDX to PATH, making its folder, by way of a temporary file. -errno, not reported. */
int symbol_index_write(const struct symbol_index *idx, const char *path);

void symbol_index_destroy(struct symbol_index *idx); /* accepts NULL */

/* Where the cache keeps the index of ID; NULL without a build-id. For free(). */
char *symbol_index_cache_path(const struct symbol_build_id *id);
/* Where the lab keeps the index of the vmlinux in PATH: beside it. For free(). */
char *symbol_index_beside_path(const char *path);

const struct symbol_build_id *symbol_index_build_id(const struct symbol_index *idx);
/* The file that IDX was read from; NULL for one that was made in memory and could not be kept. */
const char *symbol_index_path(const struct symbol_index *idx);
/* False: symbols only. */
bool symbol_index_has_dwarf(const struct symbol_index *idx);

/* --- functions ------------------------------------------------------------------------------ */

struct symbol_function {
	uint32_t id;
	const char *name; /* as in the source */
	const char
		*symbol; /* as in the symbol table, with clone suffixes; NULL where there is none */
	uint64_t addr; /* its entry */
	const char *file; /* where it is declared, relative to the kernel's tree; NULL: unknown */
	uint32_t line; /* 0: unknown */
	const struct symbol_range *ranges; /* ascending, its .cold part among them; none empty */
	size_t n_ranges;
	uint32_t first_body, n_bodies; /* the ids of the bodies inlined into it, at any depth */
};

typedef int (*symbol_function_fn)(const struct symbol_function *function, void *arg);

uint32_t symbol_index_n_functions(const struct symbol_index *idx);
/* -ENOENT where there is none of that id. */
int symbol_index_function(const struct symbol_index *idx, uint32_t id, struct symbol_function *out);
/* Tells FN of each function whose name matches GLOB (a name is a glob), by address. 0, or what FN said. */
int symbol_index_functions_each(const struct symbol_index *idx, const char *glob,
				symbol_function_fn fn, void *arg);

/* --- inlined bodies ------------------------------------------------------------------------- */

/* One body of an inlined call that left instructions behind. */
struct symbol_body {
	uint32_t id;
	const char *name; /* the function that is inlined, as in the source */
	const char *file; /* where that is declared; NULL: unknown */
	uint32_t line;
	struct symbol_function function; /* the out-of-line function whose code it is part of */
	uint32_t parent; /* the body around it; SYMBOL_NONE: it is called by the function itself */
	const char *caller; /* the name of that body, or of the function */
	const char *call_file; /* where the caller calls it; NULL: unknown */
	uint32_t call_line;
	/*
	 * DW_AT_entry_pc, else the lowest address. gcc puts it where the call was in the source: of one
	 * body in eight (of a kernel) that instruction has become the caller's, and is in no range.
	 */
	uint64_t entry;
	const struct symbol_range *ranges; /* ascending, apart from each other, none empty */
	size_t n_ranges;
};

typedef int (*symbol_body_fn)(const struct symbol_body *body, void *arg);

uint32_t symbol_index_n_bodies(const struct symbol_index *idx);
/* -ENOENT where there is none of that id. */
int symbol_index_body(const struct symbol_index *idx, uint32_t id, struct symbol_body *out);
/*
 * Tells FN of each inlined body whose name matches GLOB (a name is a glob), by name, then by the place
 * where it is declared (of several static functions of one name), then by id. *EMPTY (may be NULL) is
 * how often such names are inlined without an instruction being left of them, as far as DWARF tells; FN
 * is not told of those. Returns -ENOENT where the name of no inlined function matches, 0, or what FN
 * returned.
 */
int symbol_index_bodies_each(const struct symbol_index *idx, const char *glob, symbol_body_fn fn,
			     void *arg, uint32_t *empty);

/*
 * The names of the bodies between the body ID and its function, innermost first, with SEPARATOR between
 * them: "new_slab" for shuffle_freelist, inlined into new_slab, inlined into allocate_slab. For free();
 * NULL where there is none.
 */
char *symbol_index_chain(const struct symbol_index *idx, uint32_t id, const char *separator);

/* --- addresses ------------------------------------------------------------------------------ */

struct symbol_place {
	uint32_t function; /* SYMBOL_NONE: none that DWARF describes */
	uint32_t body; /* the innermost one; SYMBOL_NONE: ADDR is the function's own code */
	const char *file; /* of the instruction, in that body; NULL where unknown */
	uint32_t line;
	const char *symbol; /* that covers ADDR, a .cold part's own among them; NULL: none */
	uint64_t offset; /* from it */
};

/* What lies at ADDR; for a return address pass it less 1. -ENOENT where nothing is known. */
int symbol_index_at(const struct symbol_index *idx, uint64_t addr, struct symbol_place *out);

struct symbol_frame {
	const char *name; /* the function's, as in the source */
	const char *symbol; /* of the out-of-line function: with clone suffixes; else NULL */
	const char *file; /* relative to the kernel's tree; NULL where unknown */
	uint32_t line; /* the position within this body; 0 where unknown */
	bool inlined; /* the body of an inlined call: the next frame is the one around it */
};

/* Non-zero ends the iteration and is what the iterating function returns. */
typedef int (*symbol_frame_fn)(const struct symbol_frame *frame, void *arg);

/*
 * The frames at ADDR, innermost first: each inlined body that ADDR lies in, then the function. Without
 * DWARF there is one frame, from the symbol table. Returns
 * -ENOENT where nothing is known, 0, or what FN returned.
 */
int symbol_index_frames(const struct symbol_index *idx, uint64_t addr, symbol_frame_fn fn,
			void *arg);

/* Where the function at ADDR is declared. -ENOENT where unknown. */
int symbol_index_declaration(const struct symbol_index *idx, uint64_t addr, const char **file,
			     uint32_t *line);

#endif
