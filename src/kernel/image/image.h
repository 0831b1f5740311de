/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vmlinux on disk, with or without DWARF. The index that is made of it tells
 * which source lies at an address: kernel/debuginfo/index.h.
 *
 * Every address here is relative to _stext, so it is the same in the file, in each boot of that
 * kernel (KASLR), and in a profile. Opening reads section headers only; the symbol table is read
 * at the first question about symbols, DWARF when an index is made. Linked kernels (ET_EXEC, ET_DYN), and
 * modules (ET_REL), whose addresses are relative to their first function.
 *
 * Strings handed out belong to the image and live as long as it. The file is not trusted: damage
 * costs answers, nothing else. Not for several threads at once.
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
	size_t len; /* 0: none */
};

/* The GNU build-id in a file of ELF notes, such as /sys/kernel/notes. -errno, not reported. */
int kernel_build_id_read(const char *notes, struct kernel_build_id *id);
bool kernel_build_id_equal(const struct kernel_build_id *a, const struct kernel_build_id *b);
/* Lower-case hexadecimal; a buffer of 2 * KERNEL_BUILD_ID_MAX + 1 always suffices. */
const char *kernel_build_id_format(const struct kernel_build_id *id, char *buf, size_t size);

/*
 * Opens EXPLICIT_PATH if given, else $KPROTPERF_VMLINUX if set, else the first fitting file in the
 * usual places for RELEASE. ID is the build-id that the file must have; NULL or len 0 to accept any.
 * A file asked for that is missing or of another build is an error, reported, with *OUT NULL. In
 * the usual places such files are passed over; where nothing fits, that is 0 with *OUT NULL and in
 * *WHY_NOT (may be NULL; for free()) a phrase that tells what was tried.
 */
int kernel_image_find(const char *explicit_path, const char *release,
		      const struct kernel_build_id *id, struct kernel_image **out, char **why_not);

/* Return whether NAME may be a kernel's release, and is safe as a folder's name. NULL is neither. */
bool kernel_is_release(const char *name);

/*
 * Opens one file, which must be a regular one of root's or the user's, as what a recording or a cache names has to be.
 * -errno as kernel_image_open(), not reported; -EPERM: another's.
 */
int kernel_image_try(const char *path, struct kernel_image **out);

/* Return the path of BELOW in the cache of scripts/lab; for free(). */
char *kernel_lab_path(const char *below);

/* The build-id of the loaded module NAME. -errno, not reported. */
int kernel_module_build_id(const char *name, struct kernel_build_id *id);
/*
 * The file of the module NAME with build-id ID, of the kernel RELEASE, or its debug file: where packages and the lab
 * have them. NULL: there is none.
 */
struct kernel_image *kernel_module_find(const char *name, const char *release,
					const struct kernel_build_id *id);

/* Opens one file. Reports its errors: -ENOEXEC for what is not a usable ELF file, or errno. */
int kernel_image_open(const char *path, struct kernel_image **out);
void kernel_image_destroy(struct kernel_image *img); /* accepts NULL */
define_scoped(kernel_image_destroy, struct kernel_image);

const char *kernel_image_path(const struct kernel_image *img);
const struct kernel_build_id *kernel_image_build_id(const struct kernel_image *img);
bool kernel_image_has_symtab(const struct kernel_image *img);
bool kernel_image_has_dwarf(const struct kernel_image *img);

/*
 * Is the symbol NAME at ADDR a function's entry (STT_FUNC, of a size, not a .cold part)? Its bytes
 * go to *SIZE (may be NULL). Reads the symbol table only. Without one: false.
 */
bool kernel_image_is_function(struct kernel_image *img, const char *name, uint64_t addr,
			      uint64_t *size);

/*
 * The symbol that covers ADDR (functions before labels), *OFFSET bytes in; NULL if none does. A module also has symbols
 * for what it calls elsewhere, at the addresses that calls in the file have.
 */
const char *kernel_image_symbol_at(struct kernel_image *img, uint64_t addr, uint64_t *offset);

/* The data that covers the file's address ADDR, *OFFSET bytes in; NULL: nothing that has a size. */
const char *kernel_image_object_at(struct kernel_image *img, uint64_t addr, uint64_t *offset);

struct kernel_range {
	uint64_t start, end; /* end is the first address after it */
};

/*
 * The function, or the piece split off one (.cold), whose code ADDR lies in: its name, and in *RANGE
 * where it is. NULL where the symbol table has none of a size.
 */
const char *kernel_image_extent(struct kernel_image *img, uint64_t addr,
				struct kernel_range *range);

/*
 * A function's frame begins at one address, whatever it has pushed so far: the stack pointer before it was
 * called. It is OFFSET bytes above the stack pointer, or above the frame pointer.
 */
struct kernel_frame_base {
	bool from_fp;
	int64_t offset;
};

/*
 * Find that place before the instruction at ADDR. -ENODATA without .debug_frame, -ENOENT if it does not
 * cover ADDR, -ENOTSUP if its rule is not so simple.
 */
int kernel_image_frame_base(struct kernel_image *img, uint64_t addr,
			    struct kernel_frame_base *base);
