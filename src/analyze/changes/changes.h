/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Differences between the code of two kernel images: functions that only one image has, and functions with different code. Code
 * that differs only in addresses counts as the same.
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
	ANALYZE_CHANGE_OFFSETS, /* only member offsets differ, and perhaps registers */
	ANALYZE_CHANGE_REGISTERS, /* only registers, instruction order or stack frame differ */
	ANALYZE_CHANGE_RENAMED, /* same code, but the function has another name */
	ANALYZE_CHANGE_MOVED, /* same code, but from another source file */
	ANALYZE_CHANGE_SAME,
	ANALYZE_N_CHANGES,
};

/* A function of one or both kernels. The images, the indexes or the struct analyze_changes own its strings. */
struct analyze_changed {
	enum analyze_change_kind kind;
	const char *names[2]; /* symbol names; [0]: baseline, [1]: hardened; NULL: absent */
	/* NAME: the name in the hardened kernel, else in the baseline. WAS: a different name in the baseline, or NULL. */
	const char *name, *was;
	const char *files[2]; /* source file of the declaration; NULL: unknown */
	uint64_t addrs[2]; /* relative to _stext */
	double n_insns[2]; /* instructions without padding; NAN: not counted (same code) */
	/* ADDED: instructions that only the hardened kernel has. REMOVED: instructions that only the baseline has. */
	double added, removed;
	/* Direct calls and jumps to this function. Only analyze_changes_all() sets this number. */
	double callers;
	bool is_init; /* boot code that the kernel frees after boot */
	const char *inlined; /* functions that one kernel inlines more, such as "+f -g"; or NULL */
};

struct analyze_changes;

/*
 * Pair the functions of the baseline kernel and the hardened kernel in about 0.5 s. Images and indexes must outlive the result.
 * Without debug information, functions with equal names are paired in address order, and inlining is unknown. Return 0, or
 * -ENOTSUP (without a message) for an unsupported architecture.
 */
int analyze_changes_create(struct kernel_image *const images[2],
			   struct kernel_index *const indexes[2], struct analyze_changes **out);
void analyze_changes_destroy(struct analyze_changes *c); /* C may be NULL */

/*
 * Find the function called NAME in at least one kernel. NAME may lack suffixes such as ".isra.0". If several functions match,
 * choose the one that changed most. Return false if neither kernel has the function as a separate function.
 */
bool analyze_changes_of(struct analyze_changes *c, const char *name, struct analyze_changed *out);

/* Return the *N functions that differ, highest likely cost first. C owns the array. Set *N_SAME to the number of others. */
const struct analyze_changed *analyze_changes_all(struct analyze_changes *c, uint32_t *n,
						  uint32_t *n_same);

struct analyze_struct_change {
	const char *name;
	double sizes[2]; /* bytes */
	double moved; /* number of members that both structs have at different offsets */
	char *members; /* members that only one struct has, such as "+added -gone"; NULL: none */
};

struct analyze_structs {
	vec_of(struct analyze_struct_change, rows); /* structs with added/removed members first */
	struct kernel_btf *btf[2]; /* owns the names in ROWS */
	bool known; /* false: a kernel has no BTF type information */
};

/* Find structs with different layouts. Skip names that occur twice in a kernel's BTF. Call analyze_structs_deinit() after use. */
void analyze_structs_init(struct analyze_structs *s, struct kernel_image *const images[2]);
void analyze_structs_deinit(struct analyze_structs *s);

struct analyze_variable {
	const char *name; /* owned by the image */
	double bytes;
	double words; /* number of 8-byte words that differ */
	double at; /* offset in bytes of the first word that differs */
	char *values[2]; /* value of the first word that differs: a symbol, or hexadecimal */
};

struct analyze_variables {
	vec_of(struct analyze_variable, rows);
};

/*
 * Find variables with equal sizes and different initial values. Skip names that occur twice in an image. Pointers differ only if
 * they point to different objects. C must outlive V. Call analyze_variables_deinit() after use.
 */
void analyze_variables_init(struct analyze_variables *v, struct analyze_changes *c);
void analyze_variables_deinit(struct analyze_variables *v);

/* ---- static keys (run-time switches of kernel code) that differ between two recordings ---- */

struct analyze_static_key {
	char *name;
	uint32_t on[2]; /* [0]: baseline, [1]: hardened; 1: key is on, 0: key is off */
	double jumps; /* number of instructions that the key switches in the hardened kernel */
	char *functions; /* functions with these instructions, such as "f g"; NULL: unknown */
};

struct analyze_static_keys {
	vec_of(struct analyze_static_key, rows); /* sorted by name */
	bool known; /* false: a recording has not saved the states of static keys */
};

/* Find the static keys that differ. IMG is the hardened kernel's image. If IMG is NULL, JUMPS and FUNCTIONS stay unknown. */
void analyze_static_keys_init(struct analyze_static_keys *s, const struct profile *baseline,
			      const struct profile *hardened, struct kernel_image *img);
void analyze_static_keys_deinit(struct analyze_static_keys *s);

/* Return the first static key in S that switches code of FUNCTION, or NULL. */
const struct analyze_static_key *analyze_static_keys_of(const struct analyze_static_keys *s,
							const char *function);
