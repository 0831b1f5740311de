/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations that image.c, symtab.c and module.c share. */
#pragma once

#include <elfutils/libdwfl.h>

#include "kernel/image/image_elf.h"

struct symtab;

struct kernel_image {
	char *path;
	void *map;
	Elf *elf;
	struct kernel_build_id id;
	Elf_Scn *symtab_scn;
	uint64_t text_addr; /* address of the section .text */
	bool has_dwarf;
	bool has_code; /* false for a debug file, which has no bytes in its code sections */
	bool is_module; /* kernel_image_link() has laid out this relocatable file */
	Elf *dwarf_elf; /* debug file of a module that has the DWARF; NULL: ELF has the DWARF */
	/* The next four members are for modules only. */
	Dwfl *dwfl;
	struct kernel_image *debug; /* debug file with DWARF_ELF, owned by this image; or NULL */
	uint64_t *layout; /* address of each section, indexed by section number; 0: not loaded */
	size_t n_sections;
	struct symtab *symtab; /* NULL until it is first used */
	Dwarf *dwarf; /* NULL until it is first used, or if there is no DWARF */
};

/*
 * Made-up addresses for symbols outside of a module: symbol number N of the module's symbol table has MODULE_EXTERN + N *
 * MODULE_EXTERN_STEP. The displacement in a module's call can reach these addresses, which no section of a module has.
 */
#define MODULE_EXTERN      0x70000000u
#define MODULE_EXTERN_STEP 16u

/* Choose addresses for the sections of the module IMG, and relocate IMG and its DWARF to them. Return -errno without a message. */
int kernel_image_link(struct kernel_image *img);

void kernel_symtab_destroy(struct symtab *tab); /* accepts NULL */
