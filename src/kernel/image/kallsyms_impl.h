/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions to fill a table of symbols, from /proc/kallsyms or from the kernel's memory. */
#pragma once

#include "kernel/image/kallsyms.h"

#define KALLSYMS_NAME_MAX 512 /* KSYM_NAME_LEN since Linux 6.1, including the NUL */

/*
 * Cut "[MODULE]", which follows the first character BEFORE, off the end of NAME. Set *MODULE to it; NULL: none. Return false if the
 * text after BEFORE has another form.
 */
bool kallsyms_cut_module(char *name, char before, const char **module);

/* Return the table's own copy of the module name NAME, such as "ext4" or "bpf". */
const char *kallsyms_intern_module(struct kernel_kallsyms *ks, const char *name);

/* Add SYM. Call this in the order of symbols in /proc/kallsyms. SYM's name must belong to the table (ks->names). */
void kallsyms_add(struct kernel_kallsyms *ks, const struct kernel_sym *sym);

/* Call this after the last kallsyms_add(). */
void kallsyms_finish(struct kernel_kallsyms *ks);
