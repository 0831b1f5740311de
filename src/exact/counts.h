/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the counts of the emulator (emulator/write.c) into a profile.
 */
#pragma once

#include "kernel/debuginfo/index.h"
#include "kernel/image/kallsyms.h"
#include "profile/profile.h"

/*
 * Add the contents of the file PATH to run 0 of P: the calls of functions in each context, and all stacks, as one sample per
 * instruction. KS has the symbols of that boot. IDX (may be NULL) is the kernel's index, which splits the instructions of a
 * block by line and inlined body. Return 0 or -errno, reported.
 */
int exact_counts_read(struct profile *p, const char *path, const struct kernel_kallsyms *ks,
		      const struct kernel_index *idx);
