/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find names, files and lines for the addresses in a profile. */
#pragma once

#include "profile/profile.h"
#include "kernel/debuginfo/index.h"
#include "kernel/image/kallsyms.h"

/* Return whether P's addresses have been resolved from DWARF. */
bool profile_is_resolved(const struct profile *p);

/* Add a site for the function SYM, without a mechanism that times it. Return its index. */
uint32_t profile_function_add(struct profile *p, const struct kernel_kallsyms *ks,
			      const struct kernel_sym *sym);

/* Return the location for ADDR. If ADDR is outside the kernel's image, set the location's function name. */
uint32_t profile_location_at(struct profile *p, const struct kernel_kallsyms *ks, uint64_t addr);

/* Return the location for code without a known address. Its only frame is LABEL, such as "[unknown]". */
uint32_t profile_location_label(struct profile *p, const char *label);

/* Set missing function names of locations, from the running kernel's symbols. */
void profile_resolve_kallsyms(struct profile *p, const struct kernel_kallsyms *ks);

/* Set functions, inlined functions, files and lines of P's locations and sites in the kernel's image, whose index is IDX. */
void profile_resolve_index(struct profile *p, const struct kernel_index *idx);

/*
 * Resolve addresses in modules that have no source lines, as profile_resolve_index() does. The index of each module comes from the
 * cache or the file with the build-id in P (PROFILE_ENV_MODULE). If neither is found, the function names stay. Return whether an
 * index has DWARF.
 */
bool profile_resolve_modules(struct profile *p);

/*
 * Resolve P from VMLINUX (--vmlinux). Return an error if VMLINUX is of another kernel than P. If VMLINUX is NULL and P has names
 * without source lines, use the vmlinux that `record` noted, a vmlinux in the usual folders, or its index in the cache. If none is
 * found, leave P unchanged. Commands that read a profile call this.
 */
int profile_resolve(struct profile *p, const char *vmlinux);

/* Return the module whose build-id is ENV's value, or NULL if ENV has another key. */
const char *profile_module_of_env(const struct profile_env *env);
/* Set ID to the build-id that the module NAME had in the recording P. If unknown, ID's length is 0. */
void profile_module_build_id(const struct profile *p, const char *name, struct kernel_build_id *id);
/* Return the file, or the symbol index, of the module NAME with the build-id in P, or NULL. */
struct kernel_image *profile_module_image(const struct profile *p, const char *name);
struct kernel_index *profile_module_index(const struct profile *p, const char *name);

/* Set ID to the build-id of P's kernel. If unknown, ID's length is 0. */
void profile_build_id(const struct profile *p, struct kernel_build_id *id);

/*
 * Open the vmlinux of P's kernel: VMLINUX unless NULL, else the vmlinux with the same build-id that `record` noted, that the lab
 * built, or in the usual folders. Return 0, or an error after a message if VMLINUX is missing or of another build. If none is
 * found, return 0, set *OUT to NULL and *WHY_NOT to the files that were tried; the caller frees *WHY_NOT.
 */
int profile_image(const struct profile *p, const char *vmlinux, struct kernel_image **out,
		  char **why_not);

/*
 * Set *OUT to the symbol index of P's kernel: from the cache if VMLINUX is NULL and the cache has it, else from profile_image().
 * Return 0, with *OUT NULL if there is none, or profile_image()'s error after its message.
 */
int profile_index(const struct profile *p, const char *vmlinux, struct kernel_index **out);
