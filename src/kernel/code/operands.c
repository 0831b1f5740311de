// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/code/operands.h"

#include <string.h>

#include "arch/arch.h"
#include "base/alloc.h"

#define MAX_STEPS 40000 /* maximum number of instructions examined */

/* A value is stored as a number: 0 if unknown, else 1 + the index of a struct kernel_operand, perhaps with VALUE_DERIVED. */
#define VALUE_DERIVED 0x8000 /* the value was computed from that operand and constants */

#define FLAGS ARCH_REGS /* pseudo register for the CPU's flags */

struct state {
	uint16_t regs[ARCH_REGS + 1];
};

/* Code to visit at ADDR, and the values of registers there. DUE: the code must be visited, perhaps again. */
struct place {
	uint64_t addr;
	struct state state;
	bool due;
};

struct walk {
	const uint8_t *code;
	size_t len;
	uint64_t addr;
	struct decoder *decoder;
	struct kernel_operands *out;
	vec_of(struct place, places);
	uint32_t steps;
	vec_of(uint64_t, ends); /* addresses behind unconditional jumps and returns */
};

/* Add ADDR to the addresses to visit. If paths to ADDR differ in a register's value, the value becomes unknown. */
static void go(struct walk *w, uint64_t addr, const struct state *state)
{
	struct place place = { addr, *state, true };

	if (addr - w->addr >= w->len)
		return;
	vec_each(struct place, p, w, places) {
		if (p->addr != addr)
			continue;
		for (int r = 0; r <= FLAGS; r++)
			if (p->state.regs[r] && p->state.regs[r] != state->regs[r]) {
				p->state.regs[r] = 0;
				p->due = true;
			}
		return;
	}
	vec_push(w, places, place);
}

static uint16_t operand(struct walk *w, const struct kernel_operand *o)
{
	for (uint32_t i = 0; i < w->out->n_items; i++) {
		const struct kernel_operand *p = &w->out->items[i];

		if (p->kind == o->kind && p->argument == o->argument && p->bytes == o->bytes &&
		    p->base == o->base && p->offset == o->offset && p->addr == o->addr)
			return (uint16_t)(i + 1);
	}
	if (w->out->n_items >= VALUE_DERIVED - 1)
		return 0;
	vec_push(w->out, items, *o);
	return (uint16_t)w->out->n_items;
}

/* Return the number of the value that instruction A reads from memory, or 0 if unknown. */
static uint16_t value_of_memory(struct walk *w, const struct arch_access *a,
				const struct state *state)
{
	struct kernel_operand o = { .bytes = a->bytes }, pointer;
	uint16_t base;

	if (a->base == ARCH_NO_REG) {
		o.kind = a->is_per_cpu ? KERNEL_OPERAND_PER_CPU : KERNEL_OPERAND_GLOBAL;
		o.addr = a->at;
		return operand(w, &o);
	}
	base = state->regs[a->base];
	if (!base || base & VALUE_DERIVED || a->is_per_cpu)
		return 0;
	pointer = w->out->items[base - 1];
	o.kind = KERNEL_OPERAND_MEMBER;
	o.base = base - 1;
	o.offset = (int64_t)a->at;
	if (pointer.kind == KERNEL_OPERAND_BEHIND) {
		o.base = pointer.base;
		o.offset += (int64_t)pointer.addr;
	} else if (pointer.kind != KERNEL_OPERAND_ARGUMENT && pointer.bytes != sizeof(uint64_t)) {
		return 0;
	}
	return operand(w, &o);
}

/* Return the number of the value CONSTANT plus register FROM (ARCH_NO_REG: CONSTANT alone), or 0 if unknown. */
static uint16_t value_behind(struct walk *w, const struct state *state, uint8_t from,
			     uint64_t constant)
{
	struct kernel_operand o = { KERNEL_OPERAND_CONSTANT, .addr = constant };
	uint16_t base = from == ARCH_NO_REG ? 0 : state->regs[from];

	if (from == ARCH_NO_REG)
		return operand(w, &o);
	if (!base || base & VALUE_DERIVED)
		return 0;
	o.kind = KERNEL_OPERAND_BEHIND;
	o.base = base - 1;
	if (w->out->items[o.base].kind == KERNEL_OPERAND_BEHIND) {
		o.addr += w->out->items[o.base].addr;
		o.base = w->out->items[o.base].base;
	}
	return operand(w, &o);
}

static uint16_t value_of_copy(struct walk *w, const struct arch_access *a,
			      const struct state *state, uint16_t memory)
{
	if (a->from != ARCH_NO_REG)
		return state->regs[a->from];
	return a->has_number && a->to != ARCH_NO_REG ?
		       value_behind(w, state, ARCH_NO_REG, (uint64_t)a->number) :
		       memory;
}

/*
 * Return the number of the value SUM + MEMORY, or 0 if unknown. The sum is known only if it points to a per-CPU variable: SUM is
 * then the constant offset of that variable, and MEMORY is this_cpu_off, the address of this CPU's copies.
 */
static uint16_t value_of_sum(struct walk *w, uint16_t sum, uint16_t memory)
{
	struct kernel_operand o = { KERNEL_OPERAND_BEHIND };

	if (!sum || sum & VALUE_DERIVED || !memory ||
	    w->out->items[sum - 1].kind != KERNEL_OPERAND_CONSTANT ||
	    w->out->items[memory - 1].kind != KERNEL_OPERAND_PER_CPU)
		return 0;
	o.base = memory - 1;
	o.addr = w->out->items[sum - 1].addr;
	return operand(w, &o);
}

static void decide(struct walk *w, uint16_t value)
{
	value &= (uint16_t)~VALUE_DERIVED;
	if (value)
		w->out->items[value - 1].decides = true;
}

static void apply(struct walk *w, const struct arch_access *a, struct state *state)
{
	uint16_t memory = a->has_memory ? value_of_memory(w, a, state) : 0, to = 0;

	if (a->writes_flags)
		state->regs[FLAGS] = 0;
	if (a->effect >= ARCH_EFFECT_COMPARE) {
		decide(w, memory);
		if (a->to != ARCH_NO_REG)
			decide(w, state->regs[a->to]);
		if (a->from != ARCH_NO_REG)
			decide(w, state->regs[a->from]);
		return;
	}
	if (a->effect == ARCH_EFFECT_MOVE)
		to = value_of_copy(w, a, state, memory);
	else if (a->effect == ARCH_EFFECT_ADD && !a->has_number && a->to != ARCH_NO_REG)
		to = value_of_sum(w, state->regs[a->to], memory);
	else if (a->effect == ARCH_EFFECT_ADDRESS)
		to = value_behind(w, state, a->base, a->at);
	else if (a->effect >= ARCH_EFFECT_AND && a->has_number && a->to != ARCH_NO_REG &&
		 state->regs[a->to])
		to = state->regs[FLAGS] = state->regs[a->to] | VALUE_DERIVED;
	for (int r = 0; r < ARCH_REGS; r++)
		if (a->writes >> r & 1)
			state->regs[r] = r == a->to ? to : 0;
}

/* Examine the instruction at *ADDR. Advance *ADDR, or set it to 0 if execution does not continue after the instruction. */
static void step(struct walk *w, uint64_t *addr, struct state *state)
{
	uint64_t at = *addr - w->addr;
	struct arch_access access;
	struct decoded insn;

	*addr = 0;
	if (at >= w->len || w->steps++ >= MAX_STEPS ||
	    !decode(w->decoder, w->code + at, w->len - at, w->addr + at, &insn))
		return;
	switch (insn.kind) {
	case DECODE_COND:
		decide(w, state->regs[FLAGS]);
		go(w, insn.target, state);
		break;
	case DECODE_JUMP:
		go(w, insn.target, state);
		vec_push(w, ends, w->addr + at + insn.len);
		return;
	case DECODE_CALL:
		if (w->steps <= 2) /* first instruction, or second after endbr64 */
			break; /* it is ftrace's call, which changes no registers */
		/* fall through */
	case DECODE_CALL_INDIRECT:
		memset(state->regs, 0, ARCH_SAVED * sizeof(*state->regs));
		state->regs[FLAGS] = 0;
		break;
	case DECODE_JUMP_INDIRECT:
	case DECODE_RET:
		vec_push(w, ends, w->addr + at + insn.len);
		return;
	default:
		if (!arch_access_of(w->decoder, w->code + at, insn.len, w->addr + at, &access))
			return;
		apply(w, &access, state);
	}
	*addr = w->addr + at + insn.len;
}

static void walk(struct walk *w)
{
	for (uint32_t i = 0; i < w->n_places;) {
		struct state state = w->places[i].state;
		uint64_t addr = w->places[i].addr;

		if (!w->places[i].due) {
			i++;
			continue;
		}
		w->places[i].due = false;
		while (addr)
			step(w, &addr, &state);
		i = 0;
	}
}

/* Examine code that the walk has not reached: only a static key, a switch or a fault leads there. All registers are unknown. */
static void walk_unreached(struct walk *w)
{
	const struct state nothing = {};

	for (uint32_t i = 0; i < w->n_ends; i++) {
		uint32_t n = w->n_places;

		while (n > 0 && w->places[n - 1].addr != w->ends[i])
			n--;
		if (!n)
			go(w, w->ends[i], &nothing);
		walk(w);
	}
}

bool kernel_operands_of(const uint8_t *code, size_t len, uint64_t addr, struct kernel_operands *out)
{
	struct walk w = {
		.code = code,
		.len = len,
		.addr = addr,
		.decoder = decoder_create(),
		.out = out,
	};
	struct state entry = {};

	*out = (struct kernel_operands){};
	for (uint8_t i = 0; i < ARCH_MAX_ARGS; i++)
		entry.regs[i] = operand(&w, &(struct kernel_operand){ .argument = i });
	go(&w, addr, &entry);
	if (w.decoder) {
		walk(&w);
		walk_unreached(&w);
	}
	decoder_destroy(w.decoder);
	free(w.places);
	free(w.ends);
	return w.decoder;
}

void kernel_operands_deinit(struct kernel_operands *o)
{
	free(o->items);
	*o = (struct kernel_operands){};
}
