/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <capstone/capstone.h>
#include <stdbool.h>

/* Capstone's decoder with room for one instruction. Zeroed it may be closed. */
struct capstone {
	csh handle;
	cs_insn *insn; /* NULL: it is not open */
};

/* DETAIL: operands as well, which takes several times as long. False, and it is closed, where there is none. */
bool capstone_open(struct capstone *c, bool detail);
void capstone_close(struct capstone *c);
