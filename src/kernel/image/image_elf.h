/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A vmlinux as an ELF file, for those who read its sections: kernel/code and kernel/debuginfo. */
#pragma once

#include <elfutils/libdw.h>
#include <libelf.h>

#include "kernel/image/image.h"

/* Owned by IMG. */
Elf *kernel_image_elf(const struct kernel_image *img);
/* The file that has its DWARF, likewise: a module's may be another one. */
Elf *kernel_image_dwarf_elf(const struct kernel_image *img);
/* Its DWARF, of which libdw reads what is asked for; NULL: it has none. Owned by IMG. */
Dwarf *kernel_image_dwarf(struct kernel_image *img);
/* Return the address of section SCN, in the file or in a module's layout; 0: it is not loaded. */
uint64_t kernel_image_section_address(const struct kernel_image *img, Elf_Scn *scn);
/* The file's address of _stext, from which addresses of the interface count. */
uint64_t kernel_image_base(struct kernel_image *img);

/* Tells FN of each entry of the ELF symbol table that has a name, perhaps "": of data too. */
typedef void (*kernel_elf_symbol_fn)(const Elf64_Sym *sym, const char *name, void *arg);
void kernel_image_elf_symbols_each(struct kernel_image *img, kernel_elf_symbol_fn fn, void *arg);

/* Symbol NAME covers the addresses from ADDR (relative to _stext) on; ADDR is OFFSET bytes behind its start. NULL: no symbol. */
typedef void (*kernel_symtab_fn)(uint64_t addr, const char *name, uint64_t offset, void *arg);
/* Tells FN of every address where kernel_image_symbol_at() changes its answer, ascending. */
void kernel_image_symbols_each(struct kernel_image *img, kernel_symtab_fn fn, void *arg);
