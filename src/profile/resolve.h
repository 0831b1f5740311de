/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names, files and lines for the addresses in a profile.
 */
#pragma once

#include "profile/profile.h"
#include "kernel/debuginfo/index.h"
#include "kernel/image/kallsyms.h"

/* Return whether P's addresses have been resolved from DWARF. */
bool profile_is_resolved(const struct profile *p);

/* Add a site for SYM, not yet timed by any mechanism. Return its index. */
uint32_t profile_function_add(struct profile *p, const struct kernel_kallsyms *ks,
			      const struct kernel_sym *sym);

/* Return the location for ADDR. Outside of the kernel's image its function's name is set. */
uint32_t profile_location_at(struct profile *p, const struct kernel_kallsyms *ks, uint64_t addr);

/* Return the location with one frame, LABEL, for code without a known address: "[unknown]". */
uint32_t profile_location_label(struct profile *p, const char *label);

/* Set the function names of locations that have no name yet, from the running kernel's symbols. */
void profile_resolve_kallsyms(struct profile *p, const struct kernel_kallsyms *ks);

/* Set functions, inlined bodies, files and lines, replacing older ones. IDX must be of P's kernel. */
void profile_resolve_index(struct profile *p, const struct kernel_index *idx);

/*
 * Do as profile_resolve_index() for addresses in modules without lines, from the cached index or the file of each module whose
 * build-id P has (PROFILE_ENV_MODULE). If neither is found, the addresses keep their functions' names. Return whether one of these
 * indexes has DWARF.
 */
bool profile_resolve_modules(struct profile *p);

/*
 * Resolve P from VMLINUX (--vmlinux), which must be of P's kernel, else return an error. Without VMLINUX, and if P has only
 * names, resolve it from the vmlinux that `record` noted, from one in the usual places, or from its index in the cache; if
 * none is found, leave P as it is. Commands that read a profile call this.
 */
int profile_resolve(struct profile *p, const char *vmlinux);

/* Return the name of the module whose build-id is ENV's value; NULL: ENV has another key. */
const char *profile_module_of_env(const struct profile_env *env);
/* Set ID to the build-id of the module NAME where P was recorded; its length is 0 if it is unknown. */
void profile_module_build_id(const struct profile *p, const char *name, struct kernel_build_id *id);
/* Return the file, or the index, of the module with that build-id; NULL: none. */
struct kernel_image *profile_module_image(const struct profile *p, const char *name);
struct kernel_index *profile_module_index(const struct profile *p, const char *name);

/* Set ID to the build-id of P's kernel; its length is 0 if it is unknown. */
void profile_build_id(const struct profile *p, struct kernel_build_id *id);

/*
 * Open the vmlinux of P's kernel: VMLINUX if it is not NULL, else the one that `record` noted, the lab's or one in the usual
 * places, with the same build-id. Return 0, or an error, reported, if VMLINUX is missing or of another build. If none is found,
 * return 0 and set *OUT to NULL and *WHY_NOT to the places that were tried, for free().
 */
int profile_image(const struct profile *p, const char *vmlinux, struct kernel_image **out,
		  char **why_not);

/*
 * Set *OUT to the index of P's kernel: from the cache if VMLINUX is NULL and the cache has it, else from profile_image(). Return 0,
 * with *OUT NULL if there is none, or profile_image()'s error, reported.
 */
int profile_index(const struct profile *p, const char *vmlinux, struct kernel_index **out);
