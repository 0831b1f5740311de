// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/probe/memory.h"

#include "kernel/image/btf.h"

/*
 * Memory of the kernel per function besides maps, in bytes. Measured on 6.1: MemAvailable falls by 218 KiB for each by fentry
 * (two programs with their own subprograms, and a trampoline), and 7.4 to 7.8 KiB by kprobe (two probe events).
 */
#define FENTRY_MEMORY (218u << 10)
#define KPROBE_MEMORY (8u << 10)
#define MULTI_MEMORY  256u /* entries of two links' hashes */
#define POINT_MEMORY  (8u << 10)

/* The sizes that the kernel allocates, up to where they are powers of two. */
static size_t allocated(size_t size)
{
	size_t power = 8;

	if (size > 64 && size <= 96)
		return 96;
	if (size > 128 && size <= 192)
		return 192;
	while (power < size)
		power *= 2;
	return power;
}

/* Return the memory of a call in flight, a struct TYPE of the kernel, in bytes; 0: it has none. */
static size_t place(const struct record_machine *machine, const char *type)
{
	int size = machine->btf ? kernel_btf_offset(machine->btf, type, NULL) : -1;

	return size > 0 ? allocated((size_t)size) : 0;
}

size_t record_probe_memory(const struct record_machine *machine, enum profile_mechanism mech,
			   uint32_t n)
{
	size_t calls = 2ul * machine->n_cpus;

	switch (mech) {
	case PROFILE_MECH_FENTRY:
		return (size_t)n * FENTRY_MEMORY;
	case PROFILE_MECH_MULTI: /* up to 6.13; then returns are on a stack that each task has */
		return n * (MULTI_MEMORY + calls * place(machine, "fprobe_rethook_node"));
	case PROFILE_MECH_KPROBE:
		if (calls < 10)
			calls = 10;
		return n * (KPROBE_MEMORY + calls * place(machine, "kretprobe_instance"));
	default:
		return 0;
	}
}

size_t record_point_memory(uint32_t n)
{
	return (size_t)n * POINT_MEMORY;
}
