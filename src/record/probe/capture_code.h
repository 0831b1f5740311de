/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that reads a function's captured values. It is generated per function: general code would cost several times as much. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct record_saved_program;
struct record_target;

/* Memory is read by loads where the verifier knows its type, else by bpf_probe_read_kernel(), which costs several times as much. */
enum record_reading {
	RECORD_READING_CAST, /* loads read all memory, which bpf_rdonly_cast() gives a type */
	RECORD_READING_PLAIN, /* loads read fentry's arguments, the running task and this CPU's variables */
	RECORD_READING_COPIES, /* loads read nothing */
};

/*
 * Replace the placeholder in COPY, a return program's, by code that reads the values of TARGET's function. The code gets the
 * function's arguments in R6 and a struct engine_reading in R7. It fills in the call's values and slot, and leaves their hash in R8.
 * It may use R9 and the registers that calls clobber. RET: index of the argument that holds the return value. TYPED: the arguments
 * are fentry's. If the kernel refuses the program, it may accept one with the next HOW.
 */
void record_capture_write(struct record_saved_program *copy, const struct record_target *target,
			  uint32_t ret, bool typed, enum record_reading how);
