// SPDX-License-Identifier: GPL-2.0-or-later
#include "arch/disasm.h"

#include "arch/x86/capstone.h"
#include "base/alloc.h"

struct arch_disasm {
	struct capstone cs;
	bool decoded; /* the instruction is that of the last text */
};

struct arch_disasm *arch_disasm_create(enum arch_syntax syntax)
{
	struct arch_disasm *d = alloc_new(struct arch_disasm);

	if (!capstone_open(&d->cs, true)) {
		free(d);
		return NULL;
	}
	capstone.option(d->cs.handle, CS_OPT_SYNTAX,
			syntax == ARCH_SYNTAX_ATT ? CS_OPT_SYNTAX_ATT : CS_OPT_SYNTAX_INTEL);
	return d;
}

void arch_disasm_destroy(struct arch_disasm *d)
{
	if (d)
		capstone_close(&d->cs);
	free(d);
}

char *arch_disasm_text(struct arch_disasm *d, const uint8_t *code, size_t len, uint64_t addr,
		       const char *operands)
{
	d->decoded = capstone.disasm_iter(d->cs.handle, &code, &len, &addr, d->cs.insn);
	if (!d->decoded)
		return alloc_strdup("(bad)");
	if (!operands)
		operands = d->cs.insn->op_str;
	return alloc_printf("%s%s%s", d->cs.insn->mnemonic, *operands ? " " : "", operands);
}

bool arch_disasm_data(const struct arch_disasm *d, uint64_t *addr)
{
	const cs_x86 *x86;

	if (!d->decoded)
		return false;
	x86 = &d->cs.insn->detail->x86;
	for (unsigned int i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		/* Per CPU, it is no address. */
		if (op->type != X86_OP_MEM || op->mem.base != X86_REG_RIP ||
		    op->mem.segment != X86_REG_INVALID)
			continue;
		*addr = d->cs.insn->address + d->cs.insn->size + (uint64_t)op->mem.disp;
		return true;
	}
	return false;
}
