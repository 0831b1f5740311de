/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generate BPF code that reads a function's values to capture. General code for all functions would take several times as long. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct record_saved_program;
struct record_target;

/* Ways of reading memory. A BPF load needs a type that the verifier knows; bpf_probe_read_kernel() costs several times as much. */
enum record_reading {
	RECORD_READING_CAST, /* loads read all memory; bpf_rdonly_cast() gives it a type */
	RECORD_READING_PLAIN, /* loads read fentry's arguments, the task and CPU variables only */
	RECORD_READING_COPIES, /* loads read no memory */
};

/*
 * Replace the placeholder in COPY, a program that runs at a function's return, by code that reads the values of TARGET's function.
 * The code gets the function's arguments in R6 and a struct engine_reading in R7. The code sets the call's values and slot, leaves
 * their hash in R8, and may use R9 and the registers that calls clobber. RET is the index of the argument that holds the return
 * value. TYPED: fentry passes arguments, with known types. If the kernel refuses the program, try the next HOW.
 */
void record_capture_write(struct record_saved_program *copy, const struct record_target *target,
			  uint32_t ret, bool typed, enum record_reading how);
