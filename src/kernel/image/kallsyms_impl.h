/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filling a table of symbols, from the kernel's list or from its memory. */
#pragma once

#include "kernel/image/kallsyms.h"

#define KALLSYMS_NAME_MAX 512 /* KSYM_NAME_LEN, the NUL counted, since Linux 6.1 */

/* MODULE's name, or that of what else has symbols ("bpf"), as the table's symbols have it. */
const char *kallsyms_intern_module(struct kernel_kallsyms *ks, const char *name);

/* Adds SYM, in the list's order; its name is the table's (ks->names). */
void kallsyms_add(struct kernel_kallsyms *ks, const struct kernel_sym *sym);

/* All are there. */
void kallsyms_finish(struct kernel_kallsyms *ks);
