/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One function's instructions and source lines, with their samples. A function may lie in several places: its own code, static
 * functions of one name, and each place where it is inlined.
 *
 * A sample counts once, at its stack's innermost frame that is in the function. It counts as SELF if this frame executed. It
 * counts as CALLEES, at the calling instruction, if a callee executed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/inline/ranges.h"
#include "base/alloc.h"
#include "kernel/code/flow_function.h"
#include "kernel/debuginfo/index.h"
#include "profile/profile.h"

#define ANALYZE_NO_BODY UINT32_MAX

struct analyze_hits {
	double self, callees;
	double late; /* samples of SELF due while interrupts were off, perhaps in earlier code */
};

static inline double analyze_hits_all(const struct analyze_hits *h)
{
	return h->self + h->callees;
}

/* A request for an annotation. */
struct analyze_annotate_options {
	const char *name; /* the function's name in the source or in the symbol table */
	const char *module; /* the function's module; NULL: the kernel's image */
	const char *within; /* only bodies inlined into this function; NULL: any place */
	const char *context; /* count only samples in this context; NULL: in all contexts */
	bool all; /* include places without samples */
};

struct analyze_instruction {
	struct kernel_insn insn;
	const char *symbol; /* name of the function, or of its .cold part if that has INSN */
	uint64_t offset; /* from the start of SYMBOL, in bytes */
	uint32_t body; /* index of the innermost inlined body around it; ANALYZE_NO_BODY: none */
	uint32_t line; /* index of its source line in the annotation's LINES */
	struct analyze_hits hits;
	double executions; /* from record --blocks; NAN: neither counted nor derived */
	double per_call; /* executions per call of the function that contains the instruction */
};

/* A body: one copy of another function, inlined into one place of the annotated function. */
struct analyze_code_body {
	struct kernel_body body;
	uint32_t parent; /* index of the body that calls it; ANALYZE_NO_BODY: the function itself */
	uint32_t depth; /* 1 if the function itself calls it */
	uint32_t place;
	/* Names of the bodies between this body and the function, innermost first: "new_slab"; NULL: none. */
	const char *chain;
	/* CHAIN with this body's name in front. Lines and bodies of two kernels are matched by it. */
	const char *path;
	const char *called; /* place of the call, "mm/slub.c:1978", or NULL */
	struct analyze_hits hits, own; /* HITS include inner bodies, OWN do not */
	uint32_t n_insns; /* number of instructions, inner bodies excluded */
	double per_call; /* instructions executed per call, inner bodies included; NAN: unknown */
	/* Source lines of its instructions, inner bodies excluded, in the file of its declaration; 0: none. */
	uint32_t first_line, last_line;
	/* The body's row in struct analyze_ranges for the requested context, which has its time; NULL: none. */
	const struct analyze_range *range;
};

/* A stretch of code that belongs to the function. */
struct analyze_place {
	struct kernel_function function; /* contains this code */
	struct kernel_body body; /* the function as an inlined body; unset unless IS_INLINED */
	bool is_inlined;
	const char *chain; /* names of the bodies between BODY and FUNCTION; NULL: none */
	unsigned int problems; /* enum kernel_flow_problem */
	uint32_t first_insn, n_insns, first_body, n_bodies;
	struct analyze_hits hits;
	double at_return; /* samples of unknown instruction: see PROFILE_SAMPLE_AT_RETURN */
};

/* A source line in a body, with its instructions in all places. */
struct analyze_line {
	const char *path; /* as in struct analyze_code_body; NULL: a line of the function itself */
	const char *file; /* NULL: unknown */
	uint32_t line;
	uint32_t n_insns;
	struct analyze_hits hits;
	double executions, per_call; /* sums over the line's instructions; NAN if any is unknown */
};

struct analyze_annotation {
	const char *name, *context; /* NAME and CONTEXT as requested; CONTEXT NULL: all */
	enum profile_clock clock;
	bool exact; /* an exact recording: all executed instructions are samples */
	vec_of(struct analyze_place, places); /* by falling number of samples */
	uint32_t n_other_places; /* number of places left out because they have no samples */
	uint32_t n_unreadable; /* number of PLACES without available instructions */
	vec_of(struct analyze_instruction, insns); /* sorted by place, then address */
	vec_of(struct analyze_code_body, bodies); /* sorted by place; outer before inner bodies */
	vec_of(struct analyze_line, lines); /* sorted by path, file, line */
	bool counted; /* executions of some instructions are known */
	double per_call; /* sum of the known instructions executed per call */
	uint32_t n_unknown; /* if COUNTED: number of instructions with unknown executions */
	struct analyze_hits hits;
	double at_return; /* samples at the function's return, due in it or in probes within it */
	double unplaced; /* samples of AT_RETURN due in the function, at unknown instructions */
	double samples; /* all samples of the function: HITS and UNPLACED */
	double astray; /* part of HITS that is at no known instruction, line or body */
	double kernel; /* all kernel samples in the requested contexts */
	struct analyze_figures figures; /* figures of the function's calls; all NAN if untimed */
	uint32_t runs;
	/*
	 * Ticks that one sample stands for, per call if calls were timed, else per run; NAN: unknown. All samples of a timed
	 * function together stand for all of its time.
	 */
	double tick;
	bool tick_is_of_call;
	double tick_of_run; /* ticks that one sample stands for per run */
	struct alloc_texts texts; /* chains and paths */
};

/*
 * Return 0; -ENOENT: no code has the name; -ENODATA: the bytes of its code are not readable; -ENOTSUP: there is no decoder for
 * this machine. Nothing is reported. IDX, RANGES and P must outlive the result; CODE need not.
 */
int analyze_annotation_init(struct analyze_annotation *a, const struct profile *p,
			    const struct analyze_ranges *ranges, const struct kernel_index *idx,
			    const struct kernel_code *code,
			    const struct analyze_annotate_options *options);
void analyze_annotation_deinit(struct analyze_annotation *a);

/* Return the time of HITS in ticks: per call if A's TICK_IS_OF_CALL is set, else per run. */
double analyze_annotation_cost(const struct analyze_annotation *a, const struct analyze_hits *hits);
/* Return HITS as a share of the function's samples, with the share's 95 % interval. */
struct analyze_estimated analyze_annotation_share(const struct analyze_annotation *a,
						  const struct analyze_hits *hits);

/*
 * One function on two kernels with different instructions. Lines are matched by source line and by the inlined bodies around
 * them. Bodies are matched by path.
 */

/* A line or body on one side. */
struct analyze_annotated_side {
	double n_insns; /* 0: not on this side */
	double line; /* source line; NAN: none, or unknown */
	struct analyze_hits hits; /* all NAN: not on this side */
	double samples; /* SELF + CALLEES of HITS */
	double per_call; /* instructions executed per call; NAN: not counted */
	double share; /* fraction of the function's samples; NAN: none, or not on this side */
	struct analyze_estimated cost; /* ticks per call or run: IS_OF_CALL; 0: not on this side */
};

struct analyze_annotate_diff_row {
	const char *path; /* as in struct analyze_code_body; NULL: a line of the function itself */
	const char *file; /* a line's file; NULL: unknown */
	/* The line in the baseline's source. A line that only the hardened side has is placed just after the line before it. */
	double place;
	struct analyze_annotated_side sides[2];
	/* The hardened side's cost less the baseline's, with its 95 % interval; all NAN if a cost is unknown. */
	struct analyze_estimated delta;
};

struct analyze_annotate_diff_rows {
	vec_of(struct analyze_annotate_diff_row, rows);
};

struct analyze_annotate_diff {
	bool is_of_call; /* costs and deltas are per call; false: per run */
	struct analyze_annotate_diff_rows lines; /* sorted by path, file, PLACE */
	struct analyze_annotate_diff_rows bodies; /* sorted by path; figures include inner bodies */
};

/*
 * Return the text of a source line, or NULL if it is not available. Lines of one file and path are matched by equal texts in the
 * same order, or by number if any of them has no text. Then lines that are left are matched by equal texts in any order, except
 * short texts such as a single bracket.
 */
typedef const char *(*analyze_line_text_fn)(unsigned int side, const char *file, uint32_t line,
					    void *arg);

/*
 * Compare one function on two kernels; both annotations must outlive D. A kernel without the function has an empty annotation
 * (all zero), and the function costs 0 there. Without TEXT, lines are matched by number.
 */
void analyze_annotate_diff_init(struct analyze_annotate_diff *d,
				const struct analyze_annotation *baseline,
				const struct analyze_annotation *hardened,
				analyze_line_text_fn text, void *arg);
void analyze_annotate_diff_deinit(struct analyze_annotate_diff *d);
