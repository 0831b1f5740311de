/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find the operands of a function's machine code (inlined functions included): values from outside that the code reads, such as
 * arguments, members behind pointers, and variables. Note which operands decide branches. Use no debug information.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

enum kernel_operand_kind {
	KERNEL_OPERAND_ARGUMENT,
	KERNEL_OPERAND_MEMBER, /* value at OFFSET bytes from the pointer BASE */
	KERNEL_OPERAND_GLOBAL, /* variable at ADDR */
	KERNEL_OPERAND_PER_CPU, /* per-CPU variable; ADDR is its offset in a CPU's area */
	/* Kinds of operands that are only a BASE of other operands: */
	KERNEL_OPERAND_CONSTANT, /* the number ADDR */
	KERNEL_OPERAND_BEHIND, /* the address BASE + ADDR */
};

struct kernel_operand {
	enum kernel_operand_kind kind;
	bool decides; /* the code compares the operand, or a branch depends on it */
	uint8_t argument; /* number of the argument register, from 0 */
	uint8_t bytes; /* size of the value in memory */
	uint16_t base; /* index of the operand that is the base; it precedes this operand */
	int64_t offset;
	uint64_t addr;
};

struct kernel_operands {
	vec_of(struct kernel_operand, items); /* in the order in which the code reads them */
};

/*
 * Find the operands in the LEN bytes of CODE of a function at ADDR. Do not follow calls and indirect jumps. Return false if there
 * is no decoder for this machine's code.
 */
bool kernel_operands_of(const uint8_t *code, size_t len, uint64_t addr,
			struct kernel_operands *out);
void kernel_operands_deinit(struct kernel_operands *o);
