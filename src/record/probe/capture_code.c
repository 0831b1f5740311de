// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/probe/capture_code.h"

#include <linux/bpf_common.h>
#include <linux/types.h>
#include <string.h>

#include "base/alloc.h"
#include "kprotperf/engine.h"

/* Any odd number. The hash is two sums, one of values by its powers and one of what that was on the way. */
#define HASH_FACTOR   0x5bd1e995
#define ABSENT_FACTOR 0x5bd1 /* all bits of a call by it are a positive number of 32 bits */

#define LAST_VALUE (int16_t) offsetof(struct engine_call, values[ENGINE_VALUES - 1])

#define FIRST_ERROR (-4095) /* MAX_ERRNO */

#define CTX  BPF_REG_6
#define CALL BPF_REG_7
#define HASH BPF_REG_8
#define SUM  BPF_REG_9
#define AT   BPF_REG_3 /* the value, and before that what leads to it */

static void emit(struct record_code *code, uint8_t op, uint8_t dst, uint8_t src, int16_t off,
		 int32_t imm)
{
	const struct bpf_insn insn = {
		.code = op, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm
	};

	vec_push(code, items, insn);
}

static void move(struct record_code *code, uint8_t dst, uint8_t src)
{
	emit(code, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void operate(struct record_code *code, uint8_t op, uint8_t dst, int32_t imm)
{
	emit(code, BPF_ALU64 | op | BPF_K, dst, 0, 0, imm);
}

static void load_wide(struct record_code *code, uint8_t dst, uint8_t src, uint64_t imm)
{
	emit(code, BPF_LD | BPF_DW | BPF_IMM, dst, src, 0, (int32_t)imm);
	emit(code, 0, 0, 0, 0, (int32_t)(imm >> 32));
}

static void load(struct record_code *code, uint8_t dst, uint8_t src, int16_t offset, uint32_t bytes)
{
	static const uint8_t sizes[] = { [1] = BPF_B, [2] = BPF_H, [4] = BPF_W, [8] = BPF_DW };

	emit(code, BPF_LDX | BPF_MEM | sizes[bytes], dst, src, offset, 0);
}

/* Zero, in eight bytes of the call. */
static void store(struct record_code *code, size_t offset)
{
	emit(code, BPF_ST | BPF_MEM | BPF_DW, CALL, 0, (int16_t)offset, 0);
}

static void call(struct record_code *code, int32_t helper)
{
	emit(code, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static void jump(struct record_code *code, uint8_t op, uint8_t dst, int32_t imm, size_t over)
{
	emit(code, BPF_JMP | op | BPF_K, dst, 0, (int16_t)over, imm);
}

#define ABSENT_INSNS 4

/* The values BITS are absent; the hash is then another one than that of zeros. */
static void mark_absent(struct record_code *code, int32_t bits)
{
	const int16_t absent = offsetof(struct engine_call, absent);

	load(code, BPF_REG_1, CALL, absent, 2);
	operate(code, BPF_OR, BPF_REG_1, bits);
	emit(code, BPF_STX | BPF_MEM | BPF_H, CALL, BPF_REG_1, absent, 0);
	operate(code, BPF_ADD, SUM, bits * ABSENT_FACTOR);
}

#define SYSCALL_INSNS 6 /* of each syscall */

/* Number I of C, an argument of a syscall; absent in others. */
static void read_syscall(struct record_code *code, const struct record_capture *c, uint32_t i)
{
	const struct record_value *v = &c->values[i];

	load(code, AT, CALL, offsetof(struct engine_call, key), 4);
	for (uint32_t k = 0; k < v->n_syscalls; k++) {
		jump(code, BPF_JNE, AT, (int32_t)ENGINE_KEY(c->site + 1, v->syscalls[k].nr),
		     SYSCALL_INSNS - 1);
		call(code, BPF_FUNC_get_current_task_btf);
		move(code, BPF_REG_1, BPF_REG_0);
		call(code, BPF_FUNC_task_pt_regs);
		load(code, AT, BPF_REG_0, v->syscalls[k].offset, 8);
		jump(code, BPF_JA, 0, 0,
		     SYSCALL_INSNS * (v->n_syscalls - 1 - k) + ABSENT_INSNS + 1);
	}
	mark_absent(code, 1 << i);
	operate(code, BPF_MOV, AT, 0);
}

static void read_base(struct record_code *code, const struct record_value *v, uint32_t n_args)
{
	static const int32_t helpers[] = {
		[RECORD_BASE_TASK] = BPF_FUNC_get_current_task_btf,
		[RECORD_BASE_CPU] = BPF_FUNC_get_smp_processor_id,
		[RECORD_BASE_USER] = BPF_FUNC_get_current_uid_gid,
		[RECORD_BASE_CGROUP] = BPF_FUNC_get_current_cgroup_id,
		[RECORD_BASE_PER_CPU] = BPF_FUNC_this_cpu_ptr,
	};

	switch (v->base) {
	case RECORD_BASE_ARGUMENT:
	case RECORD_BASE_RETURN:
		load(code, AT, CTX,
		     (int16_t)(8 * (v->base == RECORD_BASE_RETURN ? n_args : v->which)), 8);
		return;
	case RECORD_BASE_TRIPS:
		load(code, AT, CALL, LAST_VALUE, 8);
		return;
	case RECORD_BASE_ADDRESS:
		load_wide(code, AT, 0, v->addr);
		return;
	case RECORD_BASE_PER_CPU:
		load_wide(code, BPF_REG_1, BPF_PSEUDO_BTF_ID, v->which);
		break;
	default:
		break;
	}
	call(code, helpers[v->base]);
	move(code, AT, BPF_REG_0);
}

/* Does B's way to its value begin as A's, with A's first N loads, and go on from there? */
static bool is_same_way(const struct record_value *a, const struct record_value *b, uint32_t n)
{
	return a->base == b->base && a->which == b->which && b->n_loads > n &&
	       !memcmp(a->offsets, b->offsets, n * sizeof(*a->offsets));
}

/*
 * What AT points to may be nothing: then it is no address of the kernel's, which as signed numbers are below those that stand for
 * errors. All values of C that it leads to, as it does to that of number I after N loads, are absent then, and what is loaded
 * is 0. Once for all of them: most calls pay for each pointer, not each value.
 */
static void check_pointer(struct record_code *code, const struct record_capture *c, uint32_t i,
			  uint32_t n)
{
	int32_t bits = 0;

	for (uint32_t k = 0; k < c->n_values; k++) {
		if (!is_same_way(&c->values[i], &c->values[k], n))
			continue;
		if (k < i)
			return;
		bits |= 1 << k;
	}
	jump(code, BPF_JSLT, AT, FIRST_ERROR, ABSENT_INSNS);
	mark_absent(code, bits);
}

/* From what AT points to, by a copy, which is zero where there is nothing. */
static void read_copy(struct record_code *code, int32_t offset, uint32_t bytes)
{
	const int16_t copy = offsetof(struct engine_call, read);

	move(code, BPF_REG_1, CALL);
	operate(code, BPF_ADD, BPF_REG_1, copy);
	operate(code, BPF_MOV, BPF_REG_2, (int32_t)bytes);
	operate(code, BPF_ADD, AT, offset); /* the third argument */
	call(code, BPF_FUNC_probe_read_kernel);
	load(code, AT, CALL, copy, bytes);
}

static void read_value(struct record_code *code, const struct record_capture *c, uint32_t number,
		       uint32_t n_args, bool direct)
{
	const struct record_value *v = &c->values[number];
	uint32_t bits = v->bits ?: 8 * v->bytes;

	direct = direct && v->base != RECORD_BASE_ADDRESS;
	if (v->base == RECORD_BASE_SYSCALL)
		read_syscall(code, c, number);
	else
		read_base(code, v, n_args);
	for (uint32_t i = 0; i < v->n_loads; i++) {
		uint32_t bytes = i + 1 < v->n_loads ? 8 : v->bytes;

		if (i || v->base == RECORD_BASE_ARGUMENT || v->base == RECORD_BASE_RETURN)
			check_pointer(code, c, number, i);
		if (direct && v->offsets[i] <= INT16_MAX)
			load(code, AT, AT, (int16_t)v->offsets[i], bytes);
		else
			read_copy(code, v->offsets[i], bytes);
	}
	/* Of an argument in a register more is undefined than of what was loaded. */
	if (bits < 64 && (v->is_signed || v->bits || !v->n_loads)) {
		operate(code, BPF_LSH, AT, (int32_t)(64 - v->shift - bits));
		operate(code, v->is_signed ? BPF_ARSH : BPF_RSH, AT, (int32_t)(64 - bits));
	}
	if (v->mask) {
		load_wide(code, BPF_REG_1, 0, v->mask);
		emit(code, BPF_ALU64 | BPF_AND | BPF_X, AT, BPF_REG_1, 0, 0);
	}
}

void record_capture_code(struct record_code *code, const struct record_capture *c, uint32_t slot,
			 uint32_t n_args, bool direct)
{
	operate(code, BPF_MOV, HASH, 0);
	operate(code, BPF_MOV, SUM, 0);
	/* And none absent, which is behind it. */
	emit(code, BPF_ST | BPF_MEM | BPF_W, CALL, 0, offsetof(struct engine_call, slot),
	     (int32_t)slot);
	store(code, offsetof(struct engine_call, read));
	for (uint32_t i = 0; i < c->n_values; i++) {
		read_value(code, c, i, n_args, direct);
		emit(code, BPF_STX | BPF_MEM | BPF_DW, CALL, AT,
		     (int16_t)(offsetof(struct engine_call, values) + 8 * i), 0);
		emit(code, BPF_ALU64 | BPF_ADD | BPF_X, HASH, AT, 0, 0);
		operate(code, BPF_MUL, HASH, HASH_FACTOR);
		emit(code, BPF_ALU64 | BPF_ADD | BPF_X, SUM, HASH, 0, 0);
	}
	/* The last one was needed till here: the call's trips. */
	for (uint32_t i = c->n_values; i < ENGINE_VALUES; i++)
		store(code, offsetof(struct engine_call, values) + 8 * i);
	operate(code, BPF_LSH, SUM, 31);
	emit(code, BPF_ALU64 | BPF_XOR | BPF_X, HASH, SUM, 0, 0);
}
