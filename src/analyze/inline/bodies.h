/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inlined bodies in a profile's samples, and how often each was hit. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "profile/profile.h"

/*
 * One inlined body, as in a site of kind range. If a body is inlined into an outer body, and copies of the outer body are inlined
 * at several places of FUNCTION, then all copies of the inner body are one struct analyze_body.
 */
struct analyze_body {
	const char *name, *function;
	const char *chain; /* bodies between NAME and FUNCTION, innermost first; NULL: none */
	const char *file; /* FILE and LINE of the call; FILE NULL: unknown */
	uint32_t line;
};

/* Compare by function, name, chain, file, line. */
int analyze_body_compare(const struct analyze_body *a, const struct analyze_body *b);

/*
 * The kernel samples of one context with the body on their stack. A late sample was due while interrupts were off. It belongs to
 * the function at its address, but perhaps to another body there.
 */
struct analyze_body_count {
	uint32_t body, context;
	double samples;
	double around; /* the context's samples with the body's function on their stack */
	double own; /* part of SAMPLES in the body and bodies inlined into it, not in callees */
	double late; /* part of OWN that came late */
	double missing; /* late samples of the body's function outside of the body */
	/* All SAMPLES are also samples of a single body that is inlined into this body. */
	bool only_wraps;
};

struct analyze_bodies {
	vec_of(struct analyze_body, bodies); /* sorted by analyze_body_compare() */
	vec_of(struct analyze_body_count, counts); /* by body, then context */
	double *samples; /* kernel samples outside of probes, indexed by context of the profile */
	double all, irq; /* ALL: all samples, user space included; IRQ: samples in interrupts */
	struct alloc_texts chains;
	size_t bytes; /* of CHAINS */
};

/* Return whether S was taken in a probe of the profiler. Such a sample is not the kernel's time. */
bool analyze_sample_is_in_probe(const struct profile *p, const struct profile_sample *s);
/* Return whether LOCATION is the interrupt entry on the stack of S. Frames outside of it are the interrupted code. */
bool analyze_sample_is_interrupt_entry(const struct profile *p, const struct profile_sample *s,
				       const struct profile_location *location);

/* Count P's samples by body and context, without those of P's control runs. */
void analyze_bodies_init(struct analyze_bodies *b, const struct profile *p);
void analyze_bodies_deinit(struct analyze_bodies *b);

/*
 * Texts: chains of inlined bodies, innermost first, "shuffle_freelist < new_slab", and places in the source, "mm/slub.c:1978".
 * NULL stands for a chain of no bodies, or an unknown place.
 */

/* Return the chain of the bodies around L, for free(); NULL: none. */
char *analyze_chain_of(const struct profile_location *l);

/* Return the chain of the body NAME inlined into the bodies of CHAIN, for free(). CHAIN may be NULL. */
char *analyze_chain_add(const char *name, const char *chain);

/* Return the source place of L's innermost frame, for free(); NULL: unknown. */
char *analyze_chain_place(const struct profile_location *l);
