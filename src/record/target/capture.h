/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values captured at each call of a function, from expressions such as "s->object_size", and the loads that read them.
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "kprotperf/engine.h"
#include "base/alloc.h"
#include "profile/profile.h"
#include "record/target/sites.h"

enum record_base {
	RECORD_BASE_ARGUMENT, /* argument register number WHICH */
	RECORD_BASE_RETURN,
	RECORD_BASE_TASK, /* the running task's struct */
	RECORD_BASE_CPU, /* the running CPU's number */
	RECORD_BASE_ADDRESS, /* a variable at ADDR */
	RECORD_BASE_PER_CPU, /* this CPU's copy of the variable of the type id WHICH */
	RECORD_BASE_NAME_END, /* second half of the name that begins in the value before */
	RECORD_BASE_SYSCALL, /* an argument of the current syscall, if that is one of SYSCALLS */
};

/* Syscall NR has the argument at OFFSET of its struct pt_regs. */
struct record_syscall {
	uint16_t nr;
	int16_t offset;
};

#define RECORD_CAPTURE_SYSCALLS 8

/* Maximum number of pointers between the base and the value. */
#define RECORD_CAPTURE_LOADS 4

struct record_value {
	struct profile_variable variable; /* this struct owns its name */
	enum record_base base;
	uint32_t which;
	uint64_t addr;
	/* BTF id of the struct that the base points to, for bpf_rdonly_cast(); 0: unknown. */
	uint32_t type;
	struct record_syscall syscalls[RECORD_CAPTURE_SYSCALLS];
	uint32_t n_syscalls;
	/* Each load reads at its offset from the pointer loaded before. The last one reads the value: BYTES bytes, or a name. */
	uint32_t n_loads;
	int32_t offsets[RECORD_CAPTURE_LOADS];
	uint32_t bytes;
	uint32_t shift, bits; /* the value is these BITS bits, from bit SHIFT; BITS 0: all */
	uint64_t mask; /* 0: none */
	bool is_signed;
};

/* Return whether V is the whole number in its bytes, not some of the bits. */
static inline bool record_value_is_whole(const struct record_value *v)
{
	return !v->bits && !v->mask;
}

/* Return the captured VALUE of V, sign-extended. */
static inline uint64_t record_value_extend(const struct record_value *v, uint64_t value)
{
	uint32_t rest = 64 - 8 * v->bytes;

	return record_value_is_whole(v) && v->is_signed ?
		       (uint64_t)((int64_t)(value << rest) >> rest) :
		       value;
}

struct record_capture {
	uint32_t site; /* index in the plan's sites; the engine's number is one more */
	struct record_value values[ENGINE_VALUES];
	uint32_t n_values;
	uint32_t cast; /* BTF id of bpf_rdonly_cast(); 0: the kernel has none (before 6.2) */
};

struct record_captures {
	vec_of(struct record_capture, items);
	bool fentry, saves; /* some are timed by fentry; some by kprobes, which save arguments */
};

/* The values to capture, and their functions. */
struct record_capture_wanted {
	const struct record_names *expressions; /* "[FUNC:]EXPR" */
	bool automatic; /* capture functions' numeric arguments and what their code reads, too */
	struct record_sites *sites; /* values are captured in those timed by fentry or kprobes */
	struct record_symbols *symbols;
};

/* Resolve the values, and report those that cannot be resolved. Return 0 or -errno. */
int record_captures_resolve(struct record_captures *c, const struct record_capture_wanted *wanted);
/* Add the captured variables to P. */
void record_captures_store(const struct record_captures *c, struct profile *p);
void record_captures_deinit(struct record_captures *c);
