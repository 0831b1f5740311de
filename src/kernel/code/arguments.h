/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers in which a function takes its arguments, from its code alone: BTF may describe another function of the
 * same name.
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
	 * Return the number of argument registers that the function at ADDR reads, if it is known otherwise; -ENOENT: read its
	 * code; -EINVAL: unknown.
	 */
	int (*takes)(uint64_t addr, void *arg);
	void *arg;
};

/*
 * Does the function at ENTRY read an argument register beyond the first N? Its code is followed from there until each
 * of them is overwritten, as calls are taken to do. UNKNOWN where it leads through a pointer, to a jump that may be patched
 * in, or too far. Code that only an exception leads to is not seen. DECODER is one for many functions: capstone sorts all that it
 * knows, 60,000 instructions, for each anew.
 */
enum kernel_answer kernel_arguments_beyond(struct decoder *decoder,
					   const struct kernel_arguments_input *input,
					   uint64_t entry, unsigned int n);
