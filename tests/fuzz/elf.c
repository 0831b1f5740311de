// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzz the reader of symbols, and the index built from DWARF. The input is a vmlinux or a module. */
#include "fuzz.h"

#include "kernel/debuginfo/index.h"
#include "kernel/image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kernel_frame_base base;
	struct kernel_image *img;
	struct kernel_index *idx;
	uint64_t addr, offset;

	if (kernel_image_open(fuzz_file(0, data, size), &img))
		return 0;
	for (addr = 0; addr < 0x100; addr += 5) {
		kernel_image_symbol_at(img, addr, &offset);
		kernel_image_is_function(img, "outer", addr, &offset);
		kernel_image_frame_base(img, addr, &base);
	}
	if (!kernel_index_build(img, &idx))
		kernel_index_destroy(idx);
	kernel_image_destroy(img);
	return 0;
}
