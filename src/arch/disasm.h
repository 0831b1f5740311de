/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machine instructions as text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_disasm;

enum kernel_syntax {
	KERNEL_SYNTAX_ATT, /* as objdump and perf print kernel code */
	KERNEL_SYNTAX_INTEL,
};

/* NULL where there is no decoder for this machine's code. */
struct kernel_disasm *kernel_disasm_create(enum kernel_syntax syntax);
void kernel_disasm_destroy(struct kernel_disasm *d); /* accepts NULL */

/*
 * The instruction at the start of the LEN bytes CODE, which lie at ADDR, for free(): mnemonic and
 * operands with a blank between, or "(bad)". OPERANDS, if not NULL, takes the place of those that the
 * instruction has: the name of what it calls.
 */
char *kernel_disasm_text(struct kernel_disasm *d, const uint8_t *code, size_t len, uint64_t addr,
			 const char *operands);

/* The memory that the instruction of the last text names relative to itself; false where it does not. */
bool kernel_disasm_data(const struct kernel_disasm *d, uint64_t *addr);
