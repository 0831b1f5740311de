/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machine instructions as text. x86-64 only. */
#ifndef KPROTPERF_SYMBOL_DISASM_H
#define KPROTPERF_SYMBOL_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_disasm;

enum symbol_syntax {
	SYMBOL_SYNTAX_ATT, /* as objdump and perf print kernel code */
	SYMBOL_SYNTAX_INTEL,
};

/* NULL where there is no decoder for this machine's code. */
struct symbol_disasm *symbol_disasm_create(enum symbol_syntax syntax);
void symbol_disasm_destroy(struct symbol_disasm *d); /* accepts NULL */

/*
 * The instruction at the start of the LEN bytes CODE, which lie at ADDR, for free(): mnemonic and
 * operands with a blank between, or "(bad)". OPERANDS, if not NULL, takes the place of those that the
 * instruction has: the name of what it calls.
 */
char *symbol_disasm_text(struct symbol_disasm *d, const uint8_t *code, size_t len, uint64_t addr,
			 const char *operands);

/* The memory that the instruction of the last text names relative to itself; false where it does not. */
bool symbol_disasm_data(const struct symbol_disasm *d, uint64_t *addr);

#endif
