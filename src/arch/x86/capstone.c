// SPDX-License-Identifier: GPL-2.0-or-later
#include "arch/x86/capstone.h"

#include "base/alloc.h"

bool capstone_open(struct capstone *c, bool detail)
{
	*c = (struct capstone){};
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &c->handle) != CS_ERR_OK)
		return false;
	if (detail)
		cs_option(c->handle, CS_OPT_DETAIL, CS_OPT_ON);
	c->insn = cs_malloc(c->handle);
	if (!c->insn)
		cs_close(&c->handle);
	return c->insn;
}

void capstone_close(struct capstone *c)
{
	if (!c->insn)
		return;
	cs_free(c->insn, 1);
	cs_close(&c->handle);
	c->insn = NULL;
}

struct decoder *decoder_create(void)
{
	struct decoder *d = alloc_new(struct decoder);

	if (capstone_open(&d->lengths, false))
		return d;
	free(d);
	return NULL;
}

void decoder_destroy(struct decoder *d)
{
	if (!d)
		return;
	capstone_close(&d->lengths);
	capstone_close(&d->operands);
	free(d);
}

const cs_insn *decoder_detail(struct decoder *d, const uint8_t *code, size_t avail, uint64_t addr)
{
	if ((!d->operands.insn && !capstone_open(&d->operands, true)) ||
	    !cs_disasm_iter(d->operands.handle, &code, &avail, &addr, d->operands.insn))
		return NULL;
	return d->operands.insn;
}
