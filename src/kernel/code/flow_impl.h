/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of a flow graph. */
#pragma once

#include "kernel/code/flow_function.h"

#define FLOW_NONE UINT32_MAX

/* A target of an instruction besides the next one within its block. */
struct flow_branch {
	uint32_t insn;
	uint8_t kind; /* enum kernel_edge_kind */
	uint64_t target;
};

/* The state of building a graph. */
struct flow_builder {
	struct kernel_flow *flow;
	const struct kernel_flow_input *in;
	struct decoder *decoder;
	uint32_t stack_len; /* blocks still to be followed */
	uint32_t *stack;
};

/* Return whether execution goes on with the next instruction, as far as INSN itself says. */
bool flow_insn_falls(const struct kernel_insn *insn);
/* The instruction that follows INSN (an index) without a gap, or FLOW_NONE. */
uint32_t flow_next(const struct kernel_flow *flow, uint32_t insn);
/* The index of the instruction that begins at ADDR, or FLOW_NONE. */
uint32_t flow_find(const struct kernel_flow *flow, uint64_t addr);
/* The part of FLOW that has ADDR; NULL: none. */
const struct kernel_range *flow_part_of(const struct kernel_flow *flow, uint64_t addr);
/* Return whether the call INSN (an index) serves as a jump, as where the return stack buffer is filled. */
bool flow_calls_inside(const struct kernel_flow *flow, uint32_t insn);

/* flow_code.c: the instructions of all parts, with what tables and names say of them. */
void flow_decode(struct flow_builder *b);
/* Note the places where a probe hides the code. This needs to know which code is reached. */
void flow_find_hidden(struct flow_builder *b);

/* flow_graph.c: the instructions' blocks, what of them is reached, and the edges between them. */
void flow_connect(struct flow_builder *b);
/* Set *BYTES to the bytes from which INSN was decoded. Return their number, at most ARCH_MAX_INSN. */
size_t flow_bytes(const struct kernel_flow_input *input, const struct kernel_insn *insn,
		  const uint8_t **bytes);
