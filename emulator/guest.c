// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * QEMU 7.2 does not show registers and memory to plugins. But a QEMU that can load modules, such as Debian's, exports functions of
 * its debugger, which read and write them.
 */
#include "guest.h"

#include <stdio.h>
#include <stdlib.h>

struct bytes { /* glib's GByteArray */
	uint8_t *data;
	unsigned int n;
};

#define WEAK __attribute__((weak))
WEAK void *qemu_get_cpu(int index);
WEAK int x86_cpu_gdb_read_register(void *cpu, struct bytes *into, int number);
WEAK int cpu_memory_rw_debug(void *cpu, uint64_t addr, void *data, uint64_t size, bool write);
WEAK struct bytes *g_byte_array_new(void);
WEAK struct bytes *g_byte_array_set_size(struct bytes *bytes, unsigned int size);

bool guest_has_registers(void)
{
	return x86_cpu_gdb_read_register && qemu_get_cpu && g_byte_array_new;
}

bool guest_has_memory(void)
{
	return cpu_memory_rw_debug && qemu_get_cpu;
}

uint64_t guest_register(enum guest_register number)
{
	static struct bytes *bytes;

	if (!bytes)
		bytes = g_byte_array_new();
	g_byte_array_set_size(bytes, 0);
	if (x86_cpu_gdb_read_register(qemu_get_cpu(0), bytes, number) != 8)
		return 0;
	return *(const uint64_t *)(const void *)bytes->data;
}

bool guest_read(uint64_t addr, void *data, size_t size)
{
	return guest_has_memory() && !cpu_memory_rw_debug(qemu_get_cpu(0), addr, data, size, false);
}

bool guest_write(uint64_t addr, const void *data, size_t size)
{
	return guest_has_memory() &&
	       !cpu_memory_rw_debug(qemu_get_cpu(0), addr, (void *)data, size, true);
}

void *get_memory(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory) {
		fputs("exact: out of memory\n", stderr);
		exit(1);
	}
	return memory;
}
