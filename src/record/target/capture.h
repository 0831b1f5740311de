/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values to capture at calls of a function, given by expressions such as "s->object_size", and the loads that read them. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "kprotperf/engine.h"
#include "base/alloc.h"
#include "profile/profile.h"
#include "record/target/sites.h"

enum record_base {
	RECORD_BASE_ARGUMENT, /* argument register with the number WHICH */
	RECORD_BASE_RETURN,
	RECORD_BASE_TASK, /* struct task_struct of the running task */
	RECORD_BASE_CPU, /* number of the running CPU */
	RECORD_BASE_ADDRESS, /* the variable at ADDR */
	RECORD_BASE_PER_CPU, /* this CPU's copy of a per-CPU variable, whose BTF id is WHICH */
	RECORD_BASE_NAME_END, /* second half of a name, which begins in the previous value */
	RECORD_BASE_SYSCALL, /* argument of the current syscall; absent if SYSCALLS lacks it */
};

/* The syscall with the number NR has the argument at OFFSET of its struct pt_regs. */
struct record_syscall {
	uint16_t nr;
	int16_t offset;
};

#define RECORD_CAPTURE_SYSCALLS 8

/* Maximum number of pointers that lead from the base to the value. */
#define RECORD_CAPTURE_LOADS 4

struct record_value {
	struct profile_variable variable; /* the struct owns the variable's name */
	enum record_base base;
	uint32_t which;
	uint64_t addr;
	/* BTF id of the struct that the base points to, for bpf_rdonly_cast(); 0: unknown. */
	uint32_t type;
	struct record_syscall syscalls[RECORD_CAPTURE_SYSCALLS];
	uint32_t n_syscalls;
	/* Each load reads at its offset from the previous pointer. The last load reads the value: BYTES bytes, or a name. */
	uint32_t n_loads;
	int32_t offsets[RECORD_CAPTURE_LOADS];
	uint32_t bytes;
	uint32_t shift, bits; /* the value is BITS bits from bit SHIFT on; BITS 0: all bits */
	uint64_t mask; /* bits of the value to keep; 0: all */
	bool is_signed;
};

/* Return whether the value V uses all bits of the bytes that were read. */
static inline bool record_value_is_whole(const struct record_value *v)
{
	return !v->bits && !v->mask;
}

/* Sign-extend VALUE, captured as V, to 64 bits if V is signed and has all bits of the bytes read. Return the result. */
static inline uint64_t record_value_extend(const struct record_value *v, uint64_t value)
{
	uint32_t rest = 64 - 8 * v->bytes;

	return record_value_is_whole(v) && v->is_signed ?
		       (uint64_t)((int64_t)(value << rest) >> rest) :
		       value;
}

struct record_capture {
	uint32_t site; /* index in the plan's sites: 1 less than the engine's number */
	struct record_value values[ENGINE_VALUES];
	uint32_t n_values;
	uint32_t cast; /* BTF id of bpf_rdonly_cast(); 0: the kernel lacks it (before 6.2) */
};

struct record_captures {
	vec_of(struct record_capture, items);
	bool fentry, saves; /* some of ITEMS are timed by fentry; by kprobes that save arguments */
};

/* The values to capture, and the functions in which to capture them. */
struct record_capture_wanted {
	const struct record_names *expressions; /* "[FUNC:]EXPR" of each --capture */
	bool automatic; /* also capture numeric arguments, and values that the code reads */
	struct record_sites *sites; /* capture in functions timed by fentry or kprobes */
	struct record_symbols *symbols;
};

/* Resolve the expressions, and report those that cannot be resolved. Return 0 or -errno. */
int record_captures_resolve(struct record_captures *c, const struct record_capture_wanted *wanted);
void record_captures_store(const struct record_captures *c, struct profile *p);
void record_captures_deinit(struct record_captures *c);
