/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <capstone/capstone.h>
#include <stdbool.h>

#include "arch/arch.h"

/* The functions of capstone that are used here. Call them only after capstone_open(). */
#define CAPSTONE_FUNCTIONS(f) \
	f(open) f(close) f(option) f(malloc) f(free) f(disasm_iter) f(regs_access)
#define CAPSTONE_POINTER(name) __typeof__(cs_##name) *name;
extern struct capstone_library {
	CAPSTONE_FUNCTIONS(CAPSTONE_POINTER)
} capstone;

/* A capstone decoder with memory for one instruction. A zeroed struct may be closed. */
struct capstone {
	csh handle;
	cs_insn *insn; /* NULL: the decoder is not open */
};

/*
 * Open the decoder C. DETAIL: decode operands too, which takes several times as long. Return false, with C closed, if capstone
 * does not support this machine. If the library is missing, report this and exit with status 1, as a program linked with it would.
 */
bool capstone_open(struct capstone *c, bool detail);
void capstone_close(struct capstone *c);

struct decoder {
	struct capstone lengths, operands; /* OPERANDS is opened on first use */
};

/* Return the first instruction of the AVAIL bytes CODE at ADDR, with operands, or NULL. The next call overwrites the result. */
const cs_insn *decoder_detail(struct decoder *d, const uint8_t *code, size_t avail, uint64_t addr);
