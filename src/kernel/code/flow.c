// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Look-ups in a function's control flow. flow_code.c makes the instructions, flow_graph.c what connects
 * them, flow_function.c has both done.
 */
#include "kernel/code/flow.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/code/flow_impl.h"
#include "kernel/image/name.h"

enum kernel_callee kernel_callee_of_name(const char *name)
{
	switch (arch_symbol_of_name(name)) {
	case ARCH_SYMBOL_INDIRECT_THUNK:
		return KERNEL_CALLEE_INDIRECT_THUNK;
	case ARCH_SYMBOL_RETURN_THUNK:
		return KERNEL_CALLEE_RETURN_THUNK;
	case ARCH_SYMBOL_NORETURN:
	case ARCH_SYMBOL_ORDINARY:
		break;
	}
	return kernel_name_is_noreturn(name) ? KERNEL_CALLEE_NORETURN : KERNEL_CALLEE_ORDINARY;
}

const struct kernel_range *flow_part_of(const struct kernel_flow *flow, uint64_t addr)
{
	for (uint32_t i = 0; i < flow->n_parts; i++)
		if (addr >= flow->parts[i].start && addr < flow->parts[i].end)
			return &flow->parts[i];
	return NULL;
}

/* The index of the last instruction that begins at or before ADDR, or FLOW_NONE. */
static uint32_t find_covering(const struct kernel_flow *flow, uint64_t addr)
{
	uint32_t next = bisect(flow->n_insns, i, flow->insns[i].addr <= addr);

	if (!next || addr - flow->insns[next - 1].addr >= flow->insns[next - 1].len)
		return FLOW_NONE;
	return next - 1;
}

uint32_t flow_find(const struct kernel_flow *flow, uint64_t addr)
{
	uint32_t i = find_covering(flow, addr);

	return i != FLOW_NONE && flow->insns[i].addr == addr ? i : FLOW_NONE;
}

uint32_t flow_next(const struct kernel_flow *flow, uint32_t insn)
{
	const struct kernel_insn *i = &flow->insns[insn];

	if (insn + 1 >= flow->n_insns || flow->insns[insn + 1].addr != i->addr + i->len)
		return FLOW_NONE;
	return insn + 1;
}

bool flow_insn_falls(const struct kernel_insn *insn)
{
	switch (insn->kind) {
	case KERNEL_INSN_PLAIN:
	case KERNEL_INSN_NOP:
	case KERNEL_INSN_COND:
	case KERNEL_INSN_CALL:
	case KERNEL_INSN_WARN:
	case KERNEL_INSN_LABEL:
		return true;
	default:
		return false;
	}
}

bool flow_calls_inside(const struct kernel_flow *flow, uint32_t i)
{
	const struct kernel_insn *insn = &flow->insns[i];

	return !(insn->flags & KERNEL_INSN_INDIRECT) && insn->target != flow->entry &&
	       flow_part_of(flow, insn->target);
}

size_t flow_bytes(const struct kernel_flow_input *input, const struct kernel_insn *insn,
		  const uint8_t **bytes)
{
	vec_each(const struct kernel_flow_part, p, input, parts) {
		if (insn->addr >= p->start && insn->addr < p->end) {
			bool file = insn->flags & KERNEL_INSN_FROM_FILE;

			*bytes = (file ? p->file : p->bytes) + (insn->addr - p->start);
			return (size_t)(p->end - insn->addr);
		}
	}
	return 0;
}

const struct kernel_insn *kernel_flow_insn_at(const struct kernel_flow *flow, uint64_t addr)
{
	uint32_t i = flow_find(flow, addr);

	return i == FLOW_NONE ? NULL : &flow->insns[i];
}

uint32_t kernel_flow_block_at(const struct kernel_flow *flow, uint64_t addr)
{
	uint32_t i = find_covering(flow, addr);

	return i == FLOW_NONE ? KERNEL_FLOW_OUT : flow->insns[i].block;
}
