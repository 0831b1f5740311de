/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Read the counts that the emulator wrote (emulator/write.c) into a profile. */
#pragma once

#include "kernel/debuginfo/index.h"
#include "kernel/image/kallsyms.h"
#include "profile/profile.h"

/*
 * Add the contents of the file PATH to run 0 of P: the calls of functions in each context, and all stacks, with one sample per
 * instruction. KS has the symbols of the same boot. IDX (may be NULL) is the kernel's symbol index, which splits blocks by source
 * line and inlined function. Return 0, or -errno after a message.
 */
int exact_counts_read(struct profile *p, const char *path, const struct kernel_kallsyms *ks,
		      const struct kernel_index *idx);
