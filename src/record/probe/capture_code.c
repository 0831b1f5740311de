// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/probe/capture_code.h"

#include <linux/bpf.h>
#include <linux/types.h>
#include <string.h>

#include "base/alloc.h"
#include "kprotperf/engine.h"
#include "record/engine/saved_programs.h"
#include "record/target/capture.h"

/* An arbitrary odd number. HASH is the sum of values times powers of HASH_FACTOR. SUM is the sum of HASH after each value. */
#define HASH_FACTOR   0x5bd1e995
#define ABSENT_FACTOR 0x5bd1 /* times 0xffff (all values), still positive in 32 bits */

#define COPY ((int16_t)offsetof(struct engine_reading, read))

#define FIRST_ERROR (-4095) /* the kernel's -MAX_ERRNO */

#define CTX  BPF_REG_6
#define CALL BPF_REG_7
#define HASH BPF_REG_8
#define SUM  BPF_REG_9
#define AT   BPF_REG_3 /* the pointer to follow; afterwards the value */

struct bpf_code {
	struct bpf_insn *items;
	size_t n_items, cap_items;
};

static void emit(struct bpf_code *code, uint8_t op, uint8_t dst, uint8_t src, int16_t off,
		 int32_t imm)
{
	const struct bpf_insn insn = {
		.code = op, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm
	};

	vec_push(code, items, insn);
}

static void move(struct bpf_code *code, uint8_t dst, uint8_t src)
{
	emit(code, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void operate(struct bpf_code *code, uint8_t op, uint8_t dst, int32_t imm)
{
	emit(code, BPF_ALU64 | op | BPF_K, dst, 0, 0, imm);
}

static void load_wide(struct bpf_code *code, uint8_t dst, uint8_t src, uint64_t imm)
{
	emit(code, BPF_LD | BPF_DW | BPF_IMM, dst, src, 0, (int32_t)imm);
	emit(code, 0, 0, 0, 0, (int32_t)(imm >> 32));
}

static void load(struct bpf_code *code, uint8_t dst, uint8_t src, int16_t offset, uint32_t bytes)
{
	static const uint8_t sizes[] = { [1] = BPF_B, [2] = BPF_H, [4] = BPF_W, [8] = BPF_DW };

	emit(code, BPF_LDX | BPF_MEM | sizes[bytes], dst, src, offset, 0);
}

/* Store zero in eight bytes at OFFSET of the struct engine_reading. */
static void store(struct bpf_code *code, size_t offset)
{
	emit(code, BPF_ST | BPF_MEM | BPF_DW, CALL, 0, (int16_t)offset, 0);
}

static void call(struct bpf_code *code, int32_t helper)
{
	emit(code, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static void jump(struct bpf_code *code, uint8_t op, uint8_t dst, int32_t imm, size_t over)
{
	emit(code, BPF_JMP | op | BPF_K, dst, 0, (int16_t)over, imm);
}

#define ABSENT_INSNS 4

/* Mark the values in the bit mask BITS as absent. This changes the hash, so that absent values differ from zeros. */
static void mark_absent(struct bpf_code *code, int32_t bits)
{
	const int16_t absent = offsetof(struct engine_call, absent);

	load(code, BPF_REG_1, CALL, absent, 2);
	operate(code, BPF_OR, BPF_REG_1, bits);
	emit(code, BPF_STX | BPF_MEM | BPF_H, CALL, BPF_REG_1, absent, 0);
	operate(code, BPF_ADD, SUM, bits * ABSENT_FACTOR);
}

#define SYSCALL_INSNS 6 /* number of BPF instructions that handle one syscall */

/* Read value I of C, a syscall argument such as "fd", for all syscalls that have it. In other syscalls the value is absent. */
static void read_syscall(struct bpf_code *code, const struct record_capture *c, uint32_t i)
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

static void read_base(struct bpf_code *code, const struct record_value *v, uint32_t ret)
{
	static const int32_t helpers[] = {
		[RECORD_BASE_TASK] = BPF_FUNC_get_current_task_btf,
		[RECORD_BASE_CPU] = BPF_FUNC_get_smp_processor_id,
		[RECORD_BASE_PER_CPU] = BPF_FUNC_this_cpu_ptr,
	};

	switch (v->base) {
	case RECORD_BASE_ARGUMENT:
	case RECORD_BASE_RETURN:
		load(code, AT, CTX, (int16_t)(8 * (v->base == RECORD_BASE_RETURN ? ret : v->which)),
		     8);
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

/* Return whether A and B have the same base and the same first N loads, and B has further loads. */
static bool is_same_way(const struct record_value *a, const struct record_value *b, uint32_t n)
{
	return a->base == b->base && a->which == b->which && a->addr == b->addr && b->n_loads > n &&
	       !memcmp(a->offsets, b->offsets, n * sizeof(*a->offsets));
}

/*
 * Check AT, the pointer to value I of C after N loads: it may be NULL, an error or a user address. As signed numbers, kernel
 * addresses are below errors. If the check fails, mark all values of C behind that pointer as absent; loads give 0. Emit the check
 * only for the first value behind a pointer, so that a call checks each pointer once.
 */
static void check_pointer(struct bpf_code *code, const struct record_capture *c, uint32_t i,
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

struct reading {
	enum record_reading how;
	bool typed; /* fentry passes the arguments, and the verifier knows their types */
	/* CAST is that of struct record_capture. RET is the number of the argument that holds the return value. */
	uint32_t cast, ret;
};

/* Return whether the verifier knows the type of the memory that V's base points to. */
static bool is_known(const struct record_value *v, const struct reading *r)
{
	return v->base == RECORD_BASE_TASK || v->base == RECORD_BASE_PER_CPU ||
	       (r->typed && v->base != RECORD_BASE_ADDRESS);
}

/* Return whether BPF loads can read memory behind V's base. If not, a helper must copy the memory. */
static bool is_typed(const struct record_value *v, const struct reading *r)
{
	return (r->how != RECORD_READING_COPIES && is_known(v, r)) ||
	       (r->how == RECORD_READING_CAST && r->cast && v->type);
}

/* Turn AT into a pointer to a struct TYPE by a kfunc, whose BTF id is BY. The verifier replaces the call by a move. */
static void cast(struct bpf_code *code, uint32_t by, uint32_t type)
{
	move(code, BPF_REG_1, AT);
	operate(code, BPF_MOV, BPF_REG_2, (int32_t)type);
	emit(code, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, (int32_t)by);
	move(code, AT, BPF_REG_0);
}

/* Copy BYTES bytes from AT + OFFSET into the buffer of the struct engine_reading, by HELPER. */
static void copy(struct bpf_code *code, int32_t helper, int32_t offset, uint32_t bytes)
{
	move(code, BPF_REG_1, CALL);
	operate(code, BPF_ADD, BPF_REG_1, COPY);
	operate(code, BPF_MOV, BPF_REG_2, (int32_t)bytes);
	operate(code, BPF_ADD, AT, offset); /* AT becomes the helper's third argument */
	call(code, helper);
}

/* Copy BYTES bytes from AT + OFFSET. If the bytes cannot be read, the copy has zeros, and R0 is not 0. */
static void read_copy(struct bpf_code *code, int32_t offset, uint32_t bytes)
{
	copy(code, BPF_FUNC_probe_read_kernel, offset, bytes);
}

/* Reduce AT, a value read from memory or a register, to V's bits. record_value_extend() extends the sign of whole numbers. */
static void cut(struct bpf_code *code, const struct record_value *v)
{
	uint32_t bits = v->bits ?: 8 * v->bytes;

	/* The upper half of an argument in a register is undefined. The upper half of a loaded value is 0. */
	if (record_value_is_whole(v) && !v->n_loads && bits == 32) {
		emit(code, BPF_ALU | BPF_MOV | BPF_X, AT, AT, 0, 0);
	} else if (record_value_is_whole(v) && !v->n_loads && bits < 32) {
		operate(code, BPF_AND, AT, (1 << bits) - 1);
	} else if (!record_value_is_whole(v) && bits < 64 &&
		   (v->is_signed || v->bits || !v->n_loads)) {
		operate(code, BPF_LSH, AT, (int32_t)(64 - v->shift - bits));
		operate(code, v->is_signed ? BPF_ARSH : BPF_RSH, AT, (int32_t)(64 - bits));
	}
	if (v->mask) {
		load_wide(code, BPF_REG_1, 0, v->mask);
		emit(code, BPF_ALU64 | BPF_AND | BPF_X, AT, BPF_REG_1, 0, 0);
	}
}

/* Store AT as value I, and add AT to the hash. */
static void keep(struct bpf_code *code, uint32_t i)
{
	emit(code, BPF_STX | BPF_MEM | BPF_DW, CALL, AT,
	     (int16_t)(offsetof(struct engine_call, values) + 8 * i), 0);
	emit(code, BPF_ALU64 | BPF_ADD | BPF_X, HASH, AT, 0, 0);
	operate(code, BPF_MUL, HASH, HASH_FACTOR);
	emit(code, BPF_ALU64 | BPF_ADD | BPF_X, SUM, HASH, 0, 0);
}

static bool is_name(const struct record_value *v)
{
	return v->variable.kind == PROFILE_VARIABLE_NAME;
}

/* Read the name at AT + OFFSET into values I and I + 1, padded with zeros. Both values are absent if the name cannot be read. */
static void read_name(struct bpf_code *code, uint32_t i, int32_t offset)
{
	store(code, offsetof(struct engine_reading, read[0]));
	store(code, offsetof(struct engine_reading, read[1]));
	copy(code, BPF_FUNC_probe_read_kernel_str, offset, ENGINE_NAME);
	jump(code, BPF_JSGT, BPF_REG_0, 0, ABSENT_INSNS);
	mark_absent(code, 1 << i);
	for (uint32_t half = 0; half < 2; half++) {
		load(code, AT, CALL, (int16_t)(COPY + 8 * half), 8);
		keep(code, i + half);
	}
}

/* Memory that is copied at once: BYTES bytes, from START bytes behind a pointer on. BITS are the values in that memory. */
struct span {
	int32_t start;
	uint32_t bytes, bits;
};

static bool is_aligned(const struct record_value *v)
{
	return !is_name(v) && v->offsets[v->n_loads - 1] % (int32_t)v->bytes == 0;
}

/*
 * Return a span that contains value I of C and further values of C close by, except values in DONE. A span of aligned values
 * begins at a multiple of 8, so that the values are aligned in the copy, too.
 */
static struct span find_span(const struct record_capture *c, uint32_t i, uint32_t done)
{
	const struct record_value *v = &c->values[i];
	uint32_t last = v->n_loads - 1;
	bool aligned = is_aligned(v);
	int32_t start = v->offsets[last] - (aligned ? v->offsets[last] & 7 : 0),
		end = v->offsets[last] + (int32_t)v->bytes;
	struct span s = { start, (uint32_t)(end - start), 1u << i };

	for (uint32_t k = i + 1; aligned && k < c->n_values && k < ENGINE_VALUES - 1; k++) {
		const struct record_value *o = &c->values[k];

		if (done & 1u << k || !is_same_way(v, o, last) || o->n_loads != v->n_loads ||
		    !is_aligned(o))
			continue;
		start = o->offsets[last] & ~7;
		start = start < s.start ? start : s.start;
		end = o->offsets[last] + (int32_t)o->bytes;
		end = end > s.start + (int32_t)s.bytes ? end : s.start + (int32_t)s.bytes;
		if (end - start <= ENGINE_READ)
			s = (struct span){ start, (uint32_t)(end - start), s.bits | 1u << k };
	}
	return s;
}

/* Read value I of C, and values close to it, in one copy. Return their bits. If the copy fails, all these values are absent. */
static uint32_t read_span(struct bpf_code *code, const struct record_capture *c, uint32_t i,
			  uint32_t done, const struct reading *r)
{
	const struct record_value *v = &c->values[i];
	struct span s = find_span(c, i, done);

	read_base(code, v, r->ret);
	for (uint32_t k = 0; k + 1 < v->n_loads; k++) {
		read_copy(code, v->offsets[k], 8);
		load(code, AT, CALL, COPY, 8);
	}
	if (is_name(v)) {
		read_name(code, i, s.start);
		return s.bits;
	}
	read_copy(code, s.start, s.bytes);
	jump(code, BPF_JEQ, BPF_REG_0, 0, ABSENT_INSNS);
	mark_absent(code, (int32_t)s.bits);
	for (uint32_t k = i; k < c->n_values; k++) {
		const struct record_value *o = &c->values[k];

		if (!(s.bits & 1u << k))
			continue;
		load(code, AT, CALL, (int16_t)(COPY + o->offsets[o->n_loads - 1] - s.start),
		     o->bytes);
		cut(code, o);
		keep(code, k);
	}
	return s.bits;
}

static void read_value(struct bpf_code *code, const struct record_capture *c, uint32_t i,
		       const struct reading *r)
{
	const struct record_value *v = &c->values[i];

	if (v->base == RECORD_BASE_SYSCALL)
		read_syscall(code, c, i);
	else
		read_base(code, v, r->ret);
	for (uint32_t k = 0; k < v->n_loads; k++) {
		if (k || v->base == RECORD_BASE_ARGUMENT || v->base == RECORD_BASE_RETURN)
			check_pointer(code, c, i, k);
		if (!k && !is_known(v, r))
			cast(code, r->cast, v->type);
		if (is_name(v) && k + 1 == v->n_loads) {
			read_name(code, i, v->offsets[k]);
			return;
		}
		load(code, AT, AT, (int16_t)v->offsets[k], k + 1 < v->n_loads ? 8 : v->bytes);
	}
	cut(code, v);
	keep(code, i);
}

static bool is_far(const struct record_value *v)
{
	for (uint32_t k = 0; k < v->n_loads; k++)
		if (v->offsets[k] > INT16_MAX)
			return true;
	return false;
}

void record_capture_write(struct record_saved_program *copy, const struct record_target *target,
			  uint32_t ret, bool typed, enum record_reading how)
{
	const struct record_capture *c = target->capture;
	const struct reading r = { how, typed, c->cast, ret };
	struct bpf_code code = {};
	uint32_t done = 0;

	operate(&code, BPF_MOV, HASH, 0);
	operate(&code, BPF_MOV, SUM, 0);
	/* These four bytes are two members: SLOT, and ABSENT, in which no bit is set at first. */
	emit(&code, BPF_ST | BPF_MEM | BPF_W, CALL, 0, offsetof(struct engine_call, slot),
	     (int32_t)target->capture_slot);
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct record_value *v = &c->values[i];

		if (done & 1u << i || v->base == RECORD_BASE_NAME_END)
			continue;
		if (v->n_loads && (!is_typed(v, &r) || is_far(v)))
			done |= read_span(&code, c, i, done, &r);
		else
			read_value(&code, c, i, &r);
	}
	for (uint32_t i = c->n_values; i < ENGINE_VALUES; i++)
		store(&code, offsetof(struct engine_call, values) + 8 * i);
	operate(&code, BPF_LSH, SUM, 31);
	emit(&code, BPF_ALU64 | BPF_XOR | BPF_X, HASH, SUM, 0, 0);
	/* Replace all placeholders. Begin with the last one, since each replacement moves the instructions behind itself. */
	for (size_t at = copy->n; at-- > 0;)
		if (copy->insns[at].code == (BPF_ALU64 | BPF_MOV | BPF_K) &&
		    copy->insns[at].imm == ENGINE_PLACEHOLDER_CAPTURE)
			record_saved_replace(copy, at, code.items, code.n_items);
	free(code.items);
}
