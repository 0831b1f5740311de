/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Access of a plugin to the guest's registers and memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Register numbers of QEMU's debugger. */
enum guest_register {
	GUEST_RDX = 3,
	GUEST_RSI = 4,
	GUEST_RDI = 5,
	GUEST_RSP = 7,
};

/* Return whether this QEMU shows registers, or memory, to plugins. */
bool guest_has_registers(void);
bool guest_has_memory(void);

/* Return the value of a register. Call this before a block is executed: inside a block, only QEMU knows where registers are. */
uint64_t guest_register(enum guest_register number);

/*
 * Read or write the guest's memory at ADDR, as mapped at present. Return false if ADDR is not mapped or this QEMU does not show
 * memory to plugins.
 */
bool guest_read(uint64_t addr, void *data, size_t size);
bool guest_write(uint64_t addr, const void *data, size_t size);

/* Return BYTES of zeroed memory. If memory runs out, print a message and end QEMU. Most memory is never freed. */
void *get_memory(size_t bytes);
