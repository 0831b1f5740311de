/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why one kernel executes more than another for the same work, from two exact recordings: docs/why.md. */
#ifndef KPROTPERF_ANALYZE_WHY_WHY_H
#define KPROTPERF_ANALYZE_WHY_WHY_H

#include "analyze/changes/changes.h"
#include "analyze/why/causes.h"
#include "analyze/why/lines.h"

/* A change of less than this share of what a context executes is not gone into: layout and hashes do as much. */
#define WHY_LEAST_CHANGE 0.005
/* Nor what is less than this share of all that the command executes: what a few calls find in the slab caches does as much. */
#define WHY_LEAST_OF_COMMAND 0.0002
/* Nor what is less than this many times what runs on one kernel differ by. */
#define WHY_LEAST_NOISE 3
/* A cause of less than this share of its context's change is not named; of the second and further ones. */
#define WHY_LEAST_SHARE   0.1
#define WHY_FURTHER_SHARE 0.25

/* A syscall or other context; all per run. */
struct why_context {
	const char *name;
	double calls[2], total[2]; /* instructions */
	double delta;
	double noise; /* as of struct why_cause */
	double floor; /* WHY_LEAST_OF_COMMAND, in instructions */
	bool changed; /* DELTA is more than that and than WHY_LEAST_NOISE allows for */
	bool told; /* that, or one of its causes is: two may cancel each other out */
	struct why_causes causes;
};

struct why {
	struct why_tree tree;
	bool has_noise; /* both sides have several runs */
	double total[2],
		delta; /* of what the command executes in the kernel, all contexts of its own */
	struct why_context *
		contexts; /* what changed first, then what is told, by the size of the largest cause */
	uint32_t n_contexts, cap_contexts;
};

/* Whether P is exact and has what is asked for below; such of old releases have not. */
bool why_can_tell(const struct profile *p);
/* Both recordings must be such, and outlive W. */
void why_init(struct why *w, const struct profile *baseline, const struct profile *hardened);
void why_deinit(struct why *w);

/* Finds out whose code is the same on both sides, which CHANGES are of; NULL: both are one kernel. */
void why_compare_code(struct why *w, struct analyze_changes *changes);

/* Whether C's cause I is one to be named: beyond noise, and enough of the change. */
bool why_is_named(const struct why_context *c, uint32_t i);

#endif
