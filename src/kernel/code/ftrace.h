/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's ftrace locations, from its memory. Its own list of them, available_filter_functions, is text that
 * takes it longer to print than all else that a recording of one function begins with, and tells no addresses
 * before 6.5.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct btf;
struct kernel_kallsyms;
struct kernel_kcore;

/*
 * Reads them from KCORE, modules' among them: *N addresses in *ADDRS, for free(). -errno, not reported: where BTF
 * or KS do not tell where they are, or it was changed meanwhile.
 */
int kernel_ftrace_read(const struct kernel_kcore *kcore, const struct btf *btf,
		       const struct kernel_kallsyms *ks, uint64_t **addrs, size_t *n);
