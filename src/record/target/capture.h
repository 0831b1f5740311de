/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values captured of each call of a function, from expressions such as "s->object_size": the loads that they take.
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
	RECORD_BASE_ARGUMENT, /* WHICH: the register */
	RECORD_BASE_RETURN,
	RECORD_BASE_TASK, /* the running task's struct */
	RECORD_BASE_CPU, /* its number */
	RECORD_BASE_ADDRESS, /* a variable at ADDR */
	RECORD_BASE_PER_CPU, /* this CPU's copy of the variable of the type id WHICH */
	RECORD_BASE_NAME_END, /* the second half of the name that is the value before it */
	RECORD_BASE_SYSCALL, /* an argument of the syscall that the call is made in, if that is one of SYSCALLS */
};

/* Syscall NR has the argument at OFFSET of its struct pt_regs. */
struct record_syscall {
	uint16_t nr;
	int16_t offset;
};

#define RECORD_CAPTURE_SYSCALLS 8

/* Pointers that lead from the base to the value, at most. */
#define RECORD_CAPTURE_LOADS 4

struct record_value {
	struct profile_variable variable; /* its name is this struct's */
	enum record_base base;
	uint32_t which;
	uint64_t addr;
	uint32_t
		type; /* of a struct that the base points to, for bpf_rdonly_cast(); 0: none is known */
	struct record_syscall syscalls[RECORD_CAPTURE_SYSCALLS];
	uint32_t n_syscalls;
	/* Loads, each from that offset of what the one before found: pointers, the last one of BYTES bytes, or of a name. */
	uint32_t n_loads;
	int32_t offsets[RECORD_CAPTURE_LOADS];
	uint32_t bytes;
	uint32_t shift, bits; /* the value is these BITS bits, from bit SHIFT; BITS 0: all */
	uint64_t mask; /* 0: none */
	bool is_signed;
};

/* Return whether V is all that its bytes hold. */
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
	uint32_t site; /* place in the sites, which is one less than the engine's number */
	struct record_value values[ENGINE_VALUES];
	uint32_t n_values;
	uint32_t
		cast; /* the type id of bpf_rdonly_cast(); 0: the kernel, before Linux 6.2, has none */
};

struct record_captures {
	vec_of(struct record_capture, items);
	bool fentry, saves; /* some are timed by fentry; by kprobe */
};

/* The values to capture, and their functions. */
struct record_capture_wanted {
	const struct record_names *expressions; /* "[FUNC:]EXPR" */
	bool automatic; /* the functions' own arguments, and what their code reads */
	struct record_sites *sites; /* sites that fentry or kprobes time */
	struct record_symbols *symbols;
};

/* Finds them, and reports what it does not find. -errno. */
int record_captures_resolve(struct record_captures *c, const struct record_capture_wanted *wanted);
/* Adds the variables to P. */
void record_captures_store(const struct record_captures *c, struct profile *p);
void record_captures_deinit(struct record_captures *c);
