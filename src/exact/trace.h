/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One call that was kept whole: its blocks in order become a tree of calls and lines, in which repetitions are loops. */
#pragma once

#include "base/alloc.h"
#include "profile/profile.h"

struct exact_trace_list {
	vec_of(struct exact_trace_item, items);
};

struct exact_trace {
	struct exact_trace_list open; /* the calls that have not ended, outermost first */
	uint64_t lost;
};

/* INSNS instructions at LOCATION, in a call of the function at FUNCTION that is DEPTH calls below the one that is kept. */
void exact_trace_step(struct exact_trace *t, uint32_t depth, uint32_t function, uint32_t location,
		      uint32_t insns);
/* Puts it into run 0 of P and frees what T holds; without a step does nothing. */
void exact_trace_finish(struct exact_trace *t, struct profile *p);
