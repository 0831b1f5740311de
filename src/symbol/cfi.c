// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the frame of a function is, as .debug_frame has it. Listing the units of .debug_info, as for
 * everything else in there, is not needed for that.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "symbol/image_impl.h"

/* DWARF's numbers of x86-64's registers. */
#define REG_RBP 6
#define REG_RSP 7

static Dwarf_CFI *image_cfi(struct symbol_image *img)
{
	if (!img->cfi_dw && img->has_dwarf)
		img->cfi_dw = dwarf_begin_elf(img->elf, DWARF_C_READ, NULL);
	return img->cfi_dw ? dwarf_getcfi(img->cfi_dw) : NULL;
}

static int read_rule(const Dwarf_Op *ops, size_t n, struct symbol_frame_base *base)
{
	int reg;

	if (n != 1)
		return -ENOTSUP;
	if (ops->atom == DW_OP_bregx) {
		reg = ops->number;
		base->offset = ops->number2;
	} else if (ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31) {
		reg = ops->atom - DW_OP_breg0;
		base->offset = ops->number;
	} else {
		return -ENOTSUP;
	}
	if (reg != REG_RSP && reg != REG_RBP)
		return -ENOTSUP;
	base->from_rbp = reg == REG_RBP;
	return 0;
}

int symbol_image_frame_base(struct symbol_image *img, uint64_t addr, struct symbol_frame_base *base)
{
	Dwarf_CFI *cfi = image_cfi(img);
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t n;
	int err;

	if (!cfi)
		return -ENODATA;
	if (dwarf_cfi_addrframe(cfi, addr + symbol_image_base(img), &frame))
		return -ENOENT;
	err = dwarf_frame_cfa(frame, &ops, &n) ? -ENOENT : read_rule(ops, n, base);
	free(frame);
	return err;
}
