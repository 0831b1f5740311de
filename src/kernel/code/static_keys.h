/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Static keys: the kernel's switches that are jumps in its code, which the running kernel patches in or out. Which of them
 * are on says what parameters, the CPU and the state of the kernel (a random generator that is seeded) make of one image.
 */
#pragma once

#include <stdint.h>

#include "base/alloc.h"

struct kernel_kallsyms;
struct kernel_kcore;

/* Return the name of the key OFFSET bytes into the variable NAME: "sched_feat_keys+0x10". For free(); NULL: another build has no such name. */
char *kernel_static_key_name(const char *name, uint64_t offset);

/*
 * The names of the image's keys that are on now, with blanks between, for free(): "init_on_alloc rseq_debug_enabled". NULL where the kernel's memory or KS do not tell.
 */
char *kernel_static_keys_on(const struct kernel_kcore *kcore, const struct kernel_kallsyms *ks);

/*
 * Appends to NAMES the image's variables that are keys of jumps in the LEN bytes of code at START, each once, in the order of the code.
 * Not those in other variables, as of tracepoints, nor those whose names compilers numbered.
 */
void kernel_static_keys_in(const struct kernel_kcore *kcore, const struct kernel_kallsyms *ks,
			   uint64_t start, uint64_t len, struct alloc_texts *names);
