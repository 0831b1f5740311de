/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generate BPF code that reads a function's captured values. General code for all functions would cost several times as much. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct record_saved_program;
struct record_target;

/* Read memory by BPF loads if the verifier knows its type, else by bpf_probe_read_kernel(), which costs several times as much. */
enum record_reading {
	RECORD_READING_CAST, /* loads read all memory; bpf_rdonly_cast() gives it a type */
	RECORD_READING_PLAIN, /* loads read fentry's arguments, the task and CPU variables only */
	RECORD_READING_COPIES, /* loads read no memory */
};

/*
 * Replace the placeholder in COPY, a program that runs at a function's return, by code that reads the values of TARGET's function.
 * The code gets the function's arguments in R6 and a struct engine_reading in R7. The code sets the call's values and slot, leaves
 * their hash in R8, and may use R9 and the registers that calls clobber. RET is the index of the argument that holds the return
 * value. TYPED: the arguments are fentry's. If the kernel refuses the program, try the next HOW.
 */
void record_capture_write(struct record_saved_program *copy, const struct record_target *target,
			  uint32_t ret, bool typed, enum record_reading how);
