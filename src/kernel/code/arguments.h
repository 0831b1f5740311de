/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers in which a function takes its arguments. Only the function's code tells: BTF may describe another
 * function of the same name.
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
	 * Return the number of argument registers that the function at ADDR reads, if another source tells; -ENOENT: read
	 * its code; -EINVAL: the number is unknown.
	 */
	int (*takes)(uint64_t addr, void *arg);
	void *arg;
};

/*
 * Return whether the function at ENTRY reads an argument register beyond the first N. Follow its code until each of these
 * registers is overwritten; a call counts as overwriting them. Return UNKNOWN if the code leads through a pointer, to a
 * jump that may be patched in, or too far. Code that only an exception leads to is not examined. Use one DECODER for many
 * functions: to create one, capstone sorts all 60,000 instructions that it knows.
 */
enum kernel_answer kernel_arguments_beyond(struct decoder *decoder,
					   const struct kernel_arguments_input *input,
					   uint64_t entry, unsigned int n);
