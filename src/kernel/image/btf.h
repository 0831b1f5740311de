/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that the kernel's BTF describes, to which fentry can attach. A module's functions are in
 * a BTF object of its own, split from the kernel's.
 */
#pragma once

#include <stdint.h>

#include "base/alloc.h"

#define KERNEL_BTF_DIR  "/sys/kernel/btf/"
#define KERNEL_BTF_PATH KERNEL_BTF_DIR "vmlinux"

struct btf;
struct kernel_btf;

/* Reads raw BTF, or an ELF file with BTF, from PATH. -errno, not reported: doing without is usual. */
int kernel_btf_load(const char *path, struct kernel_btf **out);
/* The same for a module's raw BTF, whose base is BASE, which must outlive it. Its own functions only. */
int kernel_btf_load_split(const char *path, const struct kernel_btf *base, struct kernel_btf **out);
void kernel_btf_destroy(struct kernel_btf *b); /* accepts NULL */
define_scoped(kernel_btf_destroy, struct kernel_btf);

/* The type id of the function NAME, or -ENOENT. The first of several (pahole keeps one). */
int32_t kernel_btf_function(const struct kernel_btf *b, const char *name);

/*
 * Return the number of registers of a parameter of TYPE, if enough are left: a struct of up to 16 bytes is passed in one or two, a
 * larger one in none.
 */
int kernel_btf_registers(const struct btf *btf, uint32_t type);
/* The same of all parameters of the function with this type id. -E2BIG where it takes any number of them, else -EINVAL. */
int kernel_btf_function_registers(const struct kernel_btf *b, int32_t id);

/* A descriptor of the running kernel's BTF object for MODULE, to be closed by the caller; -errno. */
int kernel_btf_module_open(const char *module);

/* Return the offset of the member NAME in the struct TYPE, in bytes, or (NAME NULL) its size; -ENOENT. */
int kernel_btf_offset(const struct btf *btf, const char *type, const char *name);

/*
 * Write BTF to FD that has only some types of FROM: the structs and unions that LIKE has too (by name less "___flavor"), and the types
 * that they contain. All pointers become void *. Return 0 or -errno.
 */
int kernel_btf_reduce(const struct btf *from, const struct btf *like, int fd);

/* libbpf's object, owned by B. */
const struct btf *kernel_btf_raw(const struct kernel_btf *b);
