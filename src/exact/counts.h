/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the counts of the emulator (emulator/write.c) into a profile.
 */
#pragma once

#include "kernel/debuginfo/index.h"
#include "kernel/image/kallsyms.h"
#include "profile/profile.h"

/*
 * Adds what the file PATH has to run 0 of P: functions with their calls in each context, and as samples, of which each is
 * an instruction, all stacks. KS are the symbols of that boot. IDX, which may be NULL, is the kernel's index: with it the
 * instructions of a block are told apart by line and inlined body. -errno, reported.
 */
int exact_counts_read(struct profile *p, const char *path, const struct kernel_kallsyms *ks,
		      const struct kernel_index *idx);
