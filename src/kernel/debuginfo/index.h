/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index of a kernel's source: its functions, the bodies inlined into them, and the file and line
 * of every address, in one file that is mapped and searched, so that nobody reads DWARF twice.
 *
 * Addresses are relative to _stext, as in kernel/image/image.h. Functions and inlined bodies have ids, dense
 * from 0, which stay the same as long as the vmlinux does: functions by ascending entry, the bodies of
 * a function one after the other, each behind the one that it is inlined into.
 *
 * Everything handed out belongs to the index and lives as long as it. The file is not trusted: it is
 * checked whole when it is opened, and every number in it again when it is used.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "kernel/image/image.h"

struct kernel_index;

/* No function, no inlined body. */
#define KERNEL_NONE UINT32_MAX

/*
 * The index of the kernel with build-id ID, which is made, from IMG's DWARF, only where it is neither in
 * the cache nor beside IMG; then it is kept in the cache, if that can be written. ID may be NULL or
 * empty for IMG's own, and IMG may be NULL. Without DWARF the index has symbols only, and is not kept. -ENOENT
 * where there is neither an index nor IMG; -EFBIG where IMG's is too large; not reported.
 */
int kernel_index_get(const struct kernel_build_id *id, struct kernel_image *img,
		     struct kernel_index **out);

/* The same, but find a kept index only, and make none. IMG is asked for its path and build-id only. */
int kernel_index_find(const struct kernel_build_id *id, struct kernel_image *img,
		      struct kernel_index **out);

/* Makes the index of IMG in memory. -EFBIG if it is too large for any kernel; not reported. */
int kernel_index_build(struct kernel_image *img, struct kernel_index **out);

/*
 * Opens the index in PATH, which must be of the build ID (NULL: of any). -errno, not reported: -ESTALE
 * for an index of another build or of another version of this program, -EBADMSG for a damaged one.
 */
int kernel_index_open(const char *path, const struct kernel_build_id *id,
		      struct kernel_index **out);

/*
 * Writes IDX to PATH, making its folder, by way of a temporary file. -errno, not reported; -EIO where a file that is open was cut
 * off, of which it may have been made.
 */
int kernel_index_write(const struct kernel_index *idx, const char *path);

void kernel_index_destroy(struct kernel_index *idx); /* accepts NULL */
define_scoped(kernel_index_destroy, struct kernel_index);

/* Return the path of ID's index in the cache; NULL without a build-id. For free(). */
char *kernel_index_cache_path(const struct kernel_build_id *id);
/* Return the path of the lab's index of the vmlinux in PATH, which is beside it. For free(). */
char *kernel_index_beside_path(const char *path);

const struct kernel_build_id *kernel_index_build_id(const struct kernel_index *idx);
/* Return the file that IDX was read from; NULL: IDX was made in memory and could not be kept. */
const char *kernel_index_path(const struct kernel_index *idx);
/* False: symbols only. */
bool kernel_index_has_dwarf(const struct kernel_index *idx);

/* --- functions ------------------------------------------------------------------------------ */

struct kernel_function {
	uint32_t id;
	const char *name; /* name in the source */
	const char *symbol; /* name in the symbol table, with clone suffixes; NULL: none */
	uint64_t addr; /* address of its entry */
	const char *file; /* file of its declaration, in the kernel's tree; NULL: unknown */
	uint32_t line; /* 0: unknown */
	const struct kernel_range *ranges; /* ascending, its .cold part among them; none empty */
	size_t n_ranges;
	uint32_t first_body, n_bodies; /* the ids of the bodies inlined into it, at any depth */
};

typedef int (*kernel_function_fn)(const struct kernel_function *function, void *arg);

/* -ENOENT where there is none of that id. */
int kernel_index_function(const struct kernel_index *idx, uint32_t id, struct kernel_function *out);
/* Call FN for each function whose name matches GLOB (or is it), by address. Return 0, or what FN returned. */
int kernel_index_functions_each(const struct kernel_index *idx, const char *glob,
				kernel_function_fn fn, void *arg);

/* --- inlined bodies ------------------------------------------------------------------------- */

/* One body of an inlined call that left instructions behind. */
struct kernel_body {
	uint32_t id;
	const char *name; /* the function that is inlined, as in the source */
	const char *file; /* the file that declares the function; NULL: unknown */
	uint32_t line;
	struct kernel_function function; /* the out-of-line function whose code it is part of */
	uint32_t parent; /* the body around it; KERNEL_NONE: it is called by the function itself */
	const char *caller; /* the name of that body, or of the function */
	const char *call_file; /* the file of the call; NULL: unknown */
	uint32_t call_line;
	/*
	 * DW_AT_entry_pc, else the lowest address. gcc puts it where the call was in the source: of one
	 * body in eight (of a kernel) that instruction has become the caller's, and is in no range.
	 */
	uint64_t entry;
	const struct kernel_range *ranges; /* ascending, apart from each other, none empty */
	size_t n_ranges;
};

typedef int (*kernel_body_fn)(const struct kernel_body *body, void *arg);

uint32_t kernel_index_n_bodies(const struct kernel_index *idx);
/* -ENOENT where there is none of that id. */
int kernel_index_body(const struct kernel_index *idx, uint32_t id, struct kernel_body *out);
/*
 * Call FN for each inlined body whose name matches GLOB (or is it), sorted by name, then by place of the
 * declaration (static functions may share a name), then by id. *EMPTY (may be NULL) becomes the number of
 * matching bodies of which no instruction is left, as far as DWARF tells; FN is not called for these.
 * Return -ENOENT if the name of no inlined function matches, 0, or what FN returned.
 */
int kernel_index_bodies_each(const struct kernel_index *idx, const char *glob, kernel_body_fn fn,
			     void *arg, uint32_t *empty);

/*
 * The names of the bodies between the body ID and its function, innermost first, with SEPARATOR between
 * them: "new_slab" for shuffle_freelist, inlined into new_slab, inlined into allocate_slab. For free();
 * NULL where there is none.
 */
char *kernel_index_chain(const struct kernel_index *idx, uint32_t id, const char *separator);

/* --- addresses ------------------------------------------------------------------------------ */

struct kernel_place {
	uint32_t function; /* KERNEL_NONE: none that DWARF describes */
	uint32_t body; /* the innermost one; KERNEL_NONE: ADDR is the function's own code */
	const char *file; /* file of the instruction, in BODY's code; NULL: unknown */
	uint32_t line;
	const char *symbol; /* the symbol at ADDR, which may be a .cold part; NULL: none */
	uint64_t offset; /* ADDR less the symbol's address */
};

/* Find the place at ADDR; pass a return address less 1. -ENOENT: unknown. */
int kernel_index_at(const struct kernel_index *idx, uint64_t addr, struct kernel_place *out);

struct kernel_frame {
	const char *name; /* name of the function in the source */
	const char *symbol; /* symbol of an out-of-line function, with clone suffixes; else NULL */
	const char *file; /* relative to the kernel's tree; NULL where unknown */
	uint32_t line; /* the position within this body; 0 where unknown */
	bool inlined; /* the body of an inlined call: the next frame is the one around it */
};

/* Non-zero ends the iteration and is what the iterating function returns. */
typedef int (*kernel_frame_fn)(const struct kernel_frame *frame, void *arg);

/*
 * The frames at ADDR, innermost first: each inlined body that ADDR lies in, then the function. Without
 * DWARF there is one frame, from the symbol table. Returns
 * -ENOENT where nothing is known, 0, or what FN returned.
 */
int kernel_index_frames(const struct kernel_index *idx, uint64_t addr, kernel_frame_fn fn,
			void *arg);

/* Find the declaration of the function at ADDR. -ENOENT: unknown. */
int kernel_index_declaration(const struct kernel_index *idx, uint64_t addr, const char **file,
			     uint32_t *line);
