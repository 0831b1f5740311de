/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Differences between the code of two kernels' images: functions that only one has, and functions with other code.
 * Differences that follow from addresses are set aside.
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
	ANALYZE_CHANGE_NEW, /* the hardened kernel has it alone */
	ANALYZE_CHANGE_GONE, /* the baseline has it alone */
	ANALYZE_CHANGE_OFFSETS, /* the same instructions, which find fields at other offsets */
	ANALYZE_CHANGE_REGISTERS, /* the same, in other registers, another order, another stack frame */
	ANALYZE_CHANGE_RENAMED, /* the same code */
	ANALYZE_CHANGE_MOVED, /* the same code, whose source is in another file */
	ANALYZE_CHANGE_SAME,
	ANALYZE_N_CHANGES,
};

/* One function. Texts are the images' and indexes', or as long as the struct analyze_changes. */
struct analyze_changed {
	enum analyze_change_kind kind;
	const char *names[2]; /* of the symbol on each side, 0 the baseline; NULL: it has none */
	const char *name,
		*was; /* the hardened kernel's if it has one; the baseline's, if that is another */
	const char *files[2]; /* where it is declared; NULL: unknown */
	uint64_t addrs[2]; /* relative to _stext */
	double n_insns[2]; /* without padding; NAN of one whose code is the same */
	/* The number of functions that only the hardened kernel has, and only the baseline. */
	double added, removed;
	/* Direct calls of it and jumps to it elsewhere; of analyze_changes_all() only. */
	double callers;
	bool is_init; /* thrown away after boot */
	const char *inlined; /* "+new_body -old_body": more often on one side; NULL: nothing */
};

struct analyze_changes;

/*
 * Pair the functions of the baseline's and the hardened kernel's images and indexes, which must outlive the result
 * (0.5 s for a lab's kernel). INDEXES may have symbols only: then functions of one name are paired by their order, and
 * inlining is not known. Return 0, or -ENOTSUP for another architecture's, not reported.
 */
int analyze_changes_create(struct kernel_image *const images[2],
			   struct kernel_index *const indexes[2], struct analyze_changes **out);
void analyze_changes_destroy(struct analyze_changes *c); /* accepts NULL */

/*
 * The function that either side has under NAME, with or without the suffixes of compilers; of several the one that
 * has changed most. False where neither kernel has it out of line.
 */
bool analyze_changes_of(struct analyze_changes *c, const char *name, struct analyze_changed *out);

/* All that are not the same, by what is most likely to cost first; owned by C. *N_SAME: how many are. */
const struct analyze_changed *analyze_changes_all(struct analyze_changes *c, uint32_t *n,
						  uint32_t *n_same);

/* --- structures: data.c ---------------------------------------------------------------------- */

struct analyze_struct_change {
	const char *name;
	double sizes[2]; /* bytes */
	double moved; /* members of both that have another offset */
	char *members; /* "+added -gone"; NULL: both have the same ones */
};

struct analyze_structs {
	vec_of(struct analyze_struct_change, rows); /* those with other members first */
	struct kernel_btf *btf[2]; /* has the names */
	bool known; /* both kernels have BTF */
};

/* Structs that both kernels' BTF has once by their name, and lays out differently. DEINIT after use. */
void analyze_structs_init(struct analyze_structs *s, struct kernel_image *const images[2]);
void analyze_structs_deinit(struct analyze_structs *s);

/* --- variables: data.c ----------------------------------------------------------------------- */

struct analyze_variable {
	const char *name; /* the image's */
	double bytes;
	double words; /* of 8 bytes, that differ */
	double at; /* where the first of these is, in bytes */
	char *values[2]; /* its, hexadecimal */
};

struct analyze_variables {
	vec_of(struct analyze_variable, rows);
};

/*
 * Find the variables of both images that each name once, with one size, and that begin with other values. Addresses
 * differ if they are of other objects. C must outlive V; DEINIT after use.
 */
void analyze_variables_init(struct analyze_variables *v, struct analyze_changes *c);
void analyze_variables_deinit(struct analyze_variables *v);

/* ---- static keys that are on in one recording and off in the other ---- */

struct analyze_static_key {
	char *name;
	uint32_t on[2]; /* 1: it is */
	double jumps; /* places in the hardened kernel's code that it switches */
	char *functions; /* in which these are, with blanks between; NULL: none is known */
};

struct analyze_static_keys {
	vec_of(struct analyze_static_key, rows); /* by name */
	bool known; /* both recordings have their state */
};

/* Compare the keys of two recordings. IMG is the hardened kernel's image; NULL: there is none. */
void analyze_static_keys_init(struct analyze_static_keys *s, const struct profile *baseline,
			      const struct profile *hardened, struct kernel_image *img);
void analyze_static_keys_deinit(struct analyze_static_keys *s);

/* The first of S that switches code in FUNCTION; NULL: none does. */
const struct analyze_static_key *analyze_static_keys_of(const struct analyze_static_keys *s,
							const char *function);
