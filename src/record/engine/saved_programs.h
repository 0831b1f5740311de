/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that are loaded when they are needed, if at all, and as often: those of functions, which are most of
 * what the verifier would have to go through. Their section is "save".
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
	 * The functions of the program. The kernel would accept it without them, but then verifies global functions again
	 * at each call.
	 */
	struct bpf_func_info *funcs;
	uint32_t n_funcs;
	int fd; /* -1: not loaded by record_saved_fd() */
};

struct record_saved_programs {
	vec_of(struct record_saved_program, items);
	int btf_fd; /* the object's, set once that is loaded; negative: the kernel did not take it */
};

/* Saves the programs of that section from the object that is opened and loaded next. -errno. */
int record_saved_programs_begin(struct record_saved_programs *programs);
void record_saved_programs_deinit(
	struct record_saved_programs *programs); /* accepts one that is zero */

/* A copy of SAVED, whose instructions are the caller's to change, for record_saved_free(). */
struct record_saved_program record_saved_copy(const struct record_saved_program *saved);
void record_saved_free(struct record_saved_program *copy);
/* Puts the N instructions BY in place of that AT; jumps and calls lead where they did. */
void record_saved_replace(struct record_saved_program *copy, size_t at, const struct bpf_insn *by,
			  size_t n);

/* Loads SAVED, or a copy. For fentry and fexit, on that function. -errno. */
int record_saved_load(const struct record_saved_programs *programs,
		      const struct record_saved_program *saved, enum bpf_attach_type attach,
		      int btf_id, int btf_fd);

const struct record_saved_program *record_saved_find(const struct record_saved_programs *programs,
						     const struct bpf_program *prog);

/* PROG, a kprobe's, loaded now if it is not yet: a descriptor of PROGRAMS', or -errno. */
int record_saved_fd(struct record_saved_programs *programs, const struct bpf_program *prog);
