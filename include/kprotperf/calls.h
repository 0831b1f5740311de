/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory by which build/workloads/calls, in a guest, gets system call programs from the emulator's plugin (emulator/explore). At
 * MARK_NEXT, RDI has the address of CALLS_TEXT bytes, into which the plugin writes a program, and RSI the address of the last
 * program's struct calls_outcome. An empty program ends the guest's part. At MARK_STEP, RDI has the number of the program's line
 * that begins, from 1; the number after the last line is the end of the program's process; 0 is outside of programs.
 */
#pragma once

#include <stdint.h>

#define CALLS_LINES 8 /* maximum number of lines of a program */
#define CALLS_TEXT  8192 /* maximum bytes of a program, with the NUL byte at its end */

enum calls_state {
	CALLS_RAN,
	CALLS_INVALID, /* the program has an error */
	CALLS_KILLED, /* a signal ended the program */
};

struct calls_outcome {
	uint32_t state; /* enum calls_state */
	uint32_t signal; /* for CALLS_KILLED */
	uint32_t n; /* number of lines */
	struct {
		uint32_t failed; /* number of calls that failed */
		int32_t error; /* errno of the last one */
	} lines[CALLS_LINES];
};
