// SPDX-License-Identifier: GPL-2.0-or-later
#include "arch/disasm.h"

#include <capstone/capstone.h>
#include <stdlib.h>

#include "base/alloc.h"

struct kernel_disasm {
	csh handle;
	cs_insn *insn;
	bool decoded; /* INSN is that of the last text */
};

struct kernel_disasm *kernel_disasm_create(enum kernel_syntax syntax)
{
	struct kernel_disasm *d = alloc_new(struct kernel_disasm);

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle) != CS_ERR_OK) {
		free(d);
		return NULL;
	}
	cs_option(d->handle, CS_OPT_SYNTAX,
		  syntax == KERNEL_SYNTAX_ATT ? CS_OPT_SYNTAX_ATT : CS_OPT_SYNTAX_INTEL);
	cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	d->insn = cs_malloc(d->handle);
	if (!d->insn) {
		kernel_disasm_destroy(d);
		return NULL;
	}
	return d;
}

void kernel_disasm_destroy(struct kernel_disasm *d)
{
	if (!d)
		return;
	if (d->insn)
		cs_free(d->insn, 1);
	cs_close(&d->handle);
	free(d);
}

char *kernel_disasm_text(struct kernel_disasm *d, const uint8_t *code, size_t len, uint64_t addr,
			 const char *operands)
{
	d->decoded = cs_disasm_iter(d->handle, &code, &len, &addr, d->insn);
	if (!d->decoded)
		return alloc_strdup("(bad)");
	if (!operands)
		operands = d->insn->op_str;
	return alloc_printf("%s%s%s", d->insn->mnemonic, *operands ? " " : "", operands);
}

bool kernel_disasm_data(const struct kernel_disasm *d, uint64_t *addr)
{
	const cs_x86 *x86;

	if (!d->decoded)
		return false;
	x86 = &d->insn->detail->x86;
	for (unsigned int i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		/* Per CPU, it is no address. */
		if (op->type != X86_OP_MEM || op->mem.base != X86_REG_RIP ||
		    op->mem.segment != X86_REG_INVALID)
			continue;
		*addr = d->insn->address + d->insn->size + (uint64_t)op->mem.disp;
		return true;
	}
	return false;
}
