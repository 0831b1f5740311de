// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/probe/memory.h"

#include "kernel/image/btf.h"
#include "record/probe/probes.h"

/* Memory of the kernel per probe inside a function, in bytes, as that of a kprobe's two. */
#define POINT_MEMORY (8u << 10)

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

size_t record_call_memory(const struct record_machine *machine, const char *type)
{
	int size = machine->btf ? kernel_btf_offset(machine->btf, type, NULL) : -1;

	return size > 0 ? allocated((size_t)size) : 0;
}

size_t record_probe_memory(const struct record_machine *machine, enum profile_mechanism mech,
			   uint32_t n)
{
	const struct record_mechanism *m = record_mechanism(mech);

	return n && m ? n * m->memory(machine) : 0;
}

size_t record_point_memory(uint32_t n)
{
	return (size_t)n * POINT_MEMORY;
}
