// SPDX-License-Identifier: GPL-2.0-or-later
#include "arch/arch.h"
#include "arch/disasm.h"
#include "arch/x86/capstone.h"
#include "base/alloc.h"

struct arch_disasm {
	struct capstone cs;
	bool decoded; /* CS holds the instruction that was printed last */
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

		/* A per-CPU operand (with a segment) is an offset, not an address. */
		if (op->type != X86_OP_MEM || op->mem.base != X86_REG_RIP ||
		    op->mem.segment != X86_REG_INVALID)
			continue;
		*addr = d->cs.insn->address + d->cs.insn->size + (uint64_t)op->mem.disp;
		return true;
	}
	return false;
}

static void mix(uint64_t *hash, uint64_t value)
{
	*hash = (*hash ^ value) * 0x9e3779b97f4a7c15u;
	*hash ^= *hash >> 29;
}

static void add_value(struct arch_operation *out, enum arch_value_kind kind, uint64_t value)
{
	if (out->n_values < ARCH_MAX_VALUES)
		out->values[out->n_values++] = (struct arch_value){ value, kind };
}

static void note_memory(const cs_insn *insn, const x86_op_mem *mem, struct arch_operation *out)
{
	uint64_t disp = (uint64_t)mem->disp;
	enum arch_value_kind kind = ARCH_VALUE_OFFSET;

	mix(&out->shape, mem->segment);
	mix(&out->shape, mem->index ? (uint64_t)mem->scale : 0);
	mix(&out->registers, mem->base);
	mix(&out->registers, mem->index);
	if (mem->base == X86_REG_RIP) {
		kind = ARCH_VALUE_ADDRESS;
		disp += insn->address + insn->size;
	} else if (!mem->base) {
		kind = ARCH_VALUE_ADDRESS;
	} else if (mem->base == X86_REG_RSP) {
		kind = ARCH_VALUE_STACK;
	}
	add_value(out, kind, disp);
}

static void note_operand(const cs_insn *insn, const cs_x86_op *op, struct arch_operation *out)
{
	const cs_x86 *x86 = &insn->detail->x86;

	mix(&out->shape, op->type);
	mix(&out->shape, op->size);
	if (op->type == X86_OP_REG)
		mix(&out->registers, op->reg);
	else if (op->type == X86_OP_MEM)
		note_memory(insn, &op->mem, out);
	else if (out->has_code_target)
		add_value(out, ARCH_VALUE_ADDRESS, (uint64_t)op->imm);
	else
		add_value(out,
			  x86->operands[0].type == X86_OP_REG &&
					  x86->operands[0].reg == X86_REG_RSP ?
				  ARCH_VALUE_STACK :
				  ARCH_VALUE_NUMBER,
			  (uint64_t)op->imm);
}

/* Set *CONDITION to the condition in a conditional jump's opcode. An odd condition is the opposite of the even one before it. */
static bool is_conditional_jump(const cs_x86 *x86, uint8_t *condition)
{
	bool two = x86->opcode[0] == 0x0f;
	uint8_t op = x86->opcode[two];

	*condition = op & 0xf;
	return two ? (op & 0xf0) == 0x80 : (op & 0xf0) == 0x70;
}

void arch_operation_of(struct decoder *d, const uint8_t *code, size_t len, uint64_t addr,
		       struct arch_operation *out)
{
	const cs_insn *insn = decoder_detail(d, code, len, addr);
	const cs_x86 *x86;
	uint8_t condition;

	*out = (struct arch_operation){ 0 };
	if (!insn) {
		for (size_t i = 0; i < len; i++)
			mix(&out->shape, code[i] + 1u);
		return;
	}
	x86 = &insn->detail->x86;
	mix(&out->shape, x86->prefix[0]); /* lock or rep; other prefixes show in the operands */
	out->has_code_target = (insn->id == X86_INS_CALL || insn->id == X86_INS_JMP) &&
			       x86->operands[0].type == X86_OP_IMM;
	if (is_conditional_jump(x86, &condition)) {
		mix(&out->shape, 0x70u | (condition & ~1u));
		out->inverted = condition & 1;
		add_value(out, ARCH_VALUE_ADDRESS, (uint64_t)x86->operands[0].imm);
		return;
	}
	mix(&out->shape, 0x1000u + insn->id);
	for (unsigned int i = 0; i < x86->op_count; i++)
		note_operand(insn, &x86->operands[i], out);
}
