/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by flow_code.c, flow_graph.c, flow_edges.c and flow_function.c. */
#pragma once

#include "kernel/code/flow_function.h"

#define FLOW_NONE UINT32_MAX

/* A possible target of an instruction. The next instruction in memory is not among the targets. */
struct flow_branch {
	uint32_t insn;
	uint8_t kind; /* enum kernel_edge_kind */
	uint64_t target;
};

struct flow_builder {
	struct kernel_flow *flow;
	const struct kernel_flow_input *in;
	struct decoder *decoder;
	uint32_t stack_len; /* number of blocks in STACK: reached blocks that still need edges */
	uint32_t *stack;
};

/* Return whether execution may go on to the instruction behind INSN. Judge by INSN alone. */
bool flow_insn_falls(const struct kernel_insn *insn);
/* Return the index of the instruction that follows INSN (an index) without a gap, or FLOW_NONE. */
uint32_t flow_next(const struct kernel_flow *flow, uint32_t insn);
/* Return the index of the instruction that begins at ADDR, or FLOW_NONE. */
uint32_t flow_find(const struct kernel_flow *flow, uint64_t addr);
/* Return the index of the instruction that contains ADDR, or FLOW_NONE. */
uint32_t flow_find_covering(const struct kernel_flow *flow, uint64_t addr);
/* Return the part of FLOW that contains ADDR, or NULL. */
const struct kernel_range *flow_part_of(const struct kernel_flow *flow, uint64_t addr);
/* Return whether the call INSN (an index) leads into the function itself, as in code that fills the return stack buffer. */
bool flow_calls_inside(const struct kernel_flow *flow, uint32_t insn);

/* Decode the instructions of all parts, and classify them by the kernel's tables and by names of callees (flow_code.c). */
void flow_decode(struct flow_builder *b);
/* If a probe hides code that cannot be taken from the file, set KERNEL_FLOW_HIDDEN. Call flow_connect() before. */
void flow_find_hidden(struct flow_builder *b);

/* Divide instructions into blocks, find the blocks that execution can reach, and make edges between these (flow_graph.c). */
void flow_connect(struct flow_builder *b);
/* Return the part of INPUT that contains ADDR, the address of an instruction in the flow made of INPUT. */
const struct kernel_flow_part *flow_input_part(const struct kernel_flow_input *input,
					       uint64_t addr);
