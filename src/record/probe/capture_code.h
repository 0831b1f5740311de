/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program part that reads a function's values: written for that function, since a general one would cost several times as much. */
#pragma once

#include <stdint.h>

struct record_later;
struct record_target;

/* How what pointers lead to is read, of which loads are cheap and bpf_probe_read_kernel() costs several times that. */
enum record_reading {
	RECORD_READING_TYPED, /* by loads: the verifier knows the types of fentry's arguments */
	RECORD_READING_UNTYPED, /* by loads of the running task's and this CPU's variables only */
	RECORD_READING_COPIES, /* by bpf_probe_read_kernel() */
};

/*
 * Puts what reads the values of TARGET's function where COPY, of a return program, has the placeholder for that: with R6 the
 * function's arguments and R7 a struct engine_reading it fills in the call's values and slot, and leaves their hash in R8. R9 and what calls
 * clobber are free. RET: which of the arguments is what the function returned.
 */
void record_capture_write(struct record_later *copy, const struct record_target *target,
			  uint32_t ret, enum record_reading how);
