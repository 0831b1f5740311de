// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the registers and memory that an instruction reads, and the registers that it writes. */
#include "arch/arch.h"
#include "arch/x86/capstone.h"
#include "base/alloc.h"

#define NAMES(a, b, c, d, ...)                                                    \
	{                                                                         \
		X86_REG_##a, X86_REG_##b, X86_REG_##c, X86_REG_##d, ##__VA_ARGS__ \
	}
#define NUMBERED(n) NAMES(R##n, R##n##D, R##n##W, R##n##B)

/* Return arch.h's number of the register that contains capstone's register REG, or ARCH_NO_REG. */
static uint8_t register_of(unsigned int reg)
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

uint8_t arch_dwarf_register(uint8_t reg)
{
	static const uint8_t numbers[ARCH_REGS] = { 5,  4, 1, 2,  8,  9,  0,  10,
						    11, 3, 6, 12, 13, 14, 15, 7 };

	return numbers[reg];
}

static const struct {
	unsigned int insn;
	enum arch_effect effect;
} effects[] = {
	{ X86_INS_MOV, ARCH_EFFECT_MOVE },        { X86_INS_MOVZX, ARCH_EFFECT_MOVE },
	{ X86_INS_MOVSX, ARCH_EFFECT_MOVE },      { X86_INS_MOVSXD, ARCH_EFFECT_MOVE },
	{ X86_INS_MOVABS, ARCH_EFFECT_MOVE },     { X86_INS_LEA, ARCH_EFFECT_ADDRESS },
	{ X86_INS_CMP, ARCH_EFFECT_COMPARE },     { X86_INS_TEST, ARCH_EFFECT_TEST },
	{ X86_INS_BT, ARCH_EFFECT_BIT },          { X86_INS_AND, ARCH_EFFECT_AND },
	{ X86_INS_SHL, ARCH_EFFECT_SHIFT_LEFT },  { X86_INS_SHR, ARCH_EFFECT_SHIFT_RIGHT },
	{ X86_INS_SAR, ARCH_EFFECT_SHIFT_RIGHT }, { X86_INS_ADD, ARCH_EFFECT_ADD },
	{ X86_INS_SUB, ARCH_EFFECT_ADD },         { X86_INS_INC, ARCH_EFFECT_ADD },
	{ X86_INS_DEC, ARCH_EFFECT_ADD },         { X86_INS_XOR, ARCH_EFFECT_MOVE },
};

static const struct {
	unsigned int insn;
	enum arch_relation relation;
} relations[] = {
	{ X86_INS_JE, ARCH_RELATION_EQUAL },        { X86_INS_JNE, ARCH_RELATION_UNEQUAL },
	{ X86_INS_JB, ARCH_RELATION_LESS },         { X86_INS_JL, ARCH_RELATION_LESS },
	{ X86_INS_JS, ARCH_RELATION_LESS },         { X86_INS_JAE, ARCH_RELATION_NOT_LESS },
	{ X86_INS_JGE, ARCH_RELATION_NOT_LESS },    { X86_INS_JNS, ARCH_RELATION_NOT_LESS },
	{ X86_INS_JA, ARCH_RELATION_GREATER },      { X86_INS_JG, ARCH_RELATION_GREATER },
	{ X86_INS_JBE, ARCH_RELATION_NOT_GREATER }, { X86_INS_JLE, ARCH_RELATION_NOT_GREATER },
};

/* Return whether INSN's result does not depend on its register operand: xor %esi,%esi; sbb %edx,%edx; or $-1,%ecx. */
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

/* Set INSN's effect, relation and constant operand in *OUT. */
static void note_effect(const cs_insn *insn, struct arch_access *out)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *last = &x86->operands[x86->op_count ? x86->op_count - 1 : 0];

	for (size_t i = 0; i < ARRAY_SIZE(effects); i++)
		if (effects[i].insn == insn->id)
			out->effect = effects[i].effect;
	for (size_t i = 0; i < ARRAY_SIZE(relations); i++)
		if (relations[i].insn == insn->id)
			out->relation = relations[i].relation;
	out->has_number = x86->op_count > 0 && last->type == X86_OP_IMM;
	out->number = out->has_number ? last->imm : 0;
	if (insn->id == X86_INS_INC || insn->id == X86_INS_DEC) {
		out->has_number = true;
		out->number = insn->id == X86_INS_INC ? 1 : -1;
	} else if (insn->id == X86_INS_SUB) {
		out->number = -out->number;
		out->effect = out->has_number ? ARCH_EFFECT_ADD : ARCH_EFFECT_OTHER;
	} else if (insn->id == X86_INS_XOR) {
		out->has_number = ignores_value(insn);
		out->effect = out->has_number ? ARCH_EFFECT_MOVE : ARCH_EFFECT_OTHER;
	}
}

/* Set the address of the memory operand OP in *OUT. Return false if OP has an index register or another segment than GS. */
static bool note_place(const cs_insn *insn, const cs_x86_op *op, struct arch_access *out)
{
	const x86_op_mem *mem = &op->mem;
	bool relative = mem->base == X86_REG_RIP;

	if (mem->index || (mem->segment && mem->segment != X86_REG_GS))
		return false;
	out->base = mem->base && !relative ? register_of(mem->base) : ARCH_NO_REG;
	if (mem->base && !relative && out->base == ARCH_NO_REG)
		return false;
	out->is_per_cpu = mem->segment == X86_REG_GS;
	out->at = (uint64_t)mem->disp + (relative ? insn->address + insn->size : 0);
	out->bytes = op->size;
	return true;
}

static void note_memory(const cs_insn *insn, const cs_x86_op *op, struct arch_access *out)
{
	bool known = note_place(insn, op, out);

	if (out->effect == ARCH_EFFECT_ADDRESS)
		out->effect = known ? ARCH_EFFECT_ADDRESS : ARCH_EFFECT_OTHER;
	else
		out->has_memory = known;
}

/* Return the set of the N REGS, one bit each. A part of a register counts as the whole register. */
static uint64_t bits_of(const uint16_t *regs, uint8_t n)
{
	uint64_t bits = 0;

	for (uint8_t i = 0; i < n; i++)
		if (register_of(regs[i]) != ARCH_NO_REG)
			bits |= 1ull << register_of(regs[i]);
	return bits;
}

bool arch_access_of(struct decoder *d, const uint8_t *code, size_t avail, uint64_t addr,
		    struct arch_access *out)
{
	cs_regs reads, writes;
	uint8_t n_reads, n_writes;
	const cs_insn *insn = decoder_detail(d, code, avail, addr);
	const cs_x86 *x86;

	*out = (struct arch_access){ .to = ARCH_NO_REG, .from = ARCH_NO_REG, .base = ARCH_NO_REG };
	if (!insn || capstone.regs_access(d->operands.handle, insn, reads, &n_reads, writes,
					  &n_writes) != CS_ERR_OK)
		return false;
	x86 = &insn->detail->x86;
	note_effect(insn, out);
	out->reads = ignores_value(insn) ? 0 : bits_of(reads, n_reads);
	out->writes = bits_of(writes, n_writes);
	for (uint8_t i = 0; i < n_writes; i++)
		out->writes_flags |= writes[i] == X86_REG_EFLAGS;
	for (uint8_t i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];
		bool read = i > 0 || out->effect != ARCH_EFFECT_MOVE;

		if (op->type == X86_OP_MEM && read)
			note_memory(insn, op, out);
		else if (op->type == X86_OP_REG && i == 0)
			out->to = register_of(op->reg);
		else if (op->type == X86_OP_REG && !out->has_number)
			out->from = register_of(op->reg);
	}
	return true;
}
