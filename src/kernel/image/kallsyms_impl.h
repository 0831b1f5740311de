/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fill a table of symbols, from the kernel's list or from its memory. */
#pragma once

#include "kernel/image/kallsyms.h"

#define KALLSYMS_NAME_MAX 512 /* KSYM_NAME_LEN since Linux 6.1, including the NUL */

/* Return the table's copy of the module name NAME. "bpf" and the like are names of modules too. */
const char *kallsyms_intern_module(struct kernel_kallsyms *ks, const char *name);

/* Add SYM. Symbols must come in the order of /proc/kallsyms. The table must own SYM's name (ks->names). */
void kallsyms_add(struct kernel_kallsyms *ks, const struct kernel_sym *sym);

/* Call this after the last kallsyms_add(). */
void kallsyms_finish(struct kernel_kallsyms *ks);
