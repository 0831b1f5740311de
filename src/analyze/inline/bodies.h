/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inlined bodies in the samples of a profile: which there are, and how often each was hit. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "profile/profile.h"

/*
 * One inlined body by meaning, as a site of kind range has it. What is inlined at one place of a body
 * that is itself inlined several times in FUNCTION is one.
 */
struct analyze_body {
	const char *name, *function;
	const char *chain; /* the bodies between the two, innermost first; NULL: none */
	const char *file; /* where it is called from; NULL where unknown */
	uint32_t line;
};

/* By function, name, chain, file, line. */
int analyze_body_compare(const struct analyze_body *a, const struct analyze_body *b);

/*
 * Kernel samples of one context with the body on their stack. A sample that came late is of some
 * place with interrupts off in the function that it names, so of those nobody knows in which body.
 */
struct analyze_body_count {
	uint32_t body, context;
	double samples;
	double around; /* the context's samples with the function that the body is in on their stack */
	double own; /* of these, in the body's own code: what it calls left out, not what is inlined */
	double late; /* of these, late, where the body is in the function that they name */
	double missing; /* late ones of that function that were not taken for the body's */
	/* It has no samples but those of a single body inlined into it. */
	bool only_wraps;
};

struct analyze_bodies {
	vec_of(struct analyze_body, bodies); /* in their order */
	vec_of(struct analyze_body_count, counts); /* by body, then context */
	double *samples; /* for each context of the profile those in the kernel, probes left out */
	double all, irq; /* of the workload: all of them, user space too, and those in interrupts */
	struct alloc_texts chains;
	size_t bytes; /* of them */
};

/* Was S taken in a probe, so that it is no time of the kernel's? */
bool analyze_sample_is_in_probe(const struct profile *p, const struct profile_sample *s);
/* Return whether S, of an interrupt, entered the kernel at LOCATION. The rest of its stack is the interrupted code. */
bool analyze_sample_is_interrupt_entry(const struct profile *p, const struct profile_sample *s,
				       const struct profile_location *location);

/* Control runs do not count. */
void analyze_bodies_init(struct analyze_bodies *b, const struct profile *p);
void analyze_bodies_deinit(struct analyze_bodies *b);

/*
 * Chains of inlined bodies as text, innermost first, "shuffle_freelist < new_slab", and places in the source,
 * "mm/slub.c:1978". NULL is no body, and no place.
 */

/* The bodies that L is in; NULL: none. For free(). */
char *analyze_chain_of(const struct profile_location *l);

/* NAME inlined into CHAIN, which may be NULL. For free(). */
char *analyze_chain_add(const char *name, const char *chain);

/* Return the place of L's innermost frame, for free(); NULL: not known. */
char *analyze_chain_place(const struct profile_location *l);
