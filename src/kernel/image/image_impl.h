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
	bool has_code; /* false for a debug file, whose code sections are empty */
	bool is_module; /* relocatable: linked by kernel_image_link() */
	Elf *dwarf_elf; /* a module's debug file with the DWARF; NULL: ELF has the DWARF */
	/* The next four members are for modules only. */
	Dwfl *dwfl;
	struct kernel_image *debug; /* owned debug file with DWARF_ELF, or NULL */
	uint64_t *layout; /* by section number: the section's address; 0: not loaded */
	size_t n_sections;
	struct symtab *symtab; /* NULL until it is first used */
	Dwarf *dwarf; /* NULL until it is first used, or if there is no DWARF */
};

/*
 * Made-up addresses for symbols outside of a module: symbol number N of the module's symbol table has MODULE_EXTERN + N *
 * MODULE_EXTERN_STEP. A call in the module can reach these addresses. No real module is that far away from another.
 */
#define MODULE_EXTERN      0x70000000u
#define MODULE_EXTERN_STEP 16u

/* Give addresses to the sections of the module IMG. Relocate IMG and its DWARF to them. Return -errno without a message. */
int kernel_image_link(struct kernel_image *img);

void kernel_symtab_destroy(struct symtab *tab); /* accepts NULL */
