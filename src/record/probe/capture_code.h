/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program part that reads a function's values: written for that function, since a general one would cost several times as much. */
#ifndef KPROTPERF_RECORD_PROBE_CAPTURE_CODE_H
#define KPROTPERF_RECORD_PROBE_CAPTURE_CODE_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/target/capture.h"

struct record_code {
	struct bpf_insn *items;
	size_t n_items, cap_items;
};

/*
 * Appends what capture_close() of bpf/function.bpf.c has a placeholder for: with R6 the context of fexit and R7 a struct
 * engine_call, it fills in the values and SLOT, and leaves their hash in R8. R9 and what calls clobber are free. N_ARGS: of the
 * function that is captured. What pointers lead to is loaded as the verifier knows its type, or (DIRECT false) as
 * bpf_probe_read_kernel() does, which costs several times that.
 */
void record_capture_code(struct record_code *code, const struct record_capture *c, uint32_t slot,
			 uint32_t n_args, bool direct);

#endif
