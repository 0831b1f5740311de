/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index of a kernel's source: its functions, the functions inlined into them, and the source file and line of each address.
 * The index is one file, which is mapped and searched, so that DWARF is read only once.
 *
 * Addresses are relative to _stext, as in kernel/image/image.h. A body is one inlined copy of a function. Functions and bodies
 * have ids from 0 without gaps, which follow from the vmlinux alone. Functions are numbered by ascending entry. Bodies are
 * numbered function by function, and an outer body before the bodies inlined into it.
 *
 * All results belong to the index and are valid as long as the index exists. The file is not trusted: kernel_index_open() checks
 * it, and each use of a number in it checks that number again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "kernel/image/image.h"

struct kernel_index;

/* Id that stands for no function, or no inlined function. */
#define KERNEL_NONE UINT32_MAX

/*
 * Get the index of the kernel with build-id ID. Search for the index beside IMG's file and in the cache. If there is none, make an
 * index from IMG's DWARF, and write it to the cache if possible. If ID is NULL or empty, use the build-id of IMG; else IMG may be
 * NULL. Without DWARF the index has symbols only, and is not kept. Return -ENOENT if there is neither an index nor IMG, -EFBIG if
 * IMG is too large. The caller reports errors.
 */
int kernel_index_get(const struct kernel_build_id *id, struct kernel_image *img,
		     struct kernel_index **out);

/* Like kernel_index_get(), but return -ENOENT instead of making an index. Only IMG's path and build-id are used. */
int kernel_index_find(const struct kernel_build_id *id, struct kernel_image *img,
		      struct kernel_index **out);

/* Make the index of IMG in memory. Return -EFBIG, without a message, if a section of it is too large for 32-bit numbers. */
int kernel_index_build(struct kernel_image *img, struct kernel_index **out);

/*
 * Open the index in the file PATH. Its build-id must be ID (NULL: any). Return -ESTALE if the index is of another build or another
 * version of this program, -EBADMSG if it is damaged, or -errno. The caller reports errors.
 */
int kernel_index_open(const char *path, const struct kernel_build_id *id,
		      struct kernel_index **out);

/*
 * Write IDX to the file PATH through a temporary file, and create missing folders. Return -errno, without a message. -EIO: a
 * mapped file was truncated, so IDX may have been made from only a part of the vmlinux.
 */
int kernel_index_write(const struct kernel_index *idx, const char *path);

void kernel_index_destroy(struct kernel_index *idx); /* accepts NULL */
define_scoped(kernel_index_destroy, struct kernel_index);

/* Return the path of ID's index in the cache. Return NULL without a build-id or a cache folder. The caller frees the path. */
char *kernel_index_cache_path(const struct kernel_build_id *id);
/* Return the path of the index that scripts/lab puts beside the vmlinux PATH. The caller frees the result. */
char *kernel_index_beside_path(const char *path);

const struct kernel_build_id *kernel_index_build_id(const struct kernel_index *idx);
/* Return the path of the file that IDX was read from. Return NULL if IDX was made in memory. */
const char *kernel_index_path(const struct kernel_index *idx);
/* Return false if IDX has symbols only. */
bool kernel_index_has_dwarf(const struct kernel_index *idx);

struct kernel_function {
	uint32_t id;
	const char *name; /* name in the source */
	const char *symbol; /* name in the symbol table, with clone suffixes; NULL: none */
	uint64_t addr; /* address of its entry */
	const char *file; /* source file of the declaration, or NULL */
	uint32_t line; /* 0: unknown */
	const struct kernel_range *ranges; /* ascending; ranges of the .cold part are included */
	size_t n_ranges;
	uint32_t first_body, n_bodies; /* ids of the functions inlined into it, at any depth */
};

typedef int (*kernel_function_fn)(const struct kernel_function *function, void *arg);

/* Return 0, or -ENOENT if there is no function with this id. */
int kernel_index_function(const struct kernel_index *idx, uint32_t id, struct kernel_function *out);
/* Call FN for each function whose name matches GLOB, by ascending address, until FN returns non-zero. Return FN's last result. */
int kernel_index_functions_each(const struct kernel_index *idx, const char *glob,
				kernel_function_fn fn, void *arg);

/* One inlined copy of a function that still has instructions. */
struct kernel_body {
	uint32_t id;
	const char *name; /* name of the inlined function in the source */
	const char *file; /* source file that declares the inlined function, or NULL */
	uint32_t line;
	struct kernel_function function; /* the out-of-line function that contains the copy */
	uint32_t parent; /* id of the inlined caller; KERNEL_NONE: the caller is FUNCTION */
	const char *caller; /* name of the function that contains the call */
	const char *call_file; /* source file of the call, or NULL */
	uint32_t call_line;
	/*
	 * DW_AT_entry_pc, or the lowest address without this attribute. gcc sets the attribute to the address at which
	 * the call would be. For one in eight inlined functions of a kernel, the instruction at ENTRY belongs to the
	 * caller, and lies in none of RANGES.
	 */
	uint64_t entry;
	const struct kernel_range *ranges; /* ascending; none is empty or touches the next */
	size_t n_ranges;
};

typedef int (*kernel_body_fn)(const struct kernel_body *body, void *arg);

uint32_t kernel_index_n_bodies(const struct kernel_index *idx);
/* Return 0, or -ENOENT if there is no inlined function with this id. */
int kernel_index_body(const struct kernel_index *idx, uint32_t id, struct kernel_body *out);
/*
 * Call FN for each inlined copy of functions whose name matches GLOB, until FN returns non-zero. The order is by name, then by the
 * declaration's file and line (static functions may share a name), then by id. Set *EMPTY (may be NULL) to the number of matching
 * copies without instructions, as far as DWARF tells; FN is not called for these. Return -ENOENT if no inlined function has a
 * matching name, otherwise FN's last result.
 */
int kernel_index_bodies_each(const struct kernel_index *idx, const char *glob, kernel_body_fn fn,
			     void *arg, uint32_t *empty);

/*
 * Return the names of the inlined functions around the inlined function ID, innermost first, with SEPARATOR between the names. For
 * example, if shuffle_freelist is inlined into new_slab, and new_slab into allocate_slab, the result is "new_slab". Return NULL if
 * there are none. The caller frees the result.
 */
char *kernel_index_chain(const struct kernel_index *idx, uint32_t id, const char *separator);

struct kernel_place {
	uint32_t function; /* id of the function at ADDR; KERNEL_NONE: DWARF has none */
	uint32_t body; /* id of the innermost inlined function at ADDR, or KERNEL_NONE */
	const char *file; /* source file of the instruction at ADDR; NULL: unknown */
	uint32_t line;
	const char *symbol; /* the symbol at ADDR, which may be a .cold part; NULL: none */
	uint64_t offset; /* ADDR minus the symbol's address */
};

/* Find function, source line and symbol of the instruction at ADDR. For a return address pass it minus 1. -ENOENT: all unknown. */
int kernel_index_at(const struct kernel_index *idx, uint64_t addr, struct kernel_place *out);

struct kernel_frame {
	const char *name; /* name of the function in the source */
	const char *symbol; /* symbol with clone suffixes; NULL for an inlined function */
	const char *file; /* source file, relative to the kernel's tree; NULL: unknown */
	uint32_t line; /* line of the instruction or of the previous frame's call; 0: unknown */
	bool inlined; /* the frame is an inlined function; the next frame is its caller */
};

/* Called for a frame. A result other than 0 ends the iteration, and becomes its result. */
typedef int (*kernel_frame_fn)(const struct kernel_frame *frame, void *arg);

/*
 * Call FN for each frame at ADDR, innermost first: each inlined function that contains ADDR, then the out-of-line function.
 * Without DWARF there is one frame, from the symbol table. Return -ENOENT if nothing is known, otherwise FN's last result.
 */
int kernel_index_frames(const struct kernel_index *idx, uint64_t addr, kernel_frame_fn fn,
			void *arg);

/* Find the source file and line that declare the function at ADDR. Return -ENOENT if they are unknown. */
int kernel_index_declaration(const struct kernel_index *idx, uint64_t addr, const char **file,
			     uint32_t *line);
