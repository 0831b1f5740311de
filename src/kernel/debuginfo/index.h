/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index of a kernel's source: its functions, the bodies inlined into them, and the file and line of each address. It
 * is one file, which is mapped and searched, so that DWARF is read only once.
 *
 * Addresses are relative to _stext, as in kernel/image/image.h. Functions and inlined bodies have ids from 0 without
 * gaps, which depend on the vmlinux only. Functions are numbered by ascending entry. Bodies are numbered function by
 * function, and an outer body before the bodies inlined into it.
 *
 * All results belong to the index and are valid as long as it exists. The file is not trusted: it is checked when it is
 * opened, and each number in it is checked again when it is used.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "kernel/image/image.h"

struct kernel_index;

/* Stands for no function, or no inlined body. */
#define KERNEL_NONE UINT32_MAX

/*
 * Get the index of the kernel with build-id ID. Search for it beside IMG and in the cache. If there is none, make it from
 * IMG's DWARF, and keep it in the cache if that can be written. ID may be NULL or empty for IMG's own build-id; IMG may
 * be NULL. Without DWARF the index has symbols only, and is not kept. Return -ENOENT if there is neither an index nor
 * IMG, -EFBIG if IMG is too large. Errors are not reported.
 */
int kernel_index_get(const struct kernel_build_id *id, struct kernel_image *img,
		     struct kernel_index **out);

/* Like kernel_index_get(), but return -ENOENT instead of making an index. Only the path and the build-id of IMG are used. */
int kernel_index_find(const struct kernel_build_id *id, struct kernel_image *img,
		      struct kernel_index **out);

/* Make the index of IMG in memory. Return -EFBIG, without a message, if a section of it is too large for 32-bit numbers. */
int kernel_index_build(struct kernel_image *img, struct kernel_index **out);

/*
 * Open the index in PATH. It must be of the build ID (NULL: of any). Return -ESTALE if it is of another build or another
 * version of this program, -EBADMSG if it is damaged, or -errno. Errors are not reported.
 */
int kernel_index_open(const char *path, const struct kernel_build_id *id,
		      struct kernel_index **out);

/*
 * Write IDX to PATH through a temporary file, and create missing folders. Return -errno, without a message. -EIO: a mapped
 * file was truncated, so IDX may have been made from a file that was read only in part.
 */
int kernel_index_write(const struct kernel_index *idx, const char *path);

void kernel_index_destroy(struct kernel_index *idx); /* accepts NULL */
define_scoped(kernel_index_destroy, struct kernel_index);

/* Return the path of ID's index in the cache, or NULL without a build-id. The caller frees it. */
char *kernel_index_cache_path(const struct kernel_build_id *id);
/* Return the path of the index that scripts/lab puts beside the vmlinux PATH. The caller frees it. */
char *kernel_index_beside_path(const char *path);

const struct kernel_build_id *kernel_index_build_id(const struct kernel_index *idx);
/* Return the file that IDX was read from. NULL: IDX was made in memory and could not be kept. */
const char *kernel_index_path(const struct kernel_index *idx);
/* Return false if IDX has symbols only. */
bool kernel_index_has_dwarf(const struct kernel_index *idx);

/* --- functions ------------------------------------------------------------------------------ */

struct kernel_function {
	uint32_t id;
	const char *name; /* name in the source */
	const char *symbol; /* name in the symbol table, with clone suffixes; NULL: none */
	uint64_t addr; /* address of its entry */
	const char *file; /* file of its declaration, in the kernel's tree; NULL: unknown */
	uint32_t line; /* 0: unknown */
	const struct kernel_range *ranges; /* ascending, not empty, with those of its .cold part */
	size_t n_ranges;
	uint32_t first_body, n_bodies; /* the ids of the bodies inlined into it, at any depth */
};

typedef int (*kernel_function_fn)(const struct kernel_function *function, void *arg);

/* Return -ENOENT if there is no function with this id. */
int kernel_index_function(const struct kernel_index *idx, uint32_t id, struct kernel_function *out);
/* Call FN for each function whose name matches GLOB or equals it, sorted by address. Return 0, or what FN returned. */
int kernel_index_functions_each(const struct kernel_index *idx, const char *glob,
				kernel_function_fn fn, void *arg);

/* --- inlined bodies ------------------------------------------------------------------------- */

/* One body of an inlined call that still has instructions. */
struct kernel_body {
	uint32_t id;
	const char *name; /* the function that is inlined, as in the source */
	const char *file; /* the file that declares the function; NULL: unknown */
	uint32_t line;
	struct kernel_function function; /* the out-of-line function whose code it is part of */
	uint32_t parent; /* the body that calls it; KERNEL_NONE: FUNCTION's own code calls it */
	const char *caller; /* the name of the body PARENT, or of FUNCTION */
	const char *call_file; /* the file of the call; NULL: unknown */
	uint32_t call_line;
	/*
	 * DW_AT_entry_pc, or the lowest address if there is no such attribute. gcc sets the attribute to the address of
	 * the call's place in the source. For one in eight bodies of a kernel, the instruction at ENTRY is the caller's,
	 * and in no range of the body.
	 */
	uint64_t entry;
	const struct kernel_range *ranges; /* ascending, apart from each other, none empty */
	size_t n_ranges;
};

typedef int (*kernel_body_fn)(const struct kernel_body *body, void *arg);

uint32_t kernel_index_n_bodies(const struct kernel_index *idx);
/* Return -ENOENT if there is no body with this id. */
int kernel_index_body(const struct kernel_index *idx, uint32_t id, struct kernel_body *out);
/*
 * Call FN for each inlined body whose name matches GLOB or equals it, sorted by name, then by place of the declaration
 * (static functions may share a name), then by id. *EMPTY (may be NULL) becomes the number of matching bodies that have
 * no instructions left, as far as DWARF tells; FN is not called for these. Return -ENOENT if no inlined function has a
 * matching name, 0, or what FN returned.
 */
int kernel_index_bodies_each(const struct kernel_index *idx, const char *glob, kernel_body_fn fn,
			     void *arg, uint32_t *empty);

/*
 * Return the names of the bodies between the body ID and its function, innermost first, with SEPARATOR between them:
 * "new_slab" for shuffle_freelist, which is inlined into new_slab, which is inlined into allocate_slab. Return NULL if
 * there are none. The caller frees the result.
 */
char *kernel_index_chain(const struct kernel_index *idx, uint32_t id, const char *separator);

/* --- addresses ------------------------------------------------------------------------------ */

struct kernel_place {
	uint32_t function; /* KERNEL_NONE: DWARF describes no function there */
	uint32_t body; /* the innermost one; KERNEL_NONE: ADDR is the function's own code */
	const char *file; /* file of the instruction, in BODY's code; NULL: unknown */
	uint32_t line;
	const char *symbol; /* the symbol at ADDR, which may be a .cold part; NULL: none */
	uint64_t offset; /* ADDR less the symbol's address */
};

/* Find the place of the instruction at ADDR. For a return address, pass it less 1. Return -ENOENT if nothing is known. */
int kernel_index_at(const struct kernel_index *idx, uint64_t addr, struct kernel_place *out);

struct kernel_frame {
	const char *name; /* name of the function in the source */
	const char *symbol; /* symbol of an out-of-line function, with clone suffixes; else NULL */
	const char *file; /* relative to the kernel's tree; NULL: unknown */
	uint32_t line; /* line of the instruction, or of the call of the frame before; 0: unknown */
	bool inlined; /* this is an inlined body; the next frame is its caller */
};

/* Return 0 to continue. Another value ends the iteration, which returns this value. */
typedef int (*kernel_frame_fn)(const struct kernel_frame *frame, void *arg);

/*
 * Call FN for each frame at ADDR, innermost first: each inlined body that contains ADDR, then the function. Without DWARF
 * there is one frame, from the symbol table. Return -ENOENT if nothing is known, 0, or what FN returned.
 */
int kernel_index_frames(const struct kernel_index *idx, uint64_t addr, kernel_frame_fn fn,
			void *arg);

/* Find the declaration of the function at ADDR. Return -ENOENT if it is unknown. */
int kernel_index_declaration(const struct kernel_index *idx, uint64_t addr, const char **file,
			     uint32_t *line);
