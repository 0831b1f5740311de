// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzz the reader of /proc/kallsyms, which a container may have replaced. */
#include "fuzz.h"

#include "kernel/image/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kernel_kallsyms *ks;
	size_t found;

	if (kernel_kallsyms_load(fuzz_file(0, data, size), &ks))
		return 0;
	vec_each(const struct kernel_sym, sym, ks, syms) {
		kernel_kallsyms_size(ks, sym);
		kernel_kallsyms_base(ks, sym);
		kernel_kallsyms_is_init(ks, sym);
		kernel_kallsyms_covering(ks, sym->addr + 1, NULL);
		kernel_kallsyms_named(ks, sym->name, &found);
	}
	kernel_kallsyms_destroy(ks);
	return 0;
}
