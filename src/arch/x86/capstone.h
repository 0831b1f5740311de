/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <capstone/capstone.h>
#include <stdbool.h>

#include "arch/arch.h"

/* The library's functions in use. Call them only after capstone_open(). */
#define CAPSTONE_FUNCTIONS(f) \
	f(open) f(close) f(option) f(malloc) f(free) f(disasm_iter) f(regs_access)
#define CAPSTONE_POINTER(name) __typeof__(cs_##name) *name;
extern struct capstone_library {
	CAPSTONE_FUNCTIONS(CAPSTONE_POINTER)
} capstone;

/* Capstone's decoder with room for one instruction. A zeroed one may be closed. */
struct capstone {
	csh handle;
	cs_insn *insn; /* NULL: it is not open */
};

/*
 * Open C. DETAIL: also decode operands, which takes several times as long. Return false, with C closed, if capstone does not
 * support this machine. Without the library, report that and exit with status 1, as a program that is linked with it would.
 */
bool capstone_open(struct capstone *c, bool detail);
void capstone_close(struct capstone *c);

struct decoder {
	struct capstone lengths, operands; /* OPERANDS is opened on first use */
};

/* Return the instruction at the start of the AVAIL bytes CODE at ADDR, with operands, valid until the next call; NULL: none. */
const cs_insn *decoder_detail(struct decoder *d, const uint8_t *code, size_t avail, uint64_t addr);
