/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the files that annotate functions. */
#pragma once

#include <string.h>

#include "analyze/code/annotate.h"

/* Limit against damaged debug information. Real kernels inline functions about twelve levels deep. */
#define ANNOTATE_MAX_DEPTH 64

#define ANNOTATE_NO_PLACE UINT32_MAX

/* Samples and calls of the annotated function in one context (a system call or an interrupt). */
struct context {
	double placed, at_return; /* samples at known instructions; late samples at the return */
	double tick; /* time of one sample in ticks, or NAN */
	struct profile_stats stats; /* statistics of the function's calls */
};

/* The state of an annotation that is being made. */
struct making {
	struct analyze_annotation *a;
	const struct profile *p;
	const struct analyze_ranges *ranges;
	const struct kernel_index *idx;
	const struct kernel_code *code;
	const struct analyze_annotate_options *o;
	char *base; /* function name without suffixes such as .isra.0 */
	uint32_t *place_of; /* index in A's PLACES for each location of P, or ANNOTATE_NO_PLACE */
	struct context *contexts; /* indexed by context */
};

static inline bool annotate_same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static inline void annotate_hits_add(struct analyze_hits *to, const struct analyze_hits *from)
{
	to->self += from->self;
	to->callees += from->callees;
	to->late += from->late;
}

static inline bool annotate_is_in_ranges(const struct kernel_range *ranges, size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++)
		if (addr >= ranges[i].start && addr < ranges[i].end)
			return true;
	return false;
}

/* Return whether the user requested context number CONTEXT. */
bool annotate_is_context(const struct making *m, uint32_t context);

/* Find all copies of the function's code, and store them in PLACES. */
void annotate_find_places(struct making *m);
/* Count the samples of each copy and context. Sort PLACES by samples, and keep only the copies to show. */
void annotate_select_places(struct making *m);

/* Call FN for each sample of the function. PLACE is the index of the copy, DEPTH the index of its innermost frame on the stack. */
typedef void (*annotate_sample_fn)(struct making *m, const struct profile_sample *s, uint32_t place,
				   uint32_t depth);
void annotate_samples_each(struct making *m, annotate_sample_fn fn);
/* Return whether sample S was taken when the function returned. DEPTH is the index of the function's frame on the stack. */
bool annotate_is_at_return(const struct profile_sample *s, uint32_t depth);
struct analyze_hits annotate_hits_of(const struct profile_sample *s, uint32_t depth);
