/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that are loaded when they are needed, if at all, and as often: those of functions, which are most of
 * what the verifier would have to go through. Their section is "later".
 */
#pragma once

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct bpf_program;

struct record_later {
	const struct bpf_program *prog;
	struct bpf_insn *insns; /* as the kernel would get them */
	size_t n;
	/*
	 * The functions of the program. The kernel would accept it without them, but then verifies global functions again
	 * at each call.
	 */
	struct bpf_func_info *funcs;
	uint32_t n_funcs;
	int fd; /* -1: not loaded by record_later_fd() */
};

struct record_laters {
	vec_of(struct record_later, items);
	int btf_fd; /* the object's, set once that is loaded; negative: the kernel did not take it */
};

/* The object that is opened and loaded next leaves in LATERS what is later. -errno. */
int record_laters_begin(struct record_laters *laters);
void record_laters_deinit(struct record_laters *laters); /* accepts one that is zero */

/* A copy of LATER, whose instructions are the caller's to change, for record_later_free(). */
struct record_later record_later_copy(const struct record_later *later);
void record_later_free(struct record_later *copy);
/* Puts the N instructions BY in place of that AT; jumps and calls lead where they did. */
void record_later_replace(struct record_later *copy, size_t at, const struct bpf_insn *by,
			  size_t n);

/* Loads LATER, or a copy. For fentry and fexit, on that function. -errno. */
int record_later_load(const struct record_laters *laters, const struct record_later *later,
		      enum bpf_attach_type attach, int btf_id, int btf_fd);

const struct record_later *record_later_find(const struct record_laters *laters,
					     const struct bpf_program *prog);

/* PROG, a kprobe's, loaded now if it is not yet: a descriptor of LATERS', or -errno. */
int record_later_fd(struct record_laters *laters, const struct bpf_program *prog);
