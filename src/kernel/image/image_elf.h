/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A vmlinux as an ELF file, for kernel/code and kernel/debuginfo, which read its sections. */
#pragma once

#include <elfutils/libdw.h>
#include <libelf.h>

#include "kernel/image/image.h"

/* Return the ELF file. IMG owns it. */
Elf *kernel_image_elf(const struct kernel_image *img);
/* Return the ELF file that has the DWARF, which may be a module's debug file. IMG owns the result. */
Elf *kernel_image_dwarf_elf(const struct kernel_image *img);
/* Return the DWARF, or NULL if there is none. libdw reads the DWARF on demand. IMG owns the result. */
Dwarf *kernel_image_dwarf(struct kernel_image *img);
/* Return the address of section SCN, in the file or in a module's layout. Return 0 if SCN is not loaded. */
uint64_t kernel_image_section_address(const struct kernel_image *img, Elf_Scn *scn);
/* Return the address of _stext in the file. Addresses in image.h are relative to _stext. */
uint64_t kernel_image_base(struct kernel_image *img);

/* Call FN for each entry of the ELF symbol table that has a name, which may be "". Entries of data are included. */
typedef void (*kernel_elf_symbol_fn)(const Elf64_Sym *sym, const char *name, void *arg);
void kernel_image_elf_symbols_each(struct kernel_image *img, kernel_elf_symbol_fn fn, void *arg);

/*
 * Called for addresses from ADDR (relative to _stext) on, which the symbol NAME covers (NULL: none). OFFSET is ADDR minus the
 * symbol's address.
 */
typedef void (*kernel_symtab_fn)(uint64_t addr, const char *name, uint64_t offset, void *arg);
/* Call FN for each address at which another symbol begins to cover addresses, in ascending order: see kernel_image_symbol_at(). */
void kernel_image_symbols_each(struct kernel_image *img, kernel_symtab_fn fn, void *arg);
