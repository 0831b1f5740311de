/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs in the object's section "save": mostly those for functions, which would take most of the verifier's time. Each
 * is loaded only when needed, any number of times.
 */
#pragma once

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct bpf_program;

struct record_saved_program {
	const struct bpf_program *prog;
	struct bpf_insn *insns; /* the instructions that libbpf would load */
	size_t n;
	/*
	 * BTF func_info of the program. The kernel accepts the program without it, but then verifies global functions again
	 * at each call.
	 */
	struct bpf_func_info *funcs;
	uint32_t n_funcs;
	int fd; /* -1: not loaded by record_saved_fd() */
};

struct record_saved_programs {
	vec_of(struct record_saved_program, items);
	int btf_fd; /* BTF of the object, set when it is loaded; negative: the kernel refused it */
};

/* Save the programs in section "save" of the next object that is opened and loaded. Return 0 or -errno. */
int record_saved_programs_begin(struct record_saved_programs *programs);
void record_saved_programs_deinit(
	struct record_saved_programs *programs); /* accepts one that is zero */

/* Return a copy of SAVED whose instructions the caller may change, for record_saved_free(). */
struct record_saved_program record_saved_copy(const struct record_saved_program *saved);
void record_saved_free(struct record_saved_program *copy);
/* Replace instruction AT by the N instructions BY, and adjust jumps and calls. */
void record_saved_replace(struct record_saved_program *copy, size_t at, const struct bpf_insn *by,
			  size_t n);

/* Load SAVED, or a copy of one; for fentry and fexit, for the function BTF_ID in BTF_FD. Return the descriptor or -errno. */
int record_saved_load(const struct record_saved_programs *programs,
		      const struct record_saved_program *saved, enum bpf_attach_type attach,
		      int btf_id, int btf_fd);

const struct record_saved_program *record_saved_find(const struct record_saved_programs *programs,
						     const struct bpf_program *prog);

/* Return a descriptor, owned by PROGRAMS, of the kprobe program PROG, loaded now if needed; or -errno. */
int record_saved_fd(struct record_saved_programs *programs, const struct bpf_program *prog);
