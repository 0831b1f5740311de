/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vmlinux on disk, with or without DWARF. What lies at an address, by source, is a question to the
 * index that is made of it: symbol/index.h.
 *
 * Every address here is relative to _stext, so it is the same in the file, in each boot of that
 * kernel (KASLR), and in a profile. Opening reads section headers only; the symbol table is read
 * at the first question about symbols, DWARF when an index is made. Only linked kernels (ET_EXEC,
 * ET_DYN): modules are relocatable and have to wait.
 *
 * Strings handed out belong to the image and live as long as it. The file is not trusted: damage
 * costs answers, nothing else. Not for several threads at once.
 */
#ifndef KPROTPERF_SYMBOL_IMAGE_H
#define KPROTPERF_SYMBOL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_image;

#define SYMBOL_BUILD_ID_MAX 64
#define SYMBOL_NOTES_PATH   "/sys/kernel/notes"

struct symbol_build_id {
	uint8_t bytes[SYMBOL_BUILD_ID_MAX];
	size_t len; /* 0: none */
};

/* The GNU build-id in a file of ELF notes, such as /sys/kernel/notes. -errno, not reported. */
int symbol_build_id_read(const char *notes, struct symbol_build_id *id);
bool symbol_build_id_equal(const struct symbol_build_id *a, const struct symbol_build_id *b);
/* Lower-case hexadecimal; a buffer of 2 * SYMBOL_BUILD_ID_MAX + 1 always suffices. */
const char *symbol_build_id_format(const struct symbol_build_id *id, char *buf, size_t size);

/*
 * Opens EXPLICIT_PATH if given, else $KPROTPERF_VMLINUX if set, else the first fitting file in the
 * usual places for RELEASE. ID is the build-id that the file must have; NULL or len 0 to accept any.
 * A file asked for that is missing or of another build is an error, reported, with *OUT NULL. In
 * the usual places such files are passed over; where nothing fits, that is 0 with *OUT NULL and in
 * *WHY_NOT (may be NULL; for free()) a phrase that tells what was tried.
 */
int symbol_image_find(const char *explicit_path, const char *release,
		      const struct symbol_build_id *id, struct symbol_image **out, char **why_not);

/* Opens one file. Reports its errors: -ENOEXEC for what is not a usable ELF file, or errno. */
int symbol_image_open(const char *path, struct symbol_image **out);
void symbol_image_destroy(struct symbol_image *img); /* accepts NULL */

const char *symbol_image_path(const struct symbol_image *img);
const struct symbol_build_id *symbol_image_build_id(const struct symbol_image *img);
bool symbol_image_has_symtab(const struct symbol_image *img);
bool symbol_image_has_dwarf(const struct symbol_image *img);

/*
 * Is the symbol NAME at ADDR a function's entry (STT_FUNC, of a size, not a .cold part)? Its bytes
 * go to *SIZE (may be NULL). Reads the symbol table only. Without one: false.
 */
bool symbol_image_is_function(struct symbol_image *img, const char *name, uint64_t addr,
			      uint64_t *size);

/* The symbol that covers ADDR (functions before labels), *OFFSET bytes in; NULL if none does. */
const char *symbol_image_symbol_at(struct symbol_image *img, uint64_t addr, uint64_t *offset);

struct symbol_range {
	uint64_t start, end; /* end is the first address after it */
};

/*
 * The function, or the piece split off one (.cold), whose code ADDR lies in: its name, and in *RANGE
 * where it is. NULL where the symbol table has none of a size.
 */
const char *symbol_image_extent(struct symbol_image *img, uint64_t addr,
				struct symbol_range *range);

/*
 * A function's frame begins at one address, whatever it has pushed so far: the stack pointer before it was
 * called. It is OFFSET bytes above the stack pointer, or above RBP. x86-64 only.
 */
struct symbol_frame_base {
	bool from_rbp;
	int64_t offset;
};

/*
 * Where that is before the instruction at ADDR. -ENODATA without .debug_frame, -ENOENT where it says
 * nothing of ADDR, -ENOTSUP where it is not so simple.
 */
int symbol_image_frame_base(struct symbol_image *img, uint64_t addr,
			    struct symbol_frame_base *base);

#endif
