/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What image.c and symtab.c share. */
#ifndef KPROTPERF_KERNEL_IMAGE_IMAGE_IMPL_H
#define KPROTPERF_KERNEL_IMAGE_IMAGE_IMPL_H

#include "kernel/image/image_elf.h"

struct symtab;

struct kernel_image {
	char *path;
	void *map;
	size_t map_size;
	Elf *elf;
	struct kernel_build_id id;
	Elf_Scn *symtab_scn;
	uint64_t text_addr; /* of the section .text */
	bool has_dwarf;
	struct symtab *symtab; /* NULL until asked for */
	Dwarf *dwarf; /* likewise */
};

/* The symbol table, read now if it was not; never NULL, perhaps empty. */
struct symtab *kernel_image_symtab(struct kernel_image *img);
void kernel_symtab_destroy(struct symtab *tab); /* accepts NULL */

#endif
