/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vmlinux file or a module, with or without DWARF. The index that is made from the file tells the source of an address: see
 * kernel/debuginfo/index.h.
 *
 * Addresses here are relative to _stext. So an address is the same in the file, in all boots of that kernel (KASLR), and in a
 * recording. Opening a file reads section headers only. The symbol table is read at the first question about symbols, and DWARF
 * when an index is made. Supported files are linked kernels (ET_EXEC, ET_DYN) and modules (ET_REL). A module's addresses are
 * relative to its first function.
 *
 * Returned strings belong to the image and are valid as long as it exists. The file is not trusted: damage can only make answers
 * missing. An image is not thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct kernel_image;

#define KERNEL_BUILD_ID_MAX 64
#define KERNEL_NOTES_PATH   "/sys/kernel/notes"

struct kernel_build_id {
	uint8_t bytes[KERNEL_BUILD_ID_MAX];
	size_t len; /* length in bytes; 0: no build-id */
};

/* Read the GNU build-id from a file of ELF notes, such as /sys/kernel/notes. Return -errno without a message. */
int kernel_build_id_read(const char *notes, struct kernel_build_id *id);
bool kernel_build_id_equal(const struct kernel_build_id *a, const struct kernel_build_id *b);
/* Write the build-id to BUF in lower-case hexadecimal, and return BUF. 2 * KERNEL_BUILD_ID_MAX + 1 bytes are always enough. */
const char *kernel_build_id_format(const struct kernel_build_id *id, char *buf, size_t size);

/*
 * Open EXPLICIT_PATH if it is given, else $KPROTPERF_VMLINUX if that is set, else the first file in the usual folders for RELEASE
 * (one with DWARF if possible). The file must have the build-id ID (NULL or of length 0: any). If a file that the user named is
 * missing or of another build, report the error and set *OUT to NULL. In the usual folders, skip such files. If none is left,
 * return 0, set *OUT to NULL, and set *WHY_NOT (may be NULL) to a text about the files, which the caller frees.
 */
int kernel_image_find(const char *explicit_path, const char *release,
		      const struct kernel_build_id *id, struct kernel_image **out, char **why_not);

/* Return whether NAME may be a kernel's release, and is safe as a folder's name. Return false for NULL. */
bool kernel_is_release(const char *name);

/*
 * Open one file whose path comes from a recording or a cache. The file must be a regular file of root or of the user. Return
 * -EPERM if it is another user's, or the errors of kernel_image_open(). The caller reports errors.
 */
int kernel_image_try(const char *path, struct kernel_image **out);

/* Return the path of scripts/lab's cache folder, followed by BELOW, such as "/kernels". The caller frees the result. */
char *kernel_lab_path(const char *below);

/* Read the build-id of the loaded module NAME. Return -errno without a message. */
int kernel_module_build_id(const char *name, struct kernel_build_id *id);
/*
 * Find the file of the module NAME with build-id ID, and its DWARF. Search the folders that packages and scripts/lab use for the
 * kernel RELEASE. If there is only a debug file, return the debug file. Return NULL if there is neither.
 */
struct kernel_image *kernel_module_find(const char *name, const char *release,
					const struct kernel_build_id *id);

/* Open one file, and report errors. Return -ENOEXEC if it is not a usable ELF file, or -errno. */
int kernel_image_open(const char *path, struct kernel_image **out);
void kernel_image_destroy(struct kernel_image *img); /* accepts NULL */
define_scoped(kernel_image_destroy, struct kernel_image);

const char *kernel_image_path(const struct kernel_image *img);
const struct kernel_build_id *kernel_image_build_id(const struct kernel_image *img);
bool kernel_image_has_symtab(const struct kernel_image *img);
bool kernel_image_has_dwarf(const struct kernel_image *img);

/*
 * Return whether the symbol NAME at ADDR is a function's entry (STT_FUNC, with a size, not a .cold part). Set *SIZE (may be NULL)
 * to its size in bytes. Without a symbol table, return false.
 */
bool kernel_image_is_function(struct kernel_image *img, const char *name, uint64_t addr,
			      uint64_t *size);

/*
 * Return the symbol that covers ADDR, or NULL. Prefer functions to labels. Set *OFFSET to ADDR minus the symbol's address. In a
 * module's file, calls of functions outside of the module lead to made-up addresses, a different one for each of these functions.
 */
const char *kernel_image_symbol_at(struct kernel_image *img, uint64_t addr, uint64_t *offset);

/* Return the data object that covers ADDR, an address in the file; NULL: none. Set *OFFSET to ADDR minus the object's address. */
const char *kernel_image_object_at(struct kernel_image *img, uint64_t addr, uint64_t *offset);

struct kernel_range {
	uint64_t start, end; /* END is the first address after the range */
};

/*
 * Return the name of the function, or of a part split off it (.cold), that contains ADDR. Set *RANGE to the addresses of the part
 * or function. Return NULL if the symbol table has no such function with a size.
 */
const char *kernel_image_extent(struct kernel_image *img, uint64_t addr,
				struct kernel_range *range);

/*
 * The base of a function's stack frame: the value of the stack pointer before the call of the function. OFFSET is the distance in
 * bytes from the current stack pointer or, if FROM_FP is true, from the frame pointer up to the base.
 */
struct kernel_frame_base {
	bool from_fp;
	int64_t offset;
};

/*
 * Find the base of the stack frame before the instruction at ADDR. Return -ENODATA without .debug_frame, -ENOENT if .debug_frame
 * does not cover ADDR, -ENOTSUP if the rule for ADDR does not fit struct kernel_frame_base.
 */
int kernel_image_frame_base(struct kernel_image *img, uint64_t addr,
			    struct kernel_frame_base *base);
