/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of a function as the emulator executed it, in pieces that overlap: what its blocks and loops are made of. */
#pragma once

#include "base/alloc.h"
#include "kernel/image/kallsyms.h"
#include "profile/profile.h"

/* A place at which control may go on after a piece. */
struct exact_way {
	uint64_t target; /* address; 0: none is known */
	bool falls; /* to what lies behind it */
};

struct exact_code {
	struct profile_blocks list; /* the pieces, in the emulator's order */
	vec_of(struct exact_way, ways); /* of each */
	uint32_t number; /* 1 + that of the list in the profile; 0: nothing is counted yet */
};

/* Piece number LOCAL of the function SYM, whose number in P is SITE: BYTES and INSNS at ADDR. No number is there twice. */
void exact_code_add(struct exact_code *c, struct profile *p, const struct kernel_kallsyms *ks,
		    uint32_t local, const struct profile_block *piece, struct exact_way way);
/* Once all pieces are there: the counts of C, which is of SITE, in CONTEXT. Valid until the next. */
struct profile_block_counts *exact_code_counts(struct exact_code *c, struct profile *p,
					       uint32_t site, uint32_t context);
void exact_code_deinit(struct exact_code *c);
