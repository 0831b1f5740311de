// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Capstone gives the length of an instruction. This file derives the instruction's effect on the flow of control from the opcode,
 * in a fraction of the time that capstone takes for details.
 */
#include "arch/arch.h"

#include <string.h>

#include "arch/x86/capstone.h"

/* The prefixes and the opcode of an instruction. */
struct opcode {
	uint8_t at; /* offset of the opcode's last byte */
	uint8_t op;
	bool two; /* two-byte opcode: 0f OP */
	bool other; /* 0f 38, 0f 3a, VEX, EVEX: these never change the flow of control */
	bool p67, p2e, pf3, vex; /* prefixes: address size, segment CS, repeat */
};

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
	       byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 ||
	       byte == 0x65;
}

static bool find_opcode(const uint8_t *code, size_t len, struct opcode *o)
{
	size_t i = 0;

	memset(o, 0, sizeof(*o));
	for (; i < len && is_prefix(code[i]); i++) {
		o->p67 |= code[i] == 0x67;
		o->p2e |= code[i] == 0x2e;
		o->pf3 |= code[i] == 0xf3;
	}
	if (i < len && (code[i] & 0xf0) == 0x40)
		i++;
	if (i >= len)
		return false;
	if (code[i] == 0xc4 || code[i] == 0xc5 || code[i] == 0x62) {
		o->vex = o->other = true;
	} else if (code[i] == 0x0f) {
		if (++i >= len)
			return false;
		o->two = true;
		o->other = code[i] == 0x38 || code[i] == 0x3a;
	}
	o->at = (uint8_t)i;
	o->op = code[i];
	return true;
}

/* Return the length of the ModRM byte at CODE with its SIB byte and displacement, or 0 if some of these bytes are missing. */
static size_t modrm_len(const uint8_t *code, size_t avail)
{
	uint8_t mod, rm;
	size_t len = 1;

	if (!avail)
		return 0;
	mod = code[0] >> 6;
	rm = code[0] & 7;
	if (mod != 3 && rm == 4) {
		if (avail < 2)
			return 0;
		if (mod == 0 && (code[1] & 7) == 5)
			len += 4;
		len++;
	}
	if (mod == 1)
		len += 1;
	else if (mod == 2 || (mod == 0 && rm == 5))
		len += 4;
	return len <= avail ? len : 0;
}

/*
 * Return the length of an instruction that is newer than the installed capstone, or 0. Supported are the new instructions that
 * kernels use: VEX, and some groups of system instructions (rdpkru, serialize, tpause, mwaitx, ...).
 */
static size_t younger_len(const uint8_t *code, size_t avail)
{
	struct opcode o;
	size_t at, n;

	if (!find_opcode(code, avail, &o))
		return 0;
	at = (size_t)o.at + 1;
	if (o.vex) {
		if (o.op == 0x62)
			return 0;
		at += o.op == 0xc4 ? 3 : 2;
		/* Instructions of VEX map 3 have an immediate byte. */
		n = at < avail ? modrm_len(code + at, avail - at) : 0;
		if (n && o.op == 0xc4 && (code[o.at + 1] & 0x1f) == 3)
			n++;
	} else if (o.two && (o.op == 0x01 || o.op == 0xae || o.op == 0xc7 || o.op == 0x1e ||
			     o.op == 0x0d || o.op == 0xb9 || o.op == 0xff)) {
		n = at < avail ? modrm_len(code + at, avail - at) : 0;
	} else {
		return 0;
	}
	return n && at + n <= avail && at + n <= ARCH_MAX_INSN ? at + n : 0;
}

static size_t insn_len(struct decoder *d, const uint8_t *code, size_t avail, uint64_t addr)
{
	const uint8_t *p = code;
	size_t left = avail;
	uint64_t at = addr;

	if (capstone.disasm_iter(d->lengths.handle, &p, &left, &at, d->lengths.insn))
		return d->lengths.insn->size;
	return younger_len(code, avail);
}

/* Two-byte opcodes, one bit each: 1 if the kernel (6.1) needs no trap after the copy of a probed instruction with this opcode. */
static const uint16_t boostable[16] = {
	0x034c, 0x8000, 0x000f, 0x0002, 0xffff, 0x0000, 0xcfff, 0xc0f0,
	0x0000, 0xffff, 0xbb3b, 0xf8ff, 0xff03, 0xbb2e, 0xbb26, 0x772e,
};

static bool boosts(const struct opcode *o)
{
	if (o->other)
		return false;
	if (o->two)
		return boostable[o->op >> 4] >> (o->op & 15) & 1;
	if (o->p2e || o->p67)
		return false;
	switch (o->op) {
	case 0x70 ... 0x7f:
	case 0xc0 ... 0xc1:
	case 0xcc ... 0xce:
	case 0xd0 ... 0xd3:
	case 0xd6:
	case 0xd8 ... 0xdf:
	case 0xe0 ... 0xe3:
	case 0xe8 ... 0xe9:
	case 0xeb:
	case 0xf0 ... 0xf4:
	case 0xf6 ... 0xf7:
	case 0xfe:
		return false;
	default:
		return true;
	}
}

/* Return the kind of a one-byte opcode. If it has a relative operand, set *IMM to the operand's length. */
static enum decode_kind kind_one(const struct opcode *o, const uint8_t *code, size_t *imm)
{
	switch (o->op) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		*imm = 1;
		return DECODE_COND;
	case 0xeb:
		*imm = 1;
		return DECODE_JUMP;
	case 0xe9:
		*imm = 4;
		return DECODE_JUMP;
	case 0xe8:
		*imm = 4;
		return DECODE_CALL;
	case 0xc2 ... 0xc3:
	case 0xca ... 0xcb:
	case 0xcf:
		return DECODE_RET;
	case 0xcc:
		return DECODE_INT3;
	case 0x90:
		/* pause and xchg with r8 are not no-ops. */
		return o->pf3 || (o->at && code[o->at - 1] == 0x41) ? DECODE_PLAIN : DECODE_NOP;
	default:
		return DECODE_PLAIN;
	}
}

static enum decode_kind kind_two(const struct opcode *o, size_t *imm)
{
	switch (o->op) {
	case 0x80 ... 0x8f:
		*imm = 4;
		return DECODE_COND;
	case 0x1f:
		return DECODE_NOP;
	case 0x07: /* sysret */
	case 0x35: /* sysexit */
		return DECODE_RET;
	case 0x0b:
	case 0xb9:
	case 0xff:
		return DECODE_UD;
	default:
		return DECODE_PLAIN;
	}
}

/* ff /2 to /5: calls and jumps through a register or memory. */
static void decode_group5(const struct opcode *o, uint8_t modrm, struct decoded *out)
{
	unsigned int reg = modrm >> 3 & 7;

	out->no_optimize = reg != 4; /* inc, dec and push prevent optimized kprobes too */
	if (reg < 2 || reg > 5)
		return;
	out->kind = reg < 4 ? DECODE_CALL_INDIRECT : DECODE_JUMP_INDIRECT;
	/* kprobes emulate only calls and jumps through a register. */
	out->no_kprobe = reg == 3 || reg == 5 || o->p67 || modrm >> 6 != 3;
}

static bool masks_exceptions(const struct opcode *o, uint8_t modrm)
{
	return !o->two && !o->other && o->op == 0x8e && (modrm >> 3 & 7) == 2; /* mov to %ss */
}

/*
 * Return whether kernels emulate the probed instruction wrongly. They emulate a call as if it had 5 bytes (int3_emulate_call(),
 * seen in 6.1): after a call with a prefix, as retpolines through r8 to r15 have, execution continues inside of the call, and the
 * kernel crashes. They also emulate each return as if it popped only the address.
 */
static bool misemulated(const struct opcode *o, enum decode_kind kind, size_t len)
{
	if (kind == DECODE_CALL)
		return len != 5;
	return kind == DECODE_RET && !o->two && o->op != 0xc3 && o->op != 0xcf;
}

static bool fill(const uint8_t *code, uint64_t addr, struct decoded *out)
{
	struct opcode o;
	uint8_t modrm;
	size_t imm = 0;

	if (!find_opcode(code, out->len, &o))
		return false;
	modrm = o.at + 1u < out->len ? code[o.at + 1] : 0;
	out->no_optimize = !boosts(&o);
	if (o.other)
		return true;
	out->kind = o.two ? kind_two(&o, &imm) : kind_one(&o, code, &imm);
	if (!o.two && o.op == 0xff)
		decode_group5(&o, modrm, out);
	out->harmful = misemulated(&o, out->kind, out->len);
	if (out->kind == DECODE_INT3 || (!o.two && o.op == 0xcf) || masks_exceptions(&o, modrm) ||
	    (o.two && o.op == 0x01 && modrm >> 6 == 3 && (modrm >> 3 & 7) == 0))
		out->no_kprobe = true;
	if (imm) {
		int32_t rel = 0;

		if (out->len != o.at + 1u + imm)
			return false; /* AMD and Intel decode a 16-bit target differently */
		if (imm == 1)
			rel = (int8_t)code[o.at + 1];
		else
			memcpy(&rel, code + o.at + 1, sizeof(rel));
		out->target = addr + out->len + (uint64_t)(int64_t)rel;
	}
	return true;
}

bool decode(struct decoder *d, const uint8_t *code, size_t avail, uint64_t addr,
	    struct decoded *out)
{
	size_t len = insn_len(d, code, avail, addr);

	memset(out, 0, sizeof(*out));
	if (!len || len > avail || len > ARCH_MAX_INSN)
		return false;
	out->len = (uint8_t)len;
	return fill(code, addr, out);
}

/* The operands of an indirect jump, or of an instruction before it, to find jump tables. */
struct decoded_operand {
	unsigned int id; /* capstone's number of the instruction */
	x86_reg reg, source; /* first and second register operand; 0: none */
	bool memory, has_imm;
	x86_op_mem mem; /* if RIP is the base, DISP is the absolute address */
	int64_t imm;
};

static bool decode_operands(struct decoder *d, const uint8_t *code, size_t avail, uint64_t addr,
			    struct decoded_operand *out)
{
	const cs_insn *insn = decoder_detail(d, code, avail, addr);
	const cs_x86 *x86;

	memset(out, 0, sizeof(*out));
	if (!insn)
		return false;
	x86 = &insn->detail->x86;
	out->id = insn->id;
	for (unsigned int i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type == X86_OP_REG && i == 0) {
			out->reg = op->reg;
		} else if (op->type == X86_OP_REG) {
			out->source = op->reg;
		} else if (op->type == X86_OP_IMM) {
			out->imm = op->imm;
			out->has_imm = true;
		} else if (op->type == X86_OP_MEM) {
			out->memory = true;
			out->mem = op->mem;
			if (op->mem.base == X86_REG_RIP)
				out->mem.disp += (int64_t)(insn->address + insn->size);
		}
	}
	return true;
}

bool decode_is_trap(uint8_t byte)
{
	return byte == 0xcc;
}

bool decode_is_probe_jump(const uint8_t *code, size_t avail, uint64_t addr, uint64_t *target)
{
	int32_t rel;

	if (avail < ARCH_JUMP_LEN || code[0] != 0xe9)
		return false;
	memcpy(&rel, code + 1, sizeof(rel));
	*target = addr + ARCH_JUMP_LEN + (uint64_t)(int64_t)rel;
	return true;
}

/* Clang's check is movl $TYPE,%r10d; addl -N(%REG),%r10d; je over the ud2. Since Linux 6.6 kprobes refuse the first two. */
size_t decode_type_check(const uint8_t *code, size_t avail)
{
	static const uint8_t end[] = { 0x74, 0x02, 0x0f, 0x0b };

	return avail >= 14 && code[0] == 0x41 && code[1] == 0xba && (code[6] & 0xfe) == 0x44 &&
			       code[7] == 0x03 && !memcmp(code + 10, end, sizeof(end)) ?
		       10 :
		       0;
}

bool decode_is_bug(const uint8_t *code)
{
	return code[0] == 0x0f && (code[1] == 0x0b || code[1] == 0xb9);
}

/*
 * Jump tables in the shapes that gcc and clang give them:
 *
 *	jmp *TABLE(,%index,8)
 *	mov TABLE(,%index,8),%reg; ...; jmp *%reg
 *	lea TABLE(%rip),%base; ...; movslq (%base,%index,4),%reg; add %base,%reg; jmp *%reg
 *
 * The first two have absolute addresses in the table, the last one differences from the table's address.
 * A comparison before the jump, if there is one, limits the number of entries.
 */

#define LOOK_BACK 24 /* maximum number of instructions to look back */
#define MAX_CASES 1024
#define NOT_FOUND UINT32_MAX

struct lookback {
	struct decoder *decoder;
	decode_before_fn before;
	void *arg;
};

static bool operands_before(const struct lookback *l, uint32_t n, struct decoded_operand *op)
{
	const uint8_t *bytes;
	uint64_t addr;
	size_t len = l->before(n, &bytes, &addr, l->arg);

	return len && decode_operands(l->decoder, bytes, len, addr, op);
}

/* Return the number (see decode_before_fn) of the last writer of REG before FROM, or NOT_FOUND. Set *OP to its operands. */
static uint32_t writer(const struct lookback *l, uint32_t from, x86_reg reg,
		       struct decoded_operand *op)
{
	const uint8_t *bytes;
	uint64_t addr;

	for (uint32_t n = from + 1; n <= from + LOOK_BACK; n++) {
		if (!l->before(n, &bytes, &addr, l->arg))
			break;
		if (operands_before(l, n, op) && op->reg == reg && op->id != X86_INS_CMP &&
		    op->id != X86_INS_TEST)
			return n;
	}
	return NOT_FOUND;
}

/*
 * Recognize the last form above (lea, movslq, add), and set *TABLE. ADD is the number of the instruction add, and SUM are its
 * operands.
 */
static bool difference_table(const struct lookback *l, uint32_t add,
			     const struct decoded_operand *sum, uint64_t *table)
{
	struct decoded_operand load, lea;
	uint32_t at = writer(l, add, sum->reg, &load);

	if (sum->id != X86_INS_ADD || !sum->source || at == NOT_FOUND ||
	    load.id != X86_INS_MOVSXD || !load.memory || load.mem.base != sum->source ||
	    !load.mem.index || load.mem.scale != 4 || load.mem.disp)
		return false;
	if (writer(l, at, sum->source, &lea) == NOT_FOUND || lea.id != X86_INS_LEA ||
	    lea.mem.base != X86_REG_RIP)
		return false;
	*table = (uint64_t)lea.mem.disp;
	return true;
}

static enum decode_jump_kind find_target(const struct lookback *l, uint64_t *table)
{
	struct decoded_operand from; /* of the jump or of the instruction that loads its register */
	uint32_t at;

	if (!operands_before(l, 0, &from))
		return DECODE_JUMP_UNKNOWN;
	if (!from.memory) {
		at = from.reg ? writer(l, 0, from.reg, &from) : NOT_FOUND;
		if (at != NOT_FOUND && from.id != X86_INS_MOV)
			return difference_table(l, at, &from, table) ? DECODE_JUMP_DIFFERENCES :
								       DECODE_JUMP_UNKNOWN;
		if (at == NOT_FOUND || !from.memory)
			return DECODE_JUMP_UNKNOWN;
	}
	*table = (uint64_t)from.mem.disp;
	return !from.mem.index                       ? DECODE_JUMP_POINTER :
	       !from.mem.base && from.mem.scale == 8 ? DECODE_JUMP_ADDRESSES :
						       DECODE_JUMP_UNKNOWN;
}

/* If the jump follows cmp $N,...; ja DEFAULT, return N + 1, the number of cases. Otherwise return 0. */
static uint32_t find_bound(const struct lookback *l)
{
	bool above = false;

	for (uint32_t n = 1; n <= LOOK_BACK; n++) {
		struct decoded_operand op;
		struct decoded insn;
		const uint8_t *bytes;
		uint64_t addr;
		size_t len = l->before(n, &bytes, &addr, l->arg);

		if (!len || !operands_before(l, n, &op))
			break;
		if (op.id == X86_INS_JA)
			above = true;
		else if (decode(l->decoder, bytes, len, addr, &insn) && insn.kind == DECODE_COND)
			break;
		else if (above && op.id == X86_INS_CMP)
			return op.has_imm && op.imm >= 0 && op.imm < MAX_CASES ?
				       (uint32_t)op.imm + 1 :
				       0;
	}
	return 0;
}

struct decoded_jump decode_indirect_jump(struct decoder *d, decode_before_fn before, void *arg)
{
	struct lookback l = { d, before, arg };
	struct decoded_jump jump = { 0 };

	jump.kind = find_target(&l, &jump.table);
	jump.n = jump.kind >= DECODE_JUMP_ADDRESSES ? find_bound(&l) : 0;
	return jump;
}
