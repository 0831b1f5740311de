/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "analyze/changes/changes.h"
#include "arch/arch.h"
#include "base/alloc.h"
#include "kernel/code/code.h"

#define CHANGES_NONE UINT32_MAX

/* Or a piece split off one. */
struct changes_function {
	uint64_t addr, end; /* relative to _stext */
	const char *name, *file;
	uint32_t pair; /* its number on the other side, or CHANGES_NONE */
	uint32_t callers;
	uint64_t shape; /* of all its code; 0: not asked for yet */
	bool is_cold;
};

struct changes_symbol {
	uint64_t addr, size; /* the file's address */
	const char *name;
	bool is_object; /* data */
};

struct changes_side {
	struct kernel_image *img;
	struct kernel_index *index;
	struct kernel_code *code;
	uint64_t base, end; /* the file's addresses of _stext and of its last symbol */
	uint64_t init_start, init_end; /* code that is thrown away, relative to _stext */
	vec_of(struct changes_function, functions); /* by address */
	vec_of(struct changes_symbol, symbols); /* by address; of one address the largest last */
};

struct analyze_changes {
	struct changes_side sides[2];
	struct decoder *decoder;
	struct alloc_texts texts;
	vec_of(struct analyze_changed, all);
	uint32_t n_same;
};

/* match.c: reads the symbols of SIDE, and pairs the functions of both. */
void changes_read_symbols(struct changes_side *side);
void changes_match(struct analyze_changes *c);
/* strcmp() of what tells where functions are declared, either may be NULL. */
int changes_compare_files(const char *x, const char *y);
/* The number of the function whose bytes ADDR (relative to _stext) is among, or CHANGES_NONE. */
uint32_t changes_function_at(const struct changes_side *side, uint64_t addr);
/* The bytes of a function, for free(); NULL where the file has none, or they are too many. */
uint8_t *changes_bytes(const struct changes_side *side, const struct changes_function *f);

/* compare.c: do an operand's values mean the same, at the instructions AT of both sides (relative to _stext)? */
bool changes_same_address(const struct analyze_changes *c, uint64_t a, uint64_t b);
bool changes_same_value(const struct analyze_changes *c, const struct arch_value *a,
			const struct arch_value *b, const uint64_t at[2]);

/* compare.c: fills in KIND, N_INSNS, ADDED and REMOVED of functions whose code a sweep does not find the same. */
void changes_compare(struct analyze_changes *c, struct analyze_changed *change);
