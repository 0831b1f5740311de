/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <capstone/capstone.h>
#include <stdbool.h>

#include "arch/arch.h"

/* Capstone's decoder with room for one instruction. Zeroed it may be closed. */
struct capstone {
	csh handle;
	cs_insn *insn; /* NULL: it is not open */
};

/* DETAIL: operands as well, which takes several times as long. False, and it is closed, where there is none. */
bool capstone_open(struct capstone *c, bool detail);
void capstone_close(struct capstone *c);

struct decoder {
	struct capstone lengths, operands; /* of operands only once asked for */
};

/* The instruction at the start of the AVAIL bytes CODE, which lie at ADDR, with its operands, until the next is asked for; NULL: none is. */
const cs_insn *decoder_detail(struct decoder *d, const uint8_t *code, size_t avail, uint64_t addr);

/* The register that REG is or is a part of, those that pass arguments first, in their order; ARCH_NO_REG: none of these. */
uint8_t capstone_register(unsigned int reg);
