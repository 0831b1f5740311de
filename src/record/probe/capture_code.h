/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program part that reads a function's values: written for that function, since a general one would cost several times as much. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct record_saved_program;
struct record_target;

/* Memory is read by loads where the verifier knows its type, else by bpf_probe_read_kernel(), which costs several times as much. */
enum record_reading {
	RECORD_READING_CAST, /* loads read all memory, as bpf_rdonly_cast() gives it a type */
	RECORD_READING_PLAIN, /* loads read fentry's arguments, the running task and this CPU's variables */
	RECORD_READING_COPIES, /* loads read nothing */
};

/*
 * Puts what reads the values of TARGET's function where COPY, of a return program, has the placeholder for that: with R6 the
 * function's arguments and R7 a struct engine_reading it fills in the call's values and slot, and leaves their hash in R8. R9 and what calls
 * clobber are free. RET: which of the arguments is what the function returned. TYPED: they are fentry's.
 * The kernel may accept the next HOW if it refuses one.
 */
void record_capture_write(struct record_saved_program *copy, const struct record_target *target,
			  uint32_t ret, bool typed, enum record_reading how);
