/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "analyze/changes/changes.h"
#include "arch/arch.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/code/code.h"

#define CHANGES_NONE UINT32_MAX

/* A function, or code that the compiler split off a function (FUNC.cold). */
struct changes_function {
	uint64_t addr, end; /* relative to _stext */
	const char *name, *file;
	uint32_t pair; /* index of the same function in the other kernel, or CHANGES_NONE */
	uint32_t callers;
	uint64_t shape; /* hash of the instructions, ignoring their symbols; 0: not computed yet */
	bool is_cold;
};

struct changes_symbol {
	uint64_t addr, size; /* ADDR: absolute address in the image file */
	const char *name;
	bool is_object; /* true: the symbol is a variable */
};

struct changes_side {
	struct kernel_image *img;
	struct kernel_index *index;
	struct kernel_code *code;
	uint64_t base, end; /* absolute addresses of _stext and of the last symbol */
	uint64_t init_start, init_end; /* absolute addresses of code that is freed after boot */
	vec_of(struct changes_function, functions); /* sorted by address */
	struct pointers by_name; /* FUNCTIONS without suffixes, then by IS_COLD */
	vec_of(struct changes_symbol, symbols); /* sorted by address, then size */
};

struct analyze_changes {
	struct changes_side sides[2];
	struct decoder *decoder;
	struct alloc_texts texts;
	vec_of(struct analyze_changed, all);
	uint32_t n_same;
};

/* match.c: changes_read_symbols() reads one kernel's symbols. changes_match() pairs the functions of both kernels. */
void changes_read_symbols(struct changes_side *side);
void changes_match(struct analyze_changes *c);
/* Compare the last folder and the file name of two paths. Return a value like strcmp(). X or Y may be NULL. */
int changes_compare_files(const char *x, const char *y);
/* Return the index of the function that covers ADDR (relative to _stext), or CHANGES_NONE. */
uint32_t changes_function_at(const struct changes_side *side, uint64_t addr);
/* Return the function's bytes, or NULL if the image file does not have all of them. The caller frees the bytes. */
uint8_t *changes_bytes(const struct changes_side *side, const struct changes_function *f);

/* compare.c: return whether A (baseline) and B (hardened) denote the same object or number. AT: addresses of both instructions. */
bool changes_same_address(const struct analyze_changes *c, uint64_t a, uint64_t b);
bool changes_same_value(const struct analyze_changes *c, const struct arch_value *a,
			const struct arch_value *b, const uint64_t at[2]);

/* compare.c: compare the flow graphs of the function's two versions. Set KIND, N_INSNS, ADDED and REMOVED of CHANGE. */
void changes_compare(struct analyze_changes *c, struct analyze_changed *change);
