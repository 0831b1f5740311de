/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reads a vmlinux, and for whom: image.c, symtab.c, cfi.c, dwarf.c, path.c, index_build.c. */
#ifndef KPROTPERF_SYMBOL_IMAGE_IMPL_H
#define KPROTPERF_SYMBOL_IMAGE_IMPL_H

#include <elfutils/libdw.h>
#include <libelf.h>

#include "symbol/image.h"
#include "symbol/index.h"

struct symtab;
struct paths;

struct symbol_image {
	char *path;
	void *map;
	size_t map_size;
	Elf *elf;
	struct symbol_build_id id;
	Elf_Scn *symtab_scn;
	uint64_t text_addr; /* of the section .text */
	bool has_dwarf;
	struct symtab *symtab; /* NULL until asked for */
	Dwarf *cfi_dw; /* for .debug_frame alone; likewise */
};

/* symtab.c */

/* The symbol table, read now if it was not; never NULL, perhaps empty. */
struct symtab *symbol_image_symtab(struct symbol_image *img);
void symbol_symtab_destroy(struct symtab *tab); /* accepts NULL */
/* The file's address of _stext, from which addresses of the interface count. */
uint64_t symbol_image_base(struct symbol_image *img);

/* From ADDR (relative to _stext) on symbol NAME is the one that covers, OFFSET bytes in; NULL: none. */
typedef void (*symbol_symtab_fn)(uint64_t addr, const char *name, uint64_t offset, void *arg);
/* Tells FN of every address where symbol_image_symbol_at() changes its answer, ascending. */
void symbol_image_symbols_each(struct symbol_image *img, symbol_symtab_fn fn, void *arg);

/* dwarf.c */

/* An inlined body within a function. */
struct dwarf_inlined {
	Dwarf_Die die;
	uint32_t parent; /* index of the inlined body around it; UINT32_MAX: the function itself */
	uint32_t first_range, n_ranges; /* in dwarf_function.ranges; none where no code is left */
};

/* A function with code of its own. */
struct dwarf_function {
	Dwarf_Die die;
	uint64_t entry; /* the file's address */
	uint32_t id; /* in the index that is made of it */
	/* Of symbol_dwarf_function_parse(). Preorder: a body comes after the one around it. */
	struct dwarf_inlined *inlined;
	uint32_t n_inlined, cap_inlined;
	struct symbol_range *ranges; /* the file's addresses; of each body ascending */
	uint32_t n_ranges, cap_ranges;
};

/* A range of addresses that belongs to the unit or function INDEX. */
struct dwarf_span {
	uint64_t start, end;
	uint32_t index;
};

struct dwarf_unit {
	Dwarf_Die die;
	struct dwarf_function *functions;
	uint32_t n_functions, cap_functions;
	Dwarf_Die *inlines; /* the functions that are inlined, wherever that is */
	uint32_t n_inlines, cap_inlines;
	struct dwarf_span *spans; /* of functions, by start */
	uint32_t n_spans, cap_spans;
};

struct dwarf {
	Dwarf *dw; /* NULL: there is none, or it cannot be read */
	struct dwarf_unit *units;
	uint32_t n_units, cap_units;
	struct dwarf_span *spans; /* of units, by start */
	uint32_t n_spans, cap_spans;
	struct paths *paths;
	/* How many more ranges may be read: a hostile file can name one huge list many times. */
	uint64_t range_budget;
};

/* The DWARF of IMG, its units and their functions listed; never NULL. */
struct dwarf *symbol_dwarf_create(struct symbol_image *img);
void symbol_dwarf_destroy(struct dwarf *d);
/* Lists the inlined bodies of a function. */
void symbol_dwarf_function_parse(struct dwarf *d, struct dwarf_function *function);
/*
 * The next range of DIE that is not empty; 0 at the end, else where to go on. OFFSET is 0 and *BASE
 * anything at the start.
 */
ptrdiff_t symbol_dwarf_next_range(struct dwarf *d, Dwarf_Die *die, ptrdiff_t offset,
				  Dwarf_Addr *base, struct symbol_range *range);
/* Forgets them again. */
void symbol_dwarf_function_forget(struct dwarf_function *function);
/* DW_AT_entry_pc of an inlined body, else where the first of its RANGES starts. */
uint64_t symbol_dwarf_entry(Dwarf_Die *die, const struct symbol_range *ranges);
/*
 * Where what DIE is a copy of is declared. *FILE, as the compiler named it, becomes NULL and *LINE 0 where
 * unknown.
 */
void symbol_dwarf_declaration(Dwarf_Die *die, const char **file, uint32_t *line);
/*
 * SPANS, sorted, cut into pieces that do not overlap, as a search for an address would find them: FN is
 * told of each by ascending address.
 */
typedef void (*symbol_dwarf_piece_fn)(uint64_t start, uint64_t end, uint32_t index, void *arg);
void symbol_dwarf_flatten(const struct dwarf_span *spans, uint32_t n, symbol_dwarf_piece_fn fn,
			  void *arg);
/* Where the inlined body DIE is called from; likewise. */
void symbol_dwarf_call_place(Dwarf_Die *die, const char **file, uint32_t *line);

/* path.c: names of source files as the kernel's tree has them. */

struct paths *symbol_paths_create(void);
void symbol_paths_destroy(struct paths *p); /* accepts NULL */
/*
 * Tells of a unit compiled in DIR from NAME; either may be NULL. The tree's place is known once
 * the one of init/main.c has been told.
 */
void symbol_paths_unit(struct paths *p, const char *dir, const char *name);
/* The tree, and the folder that it was built in, each with a slash at its end; NULL: not known yet. */
const char *symbol_paths_source_root(const struct paths *p);
const char *symbol_paths_build_root(const struct paths *p);
/* The path RAW relative to the kernel's tree, or as it is if it lies outside. Owned by P. */
const char *symbol_paths_relative(struct paths *p, const char *raw);

#endif
