/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filling a table of symbols, from the kernel's list or from its memory. */
#pragma once

#include "kernel/image/kallsyms.h"

#define KALLSYMS_NAME_MAX 512 /* KSYM_NAME_LEN, the NUL counted, since Linux 6.1 */

/* Return the table's own copy of the module NAME; "bpf" and the like are names of modules, too. */
const char *kallsyms_intern_module(struct kernel_kallsyms *ks, const char *name);

/* Adds SYM, in the list's order; its name is the table's (ks->names). */
void kallsyms_add(struct kernel_kallsyms *ks, const struct kernel_sym *sym);

/* Call this after the last kallsyms_add(). */
void kallsyms_finish(struct kernel_kallsyms *ks);
