// SPDX-License-Identifier: GPL-2.0-or-later
#include "arch/x86/capstone.h"

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
