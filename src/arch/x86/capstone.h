/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <capstone/capstone.h>
#include <stdbool.h>

#include "arch/arch.h"

/* The functions of the library that are used, after capstone_open(). */
#define CAPSTONE_FUNCTIONS(f) \
	f(open) f(close) f(option) f(malloc) f(free) f(disasm_iter) f(regs_access)
#define CAPSTONE_POINTER(name) __typeof__(cs_##name) *name;
extern struct capstone_library {
	CAPSTONE_FUNCTIONS(CAPSTONE_POINTER)
} capstone;

/* Capstone's decoder with room for one instruction. Zeroed it may be closed. */
struct capstone {
	csh handle;
	cs_insn *insn; /* NULL: it is not open */
};

/*
 * DETAIL: operands as well, which takes several times as long. False, and it is closed, where there is none; without the
 * library the process says so and ends with status 1, as one that is linked with it would.
 */
bool capstone_open(struct capstone *c, bool detail);
void capstone_close(struct capstone *c);

struct decoder {
	struct capstone lengths, operands; /* OPERANDS is opened on first use */
};

/* The instruction at the start of the AVAIL bytes CODE, which lie at ADDR, with its operands, until the next is asked for; NULL: none is. */
const cs_insn *decoder_detail(struct decoder *d, const uint8_t *code, size_t avail, uint64_t addr);
