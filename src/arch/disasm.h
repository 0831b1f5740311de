/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Print machine instructions as text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch_disasm;

enum arch_syntax {
	ARCH_SYNTAX_ATT, /* AT&T syntax, the default of objdump and perf */
	ARCH_SYNTAX_INTEL,
};

/* Return NULL if there is no decoder for this machine's code. */
struct arch_disasm *arch_disasm_create(enum arch_syntax syntax);
void arch_disasm_destroy(struct arch_disasm *d); /* accepts NULL */

/*
 * Return the text of the instruction at the start of the LEN bytes CODE at ADDR: mnemonic, blank and operands, or "(bad)".
 * OPERANDS, if not NULL, replaces the printed operands, for example to name a called function. The caller frees the text.
 */
char *arch_disasm_text(struct arch_disasm *d, const uint8_t *code, size_t len, uint64_t addr,
		       const char *operands);

/* Set *ADDR to the address of the RIP-relative memory operand of the instruction printed last. Return false if there is none. */
bool arch_disasm_data(const struct arch_disasm *d, uint64_t *addr);
