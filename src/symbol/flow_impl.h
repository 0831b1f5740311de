/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of a flow graph share. */
#ifndef KPROTPERF_SYMBOL_FLOW_IMPL_H
#define KPROTPERF_SYMBOL_FLOW_IMPL_H

#include "symbol/decode.h"
#include "symbol/flow.h"

#define FLOW_NONE UINT32_MAX

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

/* What is at hand while a graph is built. */
struct flow_builder {
	struct symbol_flow *flow;
	const struct symbol_flow_input *in;
	struct decoder *decoder;
	uint32_t stack_len; /* blocks still to be followed */
	uint32_t *stack;
};

/* The first of T's ascending ITEMS whose FIELD is not below ADDR. */
#define flow_first_at(t, items, field, addr)                   \
	({                                                     \
		uint32_t lo_ = 0, hi_ = (t)->n_##items;        \
		while (lo_ < hi_) {                            \
			uint32_t mid_ = lo_ + (hi_ - lo_) / 2; \
			if ((t)->items[mid_] field < (addr))   \
				lo_ = mid_ + 1;                \
			else                                   \
				hi_ = mid_;                    \
		}                                              \
		lo_;                                           \
	})

/* Does execution go on with the next instruction, as far as INSN itself says? */
bool flow_insn_falls(const struct symbol_insn *insn);
/* The instruction that follows INSN (an index) without a gap, or FLOW_NONE. */
uint32_t flow_next(const struct symbol_flow *flow, uint32_t insn);
/* The index of the instruction that begins at ADDR, or FLOW_NONE. */
uint32_t flow_find(const struct symbol_flow *flow, uint64_t addr);
bool flow_inside(const struct symbol_flow *flow, uint64_t addr);

/* flow_code.c: the instructions of all parts, with what tables and names say of them. */
void flow_decode(struct flow_builder *b);
/* Problems that only show once it is known what is reached: places where a probe hides the code. */
void flow_find_hidden(struct flow_builder *b);
/* Is the call INSN (an index) one that serves as a jump, as where the return stack buffer is filled? */
bool flow_calls_inside(const struct symbol_flow *flow, uint32_t insn);

/* flow_graph.c: the instructions' blocks, what of them is reached, and the edges between them. */
void flow_connect(struct flow_builder *b);

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
