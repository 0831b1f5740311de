/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions the kernel's BTF describes: the ones fentry can attach to.
 */
#ifndef KPROTPERF_SYMBOL_BTF_H
#define KPROTPERF_SYMBOL_BTF_H

#include <stdint.h>

#define SYMBOL_BTF_PATH "/sys/kernel/btf/vmlinux"

struct btf;
struct symbol_btf;

/* Reads raw BTF, or an ELF file with BTF, from PATH. -errno, not reported: doing without is usual. */
int symbol_btf_load(const char *path, struct symbol_btf **out);
void symbol_btf_destroy(struct symbol_btf *b); /* accepts NULL */

/* The type id of the function NAME, or -ENOENT. Of several (pahole keeps one) the first. */
int32_t symbol_btf_function(const struct symbol_btf *b, const char *name);

/* How many parameters the function with this type id has, or -EINVAL. */
int symbol_btf_function_nargs(const struct symbol_btf *b, int32_t id);

/* libbpf's object, owned by B. */
const struct btf *symbol_btf_raw(const struct symbol_btf *b);

#endif
