// SPDX-License-Identifier: GPL-2.0-or-later
/* Indirect jumps: through the tables of switch statements, or out of the function. */
#include "base/alloc.h"
#include "kernel/code/flow_impl.h"

#define MAX_CASES 1024

struct finder {
	const struct kernel_flow *flow;
	const struct kernel_flow_input *in;
	uint32_t jump;
};

/* decode_before_fn */
static size_t bytes_before(uint32_t n, const uint8_t **bytes, uint64_t *addr, void *arg)
{
	const struct finder *f = arg;
	uint32_t insn = f->jump - n;

	if (n > f->jump || (n && flow_next(f->flow, insn) == FLOW_NONE))
		return 0;
	*addr = f->flow->insns[insn].addr;
	return flow_bytes(f->in, &f->flow->insns[insn], bytes);
}

static bool read_case(const struct finder *f, const struct decoded_table *t, uint32_t i,
		      uint64_t *target)
{
	if (t->differences) {
		int32_t rel;

		/* Addresses of instructions are relative to _stext, so what they compute is too. */
		if (!f->in->read(t->addr + (uint64_t)i * 4, &rel, sizeof(rel), f->in->arg))
			return false;
		*target = t->addr + (uint64_t)(int64_t)rel;
	} else {
		/* The table's address is of the code that was decoded, with what KASLR added. */
		uint64_t at = t->addr - f->in->base + (uint64_t)i * 8, addr;

		if (!f->in->read(at, &addr, sizeof(addr), f->in->arg))
			return false;
		*target = addr - f->in->file_base;
	}
	return flow_find(f->flow, *target) != FLOW_NONE;
}

bool flow_pointer_jump(const struct kernel_flow *flow, uint32_t insn,
		       const struct kernel_flow_input *input, struct decoder *decoder)
{
	struct finder f = { flow, input, insn };

	return decode_is_pointer_jump(decoder, bytes_before, &f);
}

bool flow_switch(struct kernel_flow *flow, uint32_t insn, const struct kernel_flow_input *input,
		 struct decoder *decoder)
{
	struct finder f = { flow, input, insn };
	uint32_t n = 0, before = flow->n_branches, max;
	struct decoded_table t;
	uint64_t target;

	if (!input->read || !decode_jump_table(decoder, bytes_before, &f, &t))
		return false;
	max = t.n ? t.n : MAX_CASES;
	for (; n < max && read_case(&f, &t, n, &target); n++) {
		struct flow_branch branch = { insn, KERNEL_EDGE_SWITCH, target };

		vec_push(flow, branches, branch);
	}
	/* All entries must be good if the code tells their number; else a single one is a guess. */
	if (t.n ? n == t.n : n > 1)
		return true;
	flow->n_branches = before;
	return false;
}
