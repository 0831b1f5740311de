/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that the kernel's BTF describes. fentry can attach only to these functions. A module has its own BTF
 * object, which is split from the kernel's.
 */
#pragma once

#include <stdint.h>

#include "base/alloc.h"

#define KERNEL_BTF_DIR  "/sys/kernel/btf/"
#define KERNEL_BTF_PATH KERNEL_BTF_DIR "vmlinux"

struct btf;
struct kernel_btf;

/* Read BTF, raw or in an ELF file, from PATH. Return -errno without a message, because kprotperf can do without BTF. */
int kernel_btf_load(const char *path, struct kernel_btf **out);
/* Read a module's raw BTF from PATH. BASE is the kernel's BTF, and must outlive *OUT. *OUT has the module's functions only. */
int kernel_btf_load_split(const char *path, const struct kernel_btf *base, struct kernel_btf **out);
void kernel_btf_destroy(struct kernel_btf *b); /* accepts NULL */
define_scoped(kernel_btf_destroy, struct kernel_btf);

/* Return the type id of the function NAME, or -ENOENT. Of several functions with this name, pahole may keep only one in BTF. */
int32_t kernel_btf_function(const struct kernel_btf *b, const char *name);

/*
 * Return the number of registers in which a parameter of TYPE is passed, if enough are free. A struct of up to 16 bytes takes one
 * or two registers, a larger struct none.
 */
int kernel_btf_registers(const struct btf *btf, uint32_t type);
/*
 * Return the number of argument registers that all parameters of function ID take. Return -E2BIG if the function has variable
 * arguments, -EINVAL if ID is not a function.
 */
int kernel_btf_function_registers(const struct kernel_btf *b, int32_t id);

/* Return a descriptor of the running kernel's BTF object for MODULE, or -errno. The caller closes the descriptor. */
int kernel_btf_module_open(const char *module);

/* Return the offset in bytes of the member NAME in the struct TYPE; if NAME is NULL, the size of TYPE. -ENOENT: there is none. */
int kernel_btf_offset(const struct btf *btf, const char *type, const char *name);

/*
 * Write a part of the BTF FROM to FD: the structs and unions whose names LIKE has, too (a suffix "___flavor" is ignored), and all
 * types in them. All pointers become void *. Return 0 or -errno.
 */
int kernel_btf_reduce(const struct btf *from, const struct btf *like, int fd);

/* Return libbpf's object, which B owns. */
const struct btf *kernel_btf_raw(const struct kernel_btf *b);
