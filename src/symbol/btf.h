/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions the kernel's BTF describes: the ones fentry can attach to. Those of a module are in
 * a BTF object of its own, split from the kernel's.
 */
#ifndef KPROTPERF_SYMBOL_BTF_H
#define KPROTPERF_SYMBOL_BTF_H

#include <stdint.h>

#define SYMBOL_BTF_DIR  "/sys/kernel/btf/"
#define SYMBOL_BTF_PATH SYMBOL_BTF_DIR "vmlinux"

struct btf;
struct symbol_btf;

/* Reads raw BTF, or an ELF file with BTF, from PATH. -errno, not reported: doing without is usual. */
int symbol_btf_load(const char *path, struct symbol_btf **out);
/* The same for a module's raw BTF, whose base is BASE, which must outlive it. Its own functions only. */
int symbol_btf_load_split(const char *path, const struct symbol_btf *base, struct symbol_btf **out);
void symbol_btf_destroy(struct symbol_btf *b); /* accepts NULL */

/* The type id of the function NAME, or -ENOENT. Of several (pahole keeps one) the first. */
int32_t symbol_btf_function(const struct symbol_btf *b, const char *name);

/* How many parameters the function with this type id has, or -EINVAL. */
int symbol_btf_function_nargs(const struct symbol_btf *b, int32_t id);

/* A descriptor of the running kernel's BTF object for MODULE, to be closed by the caller; -errno. */
int symbol_btf_module_open(const char *module);

/* libbpf's object, owned by B. */
const struct btf *symbol_btf_raw(const struct symbol_btf *b);

#endif
