/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BPF programs in section "save" of the object file, mostly for timed functions. The kernel would take too long to verify all of
 * them. So each program is loaded when needed, if necessary several times.
 */
#pragma once

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct bpf_program;

struct record_saved_program {
	const struct bpf_program *prog;
	struct bpf_insn *insns; /* instructions that libbpf had prepared for loading */
	size_t n;
	/* BTF func_info of the program. Without it, the kernel verifies global functions again at each call. */
	struct bpf_func_info *funcs;
	uint32_t n_funcs;
	int fd; /* descriptor; -1: record_saved_fd() has not loaded the program yet */
};

struct record_saved_programs {
	vec_of(struct record_saved_program, items);
	int btf_fd; /* BTF of the object file, set at loading; negative: the kernel refused it */
};

/* Save the programs in section "save" when the next object is opened and loaded. Return 0 or -errno. */
int record_saved_programs_begin(struct record_saved_programs *programs);
void record_saved_programs_deinit(
	struct record_saved_programs *programs); /* PROGRAMS may be all zero */

/* Return a copy of SAVED whose instructions the caller may change. Free the copy by record_saved_free(). */
struct record_saved_program record_saved_copy(const struct record_saved_program *saved);
void record_saved_free(struct record_saved_program *copy);
/* Replace instruction AT of COPY by the N instructions BY. Correct the jumps and calls that cross AT. */
void record_saved_replace(struct record_saved_program *copy, size_t at, const struct bpf_insn *by,
			  size_t n);

/* Load SAVED. For fentry and fexit, BTF_ID is the probed function in the BTF object BTF_FD. Return a descriptor or -errno. */
int record_saved_load(const struct record_saved_programs *programs,
		      const struct record_saved_program *saved, enum bpf_attach_type attach,
		      int btf_id, int btf_fd);

const struct record_saved_program *record_saved_find(const struct record_saved_programs *programs,
						     const struct bpf_program *prog);

/* Return the descriptor of the kprobe program PROG, or -errno. Load PROG if needed. PROGRAMS owns the descriptor. */
int record_saved_fd(struct record_saved_programs *programs, const struct bpf_program *prog);
