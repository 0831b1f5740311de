// SPDX-License-Identifier: GPL-2.0-or-later
/* Which of the registers that pass arguments an instruction reads and writes. */

#include "arch/arch.h"
#include "arch/x86/capstone.h"

/* Those of REGS that pass arguments, or are a part of one. */
static uint8_t bits_of(const uint16_t *regs, uint8_t n)
{
	uint8_t bits = 0;

	for (uint8_t i = 0; i < n; i++)
		if (capstone_register(regs[i]) < ARCH_MAX_ARGS)
			bits |= (uint8_t)(1 << capstone_register(regs[i]));
	return bits;
}

/* What its operands name, but whose value does not matter: xor %esi,%esi; sbb %edx,%edx; or $-1,%ecx. */
static bool ignores_value(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *a = &x86->operands[0], *b = &x86->operands[1];

	if (x86->op_count != 2 || a->type != X86_OP_REG)
		return false;
	if (b->type == X86_OP_REG)
		return a->reg == b->reg && (insn->id == X86_INS_XOR || insn->id == X86_INS_SUB ||
					    insn->id == X86_INS_SBB);
	return b->type == X86_OP_IMM && ((insn->id == X86_INS_OR && b->imm == -1) ||
					 (insn->id == X86_INS_AND && b->imm == 0));
}

bool arch_arguments_of(struct decoder *d, const uint8_t *code, size_t avail,
		       struct arch_arguments *out)
{
	cs_regs reads, writes;
	uint8_t n_reads, n_writes;
	const cs_insn *insn = decoder_detail(d, code, avail, 0);

	*out = (struct arch_arguments){ 0 };
	if (!insn || cs_regs_access(d->operands.handle, insn, reads, &n_reads, writes, &n_writes) !=
			     CS_ERR_OK)
		return false;
	out->writes = bits_of(writes, n_writes);
	if (!ignores_value(insn))
		out->reads = bits_of(reads, n_reads);
	return true;
}
