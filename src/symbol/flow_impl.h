/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What flow.c, flow_switch.c and flow_edges.c share. */
#ifndef KPROTPERF_SYMBOL_FLOW_IMPL_H
#define KPROTPERF_SYMBOL_FLOW_IMPL_H

#include "symbol/decode.h"
#include "symbol/flow.h"

/* A way from an instruction that is not to the next one within its block. */
struct flow_way {
	uint32_t insn;
	uint8_t kind; /* enum symbol_edge_kind */
	uint64_t target;
};

struct symbol_flow {
	uint64_t entry;
	unsigned int problems;
	struct symbol_range *parts;
	uint32_t n_parts, cap_parts;
	struct symbol_insn *insns;
	uint32_t n_insns, cap_insns;
	struct symbol_block *blocks;
	uint32_t n_blocks, cap_blocks;
	struct symbol_edge *edges;
	uint32_t n_edges, cap_edges;
	struct flow_way *ways; /* while it is built; by instruction */
	uint32_t n_ways, cap_ways;
};

/* Does execution go on with the next instruction, as far as INSN itself says? */
bool flow_insn_falls(const struct symbol_insn *insn);
/* The instruction that follows INSN (an index) without a gap, or UINT32_MAX. */
uint32_t flow_next(const struct symbol_flow *flow, uint32_t insn);
/* The index of the instruction that begins at ADDR, or UINT32_MAX. */
uint32_t flow_find(const struct symbol_flow *flow, uint64_t addr);
bool flow_inside(const struct symbol_flow *flow, uint64_t addr);

/*
 * flow_switch.c: the targets of the indirect jump INSN through a jump table, added to FLOW's ways.
 * False where no table is recognized.
 */
bool flow_switch(struct symbol_flow *flow, uint32_t insn, const struct symbol_flow_input *input,
		 struct decoder *decoder);
/* Does the indirect jump INSN go through a pointer that no index chose: out of the function? */
bool flow_pointer_jump(const struct symbol_flow *flow, uint32_t insn,
		       const struct symbol_flow_input *input, struct decoder *decoder);
/* The bytes of an instruction as they were decoded, at most DECODE_MAX_LEN of them. */
size_t flow_bytes(const struct symbol_flow_input *input, const struct symbol_insn *insn,
		  const uint8_t **bytes);

#endif
