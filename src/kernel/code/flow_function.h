/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control flow graph of one function: its instructions, basic blocks and edges, and the addresses at which execution enters
 * and leaves given ranges of its code, such as an inlined function.
 *
 * Addresses are relative to _stext. Instructions and blocks of all parts of the function are sorted together, by address. Input is
 * not trusted: bytes that are not code can only make results incomplete.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "kernel/code/code.h"
#include "kernel/image/image.h"

#define KERNEL_FLOW_OUT UINT32_MAX /* stands for all code outside of the function */
#define KERNEL_FLOW_MAX (1u << 20) /* maximum bytes of code examined for one function */

enum kernel_insn_kind {
	KERNEL_INSN_PLAIN,
	KERNEL_INSN_NOP,
	KERNEL_INSN_JUMP,
	KERNEL_INSN_COND,
	KERNEL_INSN_CALL, /* direct or indirect call that returns */
	KERNEL_INSN_CALL_NORETURN,
	KERNEL_INSN_JUMP_INDIRECT, /* indirect jump, or direct jump to a thunk for indirect jumps */
	KERNEL_INSN_RET, /* return, or a jump to the return thunk */
	KERNEL_INSN_TRAP, /* int3, or ud2 of a BUG: execution ends there */
	KERNEL_INSN_WARN, /* ud2 of a WARN: execution continues after it */
	KERNEL_INSN_LABEL, /* jump label: the kernel changes it between nop and jump */
	KERNEL_INSN_BAD, /* one byte that could not be decoded */
};

enum kernel_insn_flags {
	KERNEL_INSN_REACHED = 1, /* some path leads from the function's entry to the instruction */
	KERNEL_INSN_LEADER = 2, /* first instruction of a block */
	KERNEL_INSN_STATIC_CALL = 4,
	KERNEL_INSN_FTRACE = 8,
	KERNEL_INSN_FAULTS = 16, /* the exception table lists the instruction; it ends a block */
	KERNEL_INSN_BUG = 32, /* the kernel's table of BUGs and WARNs lists the instruction */
	KERNEL_INSN_TAIL = 64, /* the jump leaves the function */
	KERNEL_INSN_NO_KPROBE = 128, /* the kernel refuses a kprobe on this kind of instruction */
	KERNEL_INSN_NO_OPTIMIZE = 256, /* the jump of an optimized kprobe must not overwrite it */
	KERNEL_INSN_FROM_FILE = 512, /* read from the file: a probe of another tool hides it */
	KERNEL_INSN_INDIRECT = 1024, /* call or jump whose target is not in the instruction */
	KERNEL_INSN_HARMFUL = 2048, /* the kernel accepts a kprobe there, and crashes at a hit */
	KERNEL_INSN_LABEL_NOP = 4096, /* jump label that was a nop when the code was read */
};

struct kernel_insn {
	uint64_t addr;
	uint64_t target; /* target of a jump, direct call or jump label; else 0 */
	uint32_t block;
	uint16_t flags;
	uint8_t kind;
	uint8_t len;
};

enum kernel_edge_kind {
	KERNEL_EDGE_FALL, /* to the next instruction */
	KERNEL_EDGE_JUMP,
	KERNEL_EDGE_TAKEN, /* from a conditional jump to its target */
	KERNEL_EDGE_LABEL, /* from a jump label to its target */
	KERNEL_EDGE_FIXUP, /* from an instruction that faults to its fixup code */
	KERNEL_EDGE_SWITCH, /* from an indirect jump to an entry of its jump table */
	KERNEL_EDGE_CALL_INSIDE, /* from a call to an address in the function, not to its entry */
	KERNEL_EDGE_RET, /* return; this and the following kinds lead to KERNEL_FLOW_OUT */
	KERNEL_EDGE_TAIL, /* jump to another function */
	KERNEL_EDGE_UNRESOLVED, /* indirect jump to an unknown target, perhaps in the function */
	KERNEL_EDGE_STOP, /* execution ends: trap, call that does not return, KERNEL_INSN_BAD */
};

struct kernel_edge {
	uint32_t from, to; /* block numbers; TO may be KERNEL_FLOW_OUT */
	uint32_t insn; /* index of FROM's last instruction */
	uint8_t kind;
	uint64_t target; /* target address; 0 for RET, UNRESOLVED, STOP and an indirect TAIL */
};

struct kernel_block {
	uint64_t start, end;
	uint32_t first_insn, n_insns;
	uint32_t first_edge, n_edges; /* edges that leave the block; an unreached block has none */
	bool reached;
};

enum kernel_flow_problem {
	KERNEL_FLOW_BAD_CODE = 1, /* bytes that could not be decoded */
	KERNEL_FLOW_UNRESOLVED = 2, /* indirect jumps that may stay within the function */
	KERNEL_FLOW_MISALIGNED = 4, /* a jump into the middle of an instruction */
	KERNEL_FLOW_FALLS_OUT = 8, /* execution would run past the end of the known code */
	KERNEL_FLOW_CUT = 16, /* parts are missing: they are too large or too many */
	KERNEL_FLOW_NOT_LIVE = 32, /* the code comes from the file, not from the running kernel */
	/* Another tool's probe hides an instruction that the kernel has patched. Try again when that probe is gone. */
	KERNEL_FLOW_HIDDEN = 64,
};

#define KERNEL_FLOW_NOT_LIVE_TEXT                                           \
	"cannot read the running kernel's code (/proc/kcore takes root or " \
	"CAP_SYS_RAWIO), and the code in the file may differ"

struct kernel_flow_part {
	uint64_t start, end;
	const uint8_t *bytes;
	const uint8_t *file; /* the file's bytes if BYTES are from the running kernel, else NULL */
};

struct kernel_flow_input {
	const struct kernel_flow_part *parts; /* ascending, not overlapping */
	size_t n_parts;
	uint64_t entry;
	const struct arch_tables *tables; /* NULL: no tables */
	enum arch_symbol (*callee)(uint64_t addr, void *arg); /* NULL: each callee is ordinary */
	/* Read LEN bytes of the file at ADDR, which are in a jump table. NULL: targets in jump tables stay unknown. */
	bool (*read)(uint64_t addr, void *buf, size_t len, void *arg);
	/* Absolute addresses of _stext: BASE for the code that the parts' BYTES have, FILE_BASE for code and data of the file. */
	uint64_t base, file_base;
	void *arg;
};

struct flow_branch;

/* The control flow of one function. kernel_flow_create() and kernel_flow_of() make this struct; callers only read it. */
struct kernel_flow {
	uint64_t entry;
	unsigned int problems;
	vec_of(struct kernel_range, parts);
	vec_of(struct kernel_insn, insns);
	vec_of(struct kernel_block, blocks);
	vec_of(struct kernel_edge, edges);
	vec_of(struct flow_branch, branches); /* sorted by instruction; only while building */
};

/* Make the control flow of the function in INPUT. Return NULL only if there is no decoder for this machine's code. */
struct kernel_flow *kernel_flow_create(const struct kernel_flow_input *input);
void kernel_flow_destroy(struct kernel_flow *flow); /* accepts NULL */

/*
 * Make the graph of the whole function with entry ADDR, including parts that the compiler split off. Use the running kernel's code
 * if CODE has it. Print no messages. Return -ENOENT if no function begins at ADDR, -EFBIG if its code is larger than
 * KERNEL_FLOW_MAX, -ENODATA if its bytes cannot be read, -ENOTSUP without a decoder.
 */
int kernel_flow_of(const struct kernel_code *code, uint64_t addr, struct kernel_flow **out);

/* Return the instruction that begins at ADDR, or NULL. */
const struct kernel_insn *kernel_flow_insn_at(const struct kernel_flow *flow, uint64_t addr);
/* Return the number of the block that contains ADDR, or KERNEL_FLOW_OUT. */
uint32_t kernel_flow_block_at(const struct kernel_flow *flow, uint64_t addr);

/* Answer to the question whether a kprobe can be placed at an address: KERNEL_PLACE_OK, or the reason why not. */
enum kernel_probe_place {
	KERNEL_PLACE_OK,
	KERNEL_PLACE_OUTSIDE, /* not within the function's code */
	KERNEL_PLACE_NO_BOUNDARY, /* within an instruction, or after one that could not be decoded */
	KERNEL_PLACE_JUMP_LABEL,
	KERNEL_PLACE_STATIC_CALL,
	KERNEL_PLACE_FTRACE, /* inside of ftrace's call or nop; its first byte can be probed */
	KERNEL_PLACE_BUG, /* ud2 of BUG or WARN */
	KERNEL_PLACE_INSN, /* the kernel refuses kprobes on this instruction */
	/* Call with a prefix: the kernel accepts the probe, and crashes when the probe is hit (seen on 6.1). */
	KERNEL_PLACE_HARMFUL,
	KERNEL_PLACE_BLACKLISTED,
};

typedef bool (*kernel_blacklisted_fn)(uint64_t addr, void *arg);

/* Check whether a kprobe can be placed at ADDR. BLACKLISTED may be NULL. */
enum kernel_probe_place kernel_flow_place(const struct kernel_flow *flow, uint64_t addr,
					  kernel_blacklisted_fn blacklisted, void *arg);
/* Return PLACE as text for messages, such as "it is a jump label". */
const char *kernel_place_text(enum kernel_probe_place place);
/*
 * Estimate by the rules of Linux 6.1 whether the kernel can optimize a kprobe at ADDR: an optimized kprobe is cheap, since it is a
 * jump or a call of ftrace, not a trap. Return the length of the instructions that the jump overwrites, or 0 for a trap. Place no
 * other probe on these bytes.
 */
uint32_t kernel_flow_optimizes(const struct kernel_flow *flow, uint64_t addr);

enum kernel_site_role {
	KERNEL_SITE_ENTERS = 1, /* execution enters the ranges at this address */
	KERNEL_SITE_LEAVES = 2, /* execution that leaves the ranges arrives at this address */
	KERNEL_SITE_RETURNS = 4, /* this instruction, in the ranges, leaves the function */
	/* With ENTERS: the address is the function's entry. Each call of the function then enters the ranges. */
	KERNEL_SITE_FUNCTION = 8,
	/* With LEAVES: execution comes here only after a fault in the ranges. */
	KERNEL_SITE_FAULT = 16,
	/*
	 * With RETURNS: the instruction is a conditional jump, or an unresolved jump that may stay in the function. A probe there
	 * cannot tell whether execution leaves the function. Such jumps are rare.
	 */
	KERNEL_SITE_CONDITIONAL = 32,
	/* No step leads to this address for certain: only an unresolved indirect jump may. */
	KERNEL_SITE_CANDIDATE = 64,
};

/* An address at which execution enters or leaves given code ranges. */
struct kernel_site_edge {
	uint64_t addr;
	unsigned int roles; /* enum kernel_site_role */
	/*
	 * Execution also comes here from inside, or from outside, of the ranges. FROM_INSIDE at an entry (for example at a loop's
	 * head) means that hits are more frequent than entries. FROM_OUTSIDE does so at an exit.
	 */
	bool from_inside, from_outside;
	enum kernel_probe_place place;
	bool optimizes;
};

/* The addresses at which execution enters or leaves a set of ranges, sorted by address. */
struct kernel_site_edges {
	vec_of(struct kernel_site_edge, edges);
};

/*
 * Find the addresses at which execution of FLOW's function enters and leaves the N RANGES. Ranges may be empty, overlap, and lie
 * partly outside of the function. Ignore code outside of the function, and code that is never reached.
 */
void kernel_flow_edges_of(const struct kernel_flow *flow, const struct kernel_range *ranges,
			  size_t n, kernel_blacklisted_fn blacklisted, void *arg,
			  struct kernel_site_edges *out);
void kernel_site_edges_clear(struct kernel_site_edges *edges);

/*
 * ADDR cannot be probed: find other addresses such that each path from ADDR passes one of them. All of them are inside of the
 * ranges if INSIDE is true, else outside. Return their number, or 0 if none is found or more than MAX are needed.
 */
size_t kernel_flow_substitutes(const struct kernel_flow *flow, uint64_t addr,
			       const struct kernel_range *ranges, size_t n, bool inside,
			       kernel_blacklisted_fn blacklisted, void *arg, uint64_t *out,
			       size_t max);
