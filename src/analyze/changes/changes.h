/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Differences between the code of two kernels' images: functions that only one image has, and functions whose code differs.
 * Differences that are only due to other addresses do not count.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "kernel/debuginfo/index.h"
#include "kernel/image/image.h"
#include "profile/profile.h"

enum analyze_change_kind {
	ANALYZE_CHANGE_DIFFERS,
	ANALYZE_CHANGE_NEW, /* only the hardened kernel has the function */
	ANALYZE_CHANGE_GONE, /* only the baseline has the function */
	ANALYZE_CHANGE_OFFSETS, /* the same code, but offsets of fields differ; registers may */
	ANALYZE_CHANGE_REGISTERS, /* the same code, but registers, order or stack frame differ */
	ANALYZE_CHANGE_RENAMED, /* the same code under another name */
	ANALYZE_CHANGE_MOVED, /* the same code, from another source file */
	ANALYZE_CHANGE_SAME,
	ANALYZE_N_CHANGES,
};

/* One function. Its texts belong to the images, the indexes or the struct analyze_changes. */
struct analyze_changed {
	enum analyze_change_kind kind;
	const char *names[2]; /* name of the symbol, indexed by side (0: baseline); NULL: none */
	/* NAME: the hardened kernel's name, else the baseline's. WAS: the baseline's name if it differs from NAME, else NULL. */
	const char *name, *was;
	const char *files[2]; /* file of the declaration; NULL: unknown */
	uint64_t addrs[2]; /* relative to _stext */
	double n_insns[2]; /* without padding; NAN: not counted, both sides have equal code */
	/* The number of instructions that only the hardened kernel has, and that only the baseline has. */
	double added, removed;
	/* Direct calls and jumps from other functions; set by analyze_changes_all() only. */
	double callers;
	bool is_init; /* freed after boot */
	const char *inlined; /* bodies inlined more often on one side, "+new -old"; NULL: none */
};

struct analyze_changes;

/*
 * Pair the functions of the baseline's and the hardened kernel's images and indexes (0.5 s for a lab's kernel). Images and
 * indexes must outlive the result. If the indexes have only symbols, functions of one name are paired by their order, and inlining
 * is unknown. Return 0, or -ENOTSUP (not reported) for another architecture.
 */
int analyze_changes_create(struct kernel_image *const images[2],
			   struct kernel_index *const indexes[2], struct analyze_changes **out);
void analyze_changes_destroy(struct analyze_changes *c); /* accepts NULL */

/*
 * Find the function whose name is NAME on at least one side, with or without compilers' suffixes. Among several functions, take
 * the function that changed most. Return false if neither kernel has a function of this name out of line.
 */
bool analyze_changes_of(struct analyze_changes *c, const char *name, struct analyze_changed *out);

/* Return all functions that differ, the most likely to cost time first; C owns them. *N_SAME: number of unchanged functions. */
const struct analyze_changed *analyze_changes_all(struct analyze_changes *c, uint32_t *n,
						  uint32_t *n_same);

/* --- structures: data.c ---------------------------------------------------------------------- */

struct analyze_struct_change {
	const char *name;
	double sizes[2]; /* bytes */
	double moved; /* number of common members whose offsets differ */
	char *members; /* "+added -gone"; NULL: the same members */
};

struct analyze_structs {
	vec_of(struct analyze_struct_change, rows); /* structs with new or removed members first */
	struct kernel_btf *btf[2]; /* owns the names */
	bool known; /* both kernels have BTF */
};

/* Find structs whose name occurs once in each kernel's BTF and whose layouts differ. Call analyze_structs_deinit() after use. */
void analyze_structs_init(struct analyze_structs *s, struct kernel_image *const images[2]);
void analyze_structs_deinit(struct analyze_structs *s);

/* --- variables: data.c ----------------------------------------------------------------------- */

struct analyze_variable {
	const char *name; /* owned by the image */
	double bytes;
	double words; /* number of 8-byte words that differ */
	double at; /* offset of the first differing word, in bytes */
	char *values[2]; /* the first differing word on each side: a symbol, or hexadecimal */
};

struct analyze_variables {
	vec_of(struct analyze_variable, rows);
};

/*
 * Find the variables whose name occurs once in each image, with equal sizes and different initial values. Addresses in values
 * differ only if they point to different objects. C must outlive V. Call analyze_variables_deinit() after use.
 */
void analyze_variables_init(struct analyze_variables *v, struct analyze_changes *c);
void analyze_variables_deinit(struct analyze_variables *v);

/* ---- static keys that are on in one recording and off in the other ---- */

struct analyze_static_key {
	char *name;
	uint32_t on[2]; /* 1: on; indexed by side */
	double jumps; /* number of places that the key switches in the hardened kernel's code */
	char *functions; /* functions with such places, separated by blanks; NULL: none known */
};

struct analyze_static_keys {
	vec_of(struct analyze_static_key, rows); /* by name */
	bool known; /* both recordings have the state of their keys */
};

/* Find the static keys that differ. IMG is the hardened kernel's image; NULL: leave JUMPS and FUNCTIONS unknown. */
void analyze_static_keys_init(struct analyze_static_keys *s, const struct profile *baseline,
			      const struct profile *hardened, struct kernel_image *img);
void analyze_static_keys_deinit(struct analyze_static_keys *s);

/* Return the first key of S that switches code in FUNCTION, or NULL. */
const struct analyze_static_key *analyze_static_keys_of(const struct analyze_static_keys *s,
							const char *function);
