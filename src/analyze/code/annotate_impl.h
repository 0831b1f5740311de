/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that make an annotation. */
#pragma once

#include <string.h>

#include "analyze/code/annotate.h"

/* The maximum nesting of inlined bodies, against damaged indexes. Bodies in the kernel nest a dozen deep. */
#define ANNOTATE_MAX_DEPTH 64

#define ANNOTATE_NO_PLACE UINT32_MAX

/* The annotated function's samples and calls in one context. */
struct context {
	double placed, at_return; /* samples inside it, and samples at its return */
	double tick; /* ticks that a sample stands for; NAN: unknown */
	struct profile_stats stats; /* of the function's calls */
};

/* The state of an annotation that is being made. */
struct making {
	struct analyze_annotation *a;
	const struct profile *p;
	const struct analyze_ranges *ranges;
	const struct kernel_index *idx;
	const struct kernel_code *code;
	const struct analyze_annotate_options *o;
	char *base; /* the name without clone suffixes */
	uint32_t *place_of; /* the place's index, or ANNOTATE_NO_PLACE; indexed by location of P */
	struct context *contexts; /* indexed by the number of P's context */
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

/* Return whether context number CONTEXT was requested. */
bool annotate_is_context(const struct making *m, uint32_t context);

/* Set the annotation's places: all code of the function. */
void annotate_find_places(struct making *m);
/* Count samples by place and context. Sort places by samples, and keep only those to show. */
void annotate_select_places(struct making *m);

/* Call FN for each sample of the function. DEPTH is the function's innermost frame on the sample's stack; PLACE contains it. */
typedef void (*annotate_sample_fn)(struct making *m, const struct profile_sample *s, uint32_t place,
				   uint32_t depth);
void annotate_samples_each(struct making *m, annotate_sample_fn fn);
/* Return whether S was taken at the return of the function at DEPTH of S's stack. */
bool annotate_is_at_return(const struct profile_sample *s, uint32_t depth);
struct analyze_hits annotate_hits_of(const struct profile_sample *s, uint32_t depth);
