/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One machine instruction at a time: how long it is, and where it can go. x86-64 only.
 */
#ifndef KPROTPERF_SYMBOL_DECODE_H
#define KPROTPERF_SYMBOL_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECODE_MAX_LEN 15

enum decode_kind {
	DECODE_PLAIN,
	DECODE_NOP, /* of any length */
	DECODE_JUMP, /* direct */
	DECODE_COND, /* direct: jcc, loop, jrcxz */
	DECODE_CALL, /* direct */
	DECODE_JUMP_INDIRECT,
	DECODE_CALL_INDIRECT,
	DECODE_RET, /* also iret, sysret: what leaves for good */
	DECODE_INT3,
	DECODE_UD, /* ud0, ud1, ud2 */
};

struct decoded {
	uint8_t len;
	uint8_t kind;
	bool no_kprobe; /* the kernel refuses a kprobe on such an instruction */
	bool harmful; /* it takes one, and crashes when it is hit */
	bool no_optimize; /* its kprobes are not turned into jumps where this is overwritten */
	bool endbr;
	uint64_t target; /* of direct jumps and calls */
};

struct decoder;

/* NULL where capstone cannot be had for this machine. */
struct decoder *decoder_create(void);
void decoder_destroy(struct decoder *d); /* accepts NULL */

/*
 * Decodes the instruction at the start of the AVAIL bytes CODE, which lie at ADDR. False where there
 * is none.
 */
bool decode(struct decoder *d, const uint8_t *code, size_t avail, uint64_t addr,
	    struct decoded *out);

/* What an indirect jump's or a load's operand says, for jump tables. */
struct decoded_operand {
	uint16_t reg; /* capstone's number of the destination or the jump's own register; 0: none */
	uint16_t source; /* register source; 0: none */
	bool memory;
	uint16_t base, index; /* of the memory operand; 0: none */
	uint8_t scale;
	int64_t disp; /* with RIP as base: the absolute address */
	bool rip;
	int64_t imm;
	bool has_imm;
	uint16_t id; /* capstone's number of the instruction */
};

bool decode_operands(struct decoder *d, const uint8_t *code, size_t avail, uint64_t addr,
		     struct decoded_operand *out);

#endif
