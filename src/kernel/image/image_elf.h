/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A vmlinux as an ELF file. kernel/code and kernel/debuginfo read its sections. */
#pragma once

#include <elfutils/libdw.h>
#include <libelf.h>

#include "kernel/image/image.h"

/* Return the ELF file. IMG owns it. */
Elf *kernel_image_elf(const struct kernel_image *img);
/* Return the ELF file that has the DWARF. For a module it may be another file. IMG owns it. */
Elf *kernel_image_dwarf_elf(const struct kernel_image *img);
/* Return the DWARF, or NULL if there is none. libdw reads only what is asked for. IMG owns it. */
Dwarf *kernel_image_dwarf(struct kernel_image *img);
/* Return the address of section SCN, in the file or in a module's layout; 0: it is not loaded. */
uint64_t kernel_image_section_address(const struct kernel_image *img, Elf_Scn *scn);
/* Return the file's address of _stext. Addresses of the interface are relative to it. */
uint64_t kernel_image_base(struct kernel_image *img);

/* Call FN for each entry of the ELF symbol table that has a name, which may be "". This includes data. */
typedef void (*kernel_elf_symbol_fn)(const Elf64_Sym *sym, const char *name, void *arg);
void kernel_image_elf_symbols_each(struct kernel_image *img, kernel_elf_symbol_fn fn, void *arg);

/*
 * Called with the symbol NAME (NULL: none) that covers the addresses from ADDR (relative to _stext) on. OFFSET is ADDR less
 * the symbol's address.
 */
typedef void (*kernel_symtab_fn)(uint64_t addr, const char *name, uint64_t offset, void *arg);
/* Call FN for each address at which kernel_image_symbol_at() changes its answer, in ascending order. */
void kernel_image_symbols_each(struct kernel_image *img, kernel_symtab_fn fn, void *arg);
