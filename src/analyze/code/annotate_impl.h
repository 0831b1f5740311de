/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that make an annotation, and by no others. */
#pragma once

#include <string.h>

#include "analyze/code/annotate.h"

/* Bounds against a damaged index; the kernel's bodies are a dozen deep. */
#define ANNOTATE_MAX_DEPTH 64

#define ANNOTATE_NO_PLACE UINT32_MAX

/* The function in one context. */
struct context {
	double placed, at_return; /* samples */
	double tick; /* what one of them stands for; NAN: unknown */
	struct profile_stats stats; /* of its calls */
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
	uint32_t *place_of; /* by location of P: in the places, or ANNOTATE_NO_PLACE */
	struct context *contexts; /* those of P */
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

/* Return whether the context with the number CONTEXT was asked for. */
bool annotate_is_context(const struct making *m, uint32_t context);

/* Finds where the function's code is; none is left empty. */
void annotate_find_places(struct making *m);
/* Counts samples by place and context, and keeps the places that are to be shown. */
void annotate_select_places(struct making *m);

/* Calls FN for each sample of the function: its place, and where in its stack that is. */
typedef void (*annotate_sample_fn)(struct making *m, const struct profile_sample *s, uint32_t place,
				   uint32_t depth);
void annotate_samples_each(struct making *m, annotate_sample_fn fn);
/* Return whether S was taken at a return, of the function at DEPTH of its stack. */
bool annotate_is_at_return(const struct profile_sample *s, uint32_t depth);
struct analyze_hits annotate_hits_of(const struct profile_sample *s, uint32_t depth);
