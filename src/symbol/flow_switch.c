// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jump tables of switch statements, in the shapes that gcc and clang give them:
 *
 *	jmp *TABLE(,%index,8)
 *	mov TABLE(,%index,8),%reg; ...; jmp *%reg
 *	lea TABLE(%rip),%base; ...; movslq (%base,%index,4),%reg; add %base,%reg; jmp *%reg
 *
 * The first two have absolute addresses in the table, the last one differences from it. How many
 * there are says the comparison in front, if it is found, else the first that is no address of an
 * instruction of the function.
 */
#include <capstone/capstone.h>

#include "base/alloc.h"
#include "symbol/flow_impl.h"

#define LOOK_BACK  24 /* instructions */
#define MAX_CASES  1024
#define BOUND_NONE 0

struct finder {
	struct symbol_flow *flow;
	const struct symbol_flow_input *in;
	struct decoder *decoder;
	uint32_t jump;
};

struct jump_table {
	uint64_t addr; /* relative to _stext */
	bool differences;
	uint32_t bound; /* BOUND_NONE: unknown */
};

static bool operands(const struct finder *f, uint32_t insn, struct decoded_operand *op)
{
	const uint8_t *bytes;
	size_t len = flow_bytes(f->in, &f->flow->insns[insn], &bytes);

	return len && decode_operands(f->decoder, bytes, len, f->flow->insns[insn].addr, op);
}

/* The absolute table of a memory operand TABLE(,%index,8). */
static bool absolute_table(const struct finder *f, const struct decoded_operand *op,
			   struct jump_table *t)
{
	if (!op->memory || op->base || !op->index || op->scale != 8)
		return false;
	/* The displacement is of the code that was decoded, with what KASLR added. */
	t->addr = (uint64_t)op->disp - f->in->base;
	t->differences = false;
	return true;
}

/* The instruction before INSN that last wrote REG, with what it says; UINT32_MAX if not found. */
static uint32_t writer(const struct finder *f, uint32_t insn, uint16_t reg,
		       struct decoded_operand *op)
{
	for (uint32_t n = 0; n < LOOK_BACK && insn-- > 0; n++) {
		if (flow_next(f->flow, insn) == UINT32_MAX)
			break;
		if (operands(f, insn, op) && op->reg == reg && op->id != X86_INS_CMP &&
		    op->id != X86_INS_TEST)
			return insn;
	}
	return UINT32_MAX;
}

/* add %base,%reg in front of the jump, movslq (%base,%index,4),%reg, and lea TABLE(%rip),%base. */
static bool difference_table(const struct finder *f, uint32_t add,
			     const struct decoded_operand *sum, struct jump_table *t)
{
	struct decoded_operand load, lea;
	uint32_t at = writer(f, add, sum->reg, &load);

	if (sum->id != X86_INS_ADD || !sum->source || at == UINT32_MAX ||
	    load.id != X86_INS_MOVSXD || !load.memory || load.base != sum->source || !load.index ||
	    load.scale != 4 || load.disp)
		return false;
	if (writer(f, at, sum->source, &lea) == UINT32_MAX || lea.id != X86_INS_LEA || !lea.rip)
		return false;
	/* Addresses of instructions are relative to _stext, so what they compute is too. */
	t->addr = (uint64_t)lea.disp;
	t->differences = true;
	return true;
}

static bool find_table(const struct finder *f, struct jump_table *t)
{
	struct decoded_operand jump, load;
	uint32_t at;

	if (!operands(f, f->jump, &jump))
		return false;
	if (jump.memory)
		return absolute_table(f, &jump, t);
	at = jump.reg ? writer(f, f->jump, jump.reg, &load) : UINT32_MAX;
	if (at == UINT32_MAX)
		return false;
	if (load.id == X86_INS_MOV)
		return absolute_table(f, &load, t);
	return difference_table(f, at, &load, t);
}

/* cmp $N,...; ja DEFAULT in front of the jump: N + 1 cases. */
static uint32_t find_bound(const struct finder *f)
{
	uint32_t insn = f->jump;
	bool above = false;

	for (uint32_t n = 0; n < LOOK_BACK && insn-- > 0; n++) {
		struct decoded_operand op;

		if (flow_next(f->flow, insn) == UINT32_MAX || !operands(f, insn, &op))
			break;
		if (op.id == X86_INS_JA)
			above = true;
		else if (f->flow->insns[insn].kind == SYMBOL_INSN_COND)
			break;
		else if (above && op.id == X86_INS_CMP)
			return op.has_imm && op.imm >= 0 && op.imm < MAX_CASES ?
				       (uint32_t)op.imm + 1 :
				       BOUND_NONE;
	}
	return BOUND_NONE;
}

static bool read_case(const struct finder *f, const struct jump_table *t, uint32_t i,
		      uint64_t *target)
{
	if (t->differences) {
		int32_t rel;

		if (!f->in->read(t->addr + (uint64_t)i * 4, &rel, sizeof(rel), f->in->arg))
			return false;
		*target = t->addr + (uint64_t)(int64_t)rel;
	} else {
		uint64_t addr;

		if (!f->in->read(t->addr + (uint64_t)i * 8, &addr, sizeof(addr), f->in->arg))
			return false;
		*target = addr - f->in->file_base;
	}
	return flow_find(f->flow, *target) != UINT32_MAX;
}

bool flow_pointer_jump(const struct symbol_flow *flow, uint32_t insn,
		       const struct symbol_flow_input *input, struct decoder *decoder)
{
	struct finder f = { (struct symbol_flow *)flow, input, decoder, insn };
	struct decoded_operand jump, load;

	if (!operands(&f, insn, &jump))
		return false;
	if (jump.memory)
		return !jump.index;
	return jump.reg && writer(&f, insn, jump.reg, &load) != UINT32_MAX &&
	       load.id == X86_INS_MOV && load.memory && !load.index;
}

bool flow_switch(struct symbol_flow *flow, uint32_t insn, const struct symbol_flow_input *input,
		 struct decoder *decoder)
{
	struct finder f = { flow, input, decoder, insn };
	uint32_t n = 0, before = flow->n_ways, max;
	struct jump_table t;
	uint64_t target;

	if (!input->read || !find_table(&f, &t))
		return false;
	t.bound = find_bound(&f);
	max = t.bound == BOUND_NONE ? MAX_CASES : t.bound;
	for (; n < max && read_case(&f, &t, n, &target); n++) {
		struct flow_way way = { insn, SYMBOL_EDGE_SWITCH, target };

		vec_push(flow, ways, way);
	}
	/* Where the code says how many there are, all must be good; else a single one is a guess. */
	if (t.bound != BOUND_NONE ? n == t.bound : n > 1)
		return true;
	flow->n_ways = before;
	return false;
}
