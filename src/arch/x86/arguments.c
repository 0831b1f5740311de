// SPDX-License-Identifier: GPL-2.0-or-later
/* Which of the registers that pass arguments an instruction reads and writes. */

#include "arch/arch.h"
#include "arch/x86/capstone.h"
#include "base/alloc.h"

struct arch_arguments_reader {
	struct capstone cs;
};

struct arch_arguments_reader *arch_arguments_create(void)
{
	struct arch_arguments_reader *r = alloc_new(struct arch_arguments_reader);

	if (capstone_open(&r->cs, true))
		return r;
	free(r);
	return NULL;
}

void arch_arguments_destroy(struct arch_arguments_reader *r)
{
	if (r)
		capstone_close(&r->cs);
	free(r);
}

/* The bit of REG, or of the register that it is a part of; 0: it passes no argument. */
static uint8_t bit_of(unsigned int reg)
{
	static const unsigned int names[ARCH_MAX_ARGS][5] = {
		{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL },
		{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL },
		{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
		{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
		{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B },
		{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B },
	};

	for (int i = 0; i < ARCH_MAX_ARGS; i++)
		for (int j = 0; j < 5; j++)
			if (names[i][j] && names[i][j] == reg)
				return (uint8_t)(1 << i);
	return 0;
}

static uint8_t bits_of(const uint16_t *regs, uint8_t n)
{
	uint8_t bits = 0;

	for (uint8_t i = 0; i < n; i++)
		bits |= bit_of(regs[i]);
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

bool arch_arguments_of(struct arch_arguments_reader *r, const uint8_t *code, size_t avail,
		       struct arch_arguments *out)
{
	cs_regs reads, writes;
	uint8_t n_reads, n_writes;
	uint64_t addr = 0;

	*out = (struct arch_arguments){ 0 };
	if (!cs_disasm_iter(r->cs.handle, &code, &avail, &addr, r->cs.insn) ||
	    cs_regs_access(r->cs.handle, r->cs.insn, reads, &n_reads, writes, &n_writes) !=
		    CS_ERR_OK)
		return false;
	out->writes = bits_of(writes, n_writes);
	if (!ignores_value(r->cs.insn))
		out->reads = bits_of(reads, n_reads);
	return true;
}
