/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Examine a function's code to find the registers in which the function takes its arguments. BTF does not suffice: it may describe
 * another function of the same name.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/image/tracing.h"

struct decoder;

struct kernel_arguments_input {
	/* Read up to LEN bytes of the code that is executed at ADDR. Return the number of bytes; 0: there are none. */
	size_t (*read)(uint64_t addr, void *buf, size_t len, void *arg);
	/*
	 * Return the number of argument registers that the function at ADDR takes, for example by BTF. The examined code calls
	 * that function. Return -ENOENT if its code must be examined instead, or -EINVAL if the number cannot be found.
	 */
	int (*takes)(uint64_t addr, void *arg);
	void *arg;
};

/*
 * Return whether the function at ENTRY reads an argument register beyond the first N. Follow the function's code and its calls
 * until all these registers are overwritten. Code after a call cannot read them. Return UNKNOWN if the code jumps through a
 * pointer, has a nop that may be a static key's jump, or is too long. Do not examine code that only an exception leads to. Use one
 * DECODER for many functions: to create a decoder, capstone sorts all 60,000 instructions that it knows.
 */
enum kernel_answer kernel_arguments_beyond(struct decoder *decoder,
					   const struct kernel_arguments_input *input,
					   uint64_t entry, unsigned int n);
