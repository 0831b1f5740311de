/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find the operands that a function's code, including inlined code, reads from outside: arguments, members behind
 * pointers, and variables. Find out which of them decide branches. Only the code is examined.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

enum kernel_operand_kind {
	KERNEL_OPERAND_ARGUMENT,
	KERNEL_OPERAND_MEMBER, /* OFFSET from where BASE points */
	KERNEL_OPERAND_GLOBAL, /* variable at ADDR */
	KERNEL_OPERAND_PER_CPU, /* per-CPU variable; ADDR is its offset in a CPU's area */
	/* Operands that only serve as the BASE of others: */
	KERNEL_OPERAND_CONSTANT, /* the number ADDR */
	KERNEL_OPERAND_BEHIND, /* the sum of BASE and ADDR, an address */
};

struct kernel_operand {
	enum kernel_operand_kind kind;
	bool decides; /* code compares it, or jumps by it, perhaps after arithmetic with constants */
	uint8_t argument; /* number of the argument register, from 0 */
	uint8_t bytes; /* size of the value in memory */
	uint16_t base; /* index of the operand BASE, which precedes this operand */
	int64_t offset;
	uint64_t addr;
};

struct kernel_operands {
	vec_of(struct kernel_operand, items); /* in the order in which the code reads them */
};

/*
 * Find the operands of a function's LEN bytes CODE at ADDR. Calls and indirect jumps are not followed. Return false if
 * there is no decoder for this machine's code.
 */
bool kernel_operands_of(const uint8_t *code, size_t len, uint64_t addr,
			struct kernel_operands *out);
void kernel_operands_deinit(struct kernel_operands *o);
