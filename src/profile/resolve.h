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

/* Return the location that stands for all code of which only LABEL is known. */
uint32_t profile_location_label(struct profile *p, const char *label);

/* Set the function names of locations that have no name yet, from the running kernel's symbols. */
void profile_resolve_kallsyms(struct profile *p, const struct kernel_kallsyms *ks);

/* Set functions, inlined bodies, files and lines, replacing older ones. IDX must be of P's kernel. */
void profile_resolve_index(struct profile *p, const struct kernel_index *idx);

/*
 * Set the same for addresses in modules without lines, from the index or the file of each module whose build-id P has
 * (PROFILE_ENV_MODULE). Without both they keep their functions' names. Return whether any line was found.
 */
bool profile_resolve_modules(struct profile *p);

/*
 * Resolve P from VMLINUX (--vmlinux), which must be of P's kernel, else return an error. Without VMLINUX, and if P has only
 * names, resolve it from the vmlinux that `record` noted, from one in the usual places, or from its index in the cache; if
 * none is found, leave P as it is. Commands that read a profile call this.
 */
int profile_resolve(struct profile *p, const char *vmlinux);

/* The module whose build-id ENV holds; NULL: it holds something else. */
const char *profile_module_of_env(const struct profile_env *env);
/* The build-id of the module NAME where P was recorded, of length 0 if unknown; its file and its index, or NULL. */
void profile_module_build_id(const struct profile *p, const char *name, struct kernel_build_id *id);
struct kernel_image *profile_module_image(const struct profile *p, const char *name);
struct kernel_index *profile_module_index(const struct profile *p, const char *name);

/* The build-id of P's kernel; of length 0 where that is not known. */
void profile_build_id(const struct profile *p, struct kernel_build_id *id);

/*
 * The vmlinux of P's kernel: VMLINUX where given, else the one that `record` noted, else what the usual places
 * or the lab have of that build. A VMLINUX that is missing or of another build is an error, reported. Where
 * there is none, that is 0 with *OUT NULL and in *WHY_NOT, for free(), what was tried.
 */
int profile_image(const struct profile *p, const char *vmlinux, struct kernel_image **out,
		  char **why_not);

/*
 * The index of P's kernel, from the cache where VMLINUX is NULL and it is there, else of profile_image(). 0 with *OUT
 * NULL where none is to be had; an error as of profile_image(), reported.
 */
int profile_index(const struct profile *p, const char *vmlinux, struct kernel_index **out);
