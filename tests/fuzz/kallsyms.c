// SPDX-License-Identifier: GPL-2.0-or-later
/* /proc/kallsyms, which a container may have replaced. */
#include "fuzz.h"

#include "kernel/image/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kernel_kallsyms *ks;
	const struct kernel_sym *syms;
	size_t n, i, found;

	if (kernel_kallsyms_load(fuzz_file(0, data, size), &ks))
		return 0;
	syms = kernel_kallsyms_all(ks, &n);
	for (i = 0; i < n; i++) {
		kernel_kallsyms_size(ks, &syms[i]);
		kernel_kallsyms_base(ks, &syms[i]);
		kernel_kallsyms_is_init(ks, &syms[i]);
		kernel_kallsyms_covering(ks, syms[i].addr + 1, NULL);
		kernel_kallsyms_named(ks, syms[i].name, &found);
	}
	kernel_kallsyms_destroy(ks);
	return 0;
}
