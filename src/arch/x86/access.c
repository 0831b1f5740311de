// SPDX-License-Identifier: GPL-2.0-or-later
/* Which registers and memory an instruction takes values from, and where they go. */
#include <stdlib.h>

#include "arch/arch.h"
#include "arch/x86/capstone.h"
#include "base/alloc.h"

struct arch_access_reader {
	struct capstone cs;
};

struct arch_access_reader *arch_access_create(void)
{
	struct arch_access_reader *r = alloc_new(struct arch_access_reader);

	if (capstone_open(&r->cs, true))
		return r;
	free(r);
	return NULL;
}

void arch_access_destroy(struct arch_access_reader *r)
{
	if (r)
		capstone_close(&r->cs);
	free(r);
}

#define NAMES(a, b, c, d, ...)                                                    \
	{                                                                         \
		X86_REG_##a, X86_REG_##b, X86_REG_##c, X86_REG_##d, ##__VA_ARGS__ \
	}
#define NUMBERED(n) NAMES(R##n, R##n##D, R##n##W, R##n##B)

/* The register that REG is or is a part of, those that pass arguments first, in their order; ARCH_NO_REG: none of these. */
static uint8_t number_of(unsigned int reg)
{
	static const unsigned int names[ARCH_REGS][5] = {
		NAMES(RDI, EDI, DI, DIL),
		NAMES(RSI, ESI, SI, SIL),
		NAMES(RDX, EDX, DX, DL, X86_REG_DH),
		NAMES(RCX, ECX, CX, CL, X86_REG_CH),
		NUMBERED(8),
		NUMBERED(9),
		NAMES(RAX, EAX, AX, AL, X86_REG_AH),
		NUMBERED(10),
		NUMBERED(11),
		NAMES(RBX, EBX, BX, BL, X86_REG_BH),
		NAMES(RBP, EBP, BP, BPL),
		NUMBERED(12),
		NUMBERED(13),
		NUMBERED(14),
		NUMBERED(15),
		NAMES(RSP, ESP, SP, SPL),
	};

	for (uint8_t i = 0; i < ARCH_REGS; i++)
		for (int j = 0; j < 5; j++)
			if (names[i][j] && names[i][j] == reg)
				return i;
	return ARCH_NO_REG;
}

static enum arch_access_kind kind_of(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_MOV:
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
	case X86_INS_MOVABS:
		return ARCH_ACCESS_COPY;
	case X86_INS_CMP:
	case X86_INS_TEST:
	case X86_INS_BT:
		return ARCH_ACCESS_COMPARE;
	case X86_INS_ADD:
		if (insn->detail->x86.operands[1].type != X86_OP_IMM)
			return ARCH_ACCESS_ADD;
		/* fall through */
	case X86_INS_AND:
	case X86_INS_SHR:
	case X86_INS_SAR:
	case X86_INS_SHL:
	case X86_INS_SUB:
		return insn->detail->x86.operands[1].type == X86_OP_IMM ? ARCH_ACCESS_DERIVE :
									  ARCH_ACCESS_OTHER;
	default:
		return ARCH_ACCESS_OTHER;
	}
}

static void note_memory(const cs_insn *insn, const cs_x86_op *op, struct arch_access *out)
{
	const x86_op_mem *mem = &op->mem;
	bool relative = mem->base == X86_REG_RIP;

	if (mem->index || (mem->segment && mem->segment != X86_REG_GS))
		return;
	out->base = mem->base && !relative ? number_of(mem->base) : ARCH_NO_REG;
	if (mem->base && !relative && out->base == ARCH_NO_REG)
		return;
	out->has_memory = true;
	out->is_per_cpu = mem->segment == X86_REG_GS;
	out->at = (uint64_t)mem->disp + (relative ? insn->address + insn->size : 0);
	out->bytes = op->size;
}

bool arch_access_of(struct arch_access_reader *r, const uint8_t *code, size_t avail, uint64_t addr,
		    struct arch_access *out)
{
	cs_regs reads, writes;
	uint8_t n_reads, n_writes;
	const cs_x86 *x86;

	*out = (struct arch_access){ .to = ARCH_NO_REG, .from = ARCH_NO_REG, .base = ARCH_NO_REG };
	if (!cs_disasm_iter(r->cs.handle, &code, &avail, &addr, r->cs.insn) ||
	    cs_regs_access(r->cs.handle, r->cs.insn, reads, &n_reads, writes, &n_writes) !=
		    CS_ERR_OK)
		return false;
	x86 = &r->cs.insn->detail->x86;
	out->kind = kind_of(r->cs.insn);
	for (uint8_t i = 0; i < n_writes; i++) {
		if (number_of(writes[i]) != ARCH_NO_REG)
			out->writes |= (uint16_t)(1 << number_of(writes[i]));
		out->writes_flags |= writes[i] == X86_REG_EFLAGS;
	}
	for (uint8_t i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];
		bool read = i > 0 || out->kind != ARCH_ACCESS_COPY;

		if (op->type == X86_OP_MEM && read && r->cs.insn->id != X86_INS_LEA)
			note_memory(r->cs.insn, op, out);
		else if (op->type == X86_OP_IMM)
			out->constant = (uint64_t)op->imm, out->has_constant = true;
		else if (op->type == X86_OP_REG && i == 0)
			out->to = number_of(op->reg);
		else if (op->type == X86_OP_REG)
			out->from = number_of(op->reg);
	}
	return true;
}
