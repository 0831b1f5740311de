/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find the inlined functions in a profile's samples, and count the samples in each. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "profile/profile.h"

/*
 * A function NAME that is inlined into FUNCTION, directly or through other inlined functions. If such another function is inlined
 * several times, each of its copies contains a copy of NAME. All these copies of NAME are one struct analyze_body.
 */
struct analyze_body {
	const char *name, *function;
	const char *chain; /* inlined functions between NAME and FUNCTION, or NULL */
	const char *file; /* FILE and LINE of the inlined call in the source, or NULL and 0 */
	uint32_t line;
};

/* Compare by function, name, chain, file and line. */
int analyze_body_compare(const struct analyze_body *a, const struct analyze_body *b);

/*
 * Kernel samples in one context (a system call or an interrupt) with the inlined function on their stack. A late sample was
 * delayed while interrupts were off: its address is in the right function, but perhaps in the wrong inlined function.
 */
struct analyze_body_count {
	uint32_t body, context;
	double samples;
	double around; /* samples of CONTEXT with the outermost function on the stack */
	double own; /* samples in the inlined function, but not in called functions */
	double late; /* number of OWN samples that were delayed */
	double missing; /* delayed samples in other code of the outermost function */
	/* All SAMPLES lie in a single function that is inlined into this inlined function. */
	bool only_wraps;
};

struct analyze_bodies {
	vec_of(struct analyze_body, bodies); /* sorted by analyze_body_compare() */
	vec_of(struct analyze_body_count, counts); /* sorted by body, then context */
	double *samples; /* kernel samples outside of probes, by context */
	double all, irq; /* ALL samples, also in user space; samples in interrupts */
	struct alloc_texts chains;
	size_t bytes; /* length of all CHAINS in bytes */
};

/* Return whether sample S hit one of the profiler's probes. Such a sample shows no time of the kernel. */
bool analyze_sample_is_in_probe(const struct profile *p, const struct profile_sample *s);
/* Return whether LOCATION is the interrupt's entry function on the stack of S. The outer frames are the interrupted code. */
bool analyze_sample_is_interrupt_entry(const struct profile *p, const struct profile_sample *s,
				       const struct profile_location *location);

/* Count P's samples for each inlined function and context. Skip runs without probes (control runs). */
void analyze_bodies_init(struct analyze_bodies *b, const struct profile *p);
void analyze_bodies_deinit(struct analyze_bodies *b);

/* Return the inlined functions around address L, innermost first, as text for free(), such as "f < g". Return NULL if none. */
char *analyze_chain_of(const struct profile_location *l);

/* Return NAME followed by CHAIN (NULL: none) as text for free(), such as "shuffle_freelist < new_slab". */
char *analyze_chain_add(const char *name, const char *chain);

/* Return the source line of address L as text for free(), such as "mm/slub.c:1978", or NULL if it is unknown. */
char *analyze_chain_place(const struct profile_location *l);
