/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One function's instructions and source lines, with the samples that each has. A function may lie in
 * several places: its own code, static functions of one name, and wherever it is inlined.
 *
 * A sample counts once, at the innermost frame that is in the function: as SELF where it was taken
 * there, as CALLEES, at the instruction that calls, where it was taken in what that called.
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
	double late; /* of SELF: held up until interrupts were on again, so perhaps of code before */
};

static inline double analyze_hits_all(const struct analyze_hits *h)
{
	return h->self + h->callees;
}

/* A request for an annotation. */
struct analyze_annotate_options {
	const char *name; /* of the function, in the source or in the symbol table */
	const char *module; /* that has it; NULL: the kernel's image */
	const char *within; /* only where it is inlined into this function; NULL: anywhere */
	const char *context; /* NULL: all */
	bool all; /* places without a sample too */
};

struct analyze_instruction {
	struct kernel_insn insn;
	const char *symbol; /* that covers it: the function's, or its .cold part's */
	uint64_t offset; /* from it */
	uint32_t body; /* the innermost one around it; ANALYZE_NO_BODY: the function itself */
	uint32_t line; /* in lines */
	struct analyze_hits hits;
	double executions; /* by record --blocks; NAN: not counted, or does not follow */
	double per_call; /* of the function that it is part of */
};

/* A body inlined into the function, at one place of it. */
struct analyze_code_body {
	struct kernel_body body;
	uint32_t parent; /* in bodies; ANALYZE_NO_BODY: the function itself calls it */
	uint32_t depth; /* 1 where the function itself calls it */
	uint32_t place;
	/* Names from this body out to the function, both left out: "new_slab"; NULL: none between. */
	const char *chain;
	/* The same with the body in front; lines of two kernels are matched by this. */
	const char *path;
	const char *called; /* "mm/slub.c:1978", or NULL */
	struct analyze_hits hits, own; /* with and without bodies inlined into it */
	uint32_t n_insns; /* of its own */
	double per_call; /* instructions executed per call, with those of bodies in it; NAN: not known */
	/* Lines in the file of its declaration that its own instructions are of; 0: none. */
	uint32_t first_line, last_line;
	/* The profile's row of the body in the contexts asked for; NULL: there is none. */
	const struct analyze_range *range;
};

/* A stretch of code that is the function's. */
struct analyze_place {
	struct kernel_function function; /* whose code it is part of */
	struct kernel_body body; /* the function, inlined; not where IS_INLINED is false */
	bool is_inlined;
	const char *chain; /* of BODY, or NULL */
	unsigned int problems; /* enum kernel_flow_problem */
	uint32_t first_insn, n_insns, first_body, n_bodies;
	struct analyze_hits hits;
	double at_return; /* samples of it of which nobody knows where: see PROFILE_SAMPLE_AT_RETURN */
};

/* A source line in a body: all instructions of it, wherever they lie. */
struct analyze_line {
	const char *path; /* as of struct analyze_code_body; NULL: the function's own */
	const char *file; /* NULL: unknown */
	uint32_t line;
	uint32_t n_insns;
	struct analyze_hits hits;
	double executions,
		per_call; /* of all its instructions, summed; NAN where one's is not known */
};

struct analyze_annotation {
	const char *name, *context; /* CONTEXT: NULL for all */
	enum profile_clock clock;
	bool exact; /* an exact recording: its samples are all instructions executed */
	vec_of(struct analyze_place, places); /* most samples first */
	uint32_t n_other_places; /* without samples, and left out */
	uint32_t n_unreadable; /* of the places: without instructions, since these cannot be had */
	vec_of(struct analyze_instruction, insns); /* by place, then address */
	vec_of(struct analyze_code_body, bodies); /* by place, outer before inner */
	vec_of(struct analyze_line, lines); /* by path, file, line */
	bool counted; /* executions are known, of some instructions at least */
	double per_call; /* instructions executed per call, where it is counted; of what is known */
	uint32_t n_unknown; /* instructions whose executions are not known, though others' are */
	struct analyze_hits hits;
	double at_return; /* samples taken at its return: of it, or of probes within it */
	double unplaced; /* of those: of it, as far as is known, and where in it is not known */
	double samples; /* of the function: hits and unplaced */
	double astray; /* of HITS: at no instruction that is known, so in no line or body */
	double kernel; /* samples in the kernel, in the contexts asked for */
	struct analyze_figures figures; /* of its calls, where they were timed; else all NAN */
	uint32_t runs;
	/*
	 * What a sample stands for, in ticks per call where calls were timed, else per run. NAN: unknown. Where the
	 * function was timed, what its samples stand for adds up to its time.
	 */
	double tick;
	bool tick_is_of_call;
	double tick_of_run; /* the same per run */
	struct alloc_texts texts; /* chains and paths */
};

/*
 * 0, or: -ENOENT where no code has that name, -ENODATA where it has but the bytes cannot be read,
 * -ENOTSUP without a decoder for this machine. Not reported. IDX, RANGES and P must outlive the result;
 * CODE is needed here only.
 */
int analyze_annotation_init(struct analyze_annotation *a, const struct profile *p,
			    const struct analyze_ranges *ranges, const struct kernel_index *idx,
			    const struct kernel_code *code,
			    const struct analyze_annotate_options *options);
void analyze_annotation_deinit(struct analyze_annotation *a);

/* HITS as ticks, per call or per run; and as a share of the function's samples, with its interval. */
double analyze_annotation_cost(const struct analyze_annotation *a, const struct analyze_hits *hits);
struct analyze_estimated analyze_annotation_share(const struct analyze_annotation *a,
						  const struct analyze_hits *hits);

/*
 * One function on two kernels, whose instructions differ: matched by source line and by the inlined bodies that
 * the line is in, and by those bodies.
 */

/* A line or body on one side. */
struct analyze_annotated_side {
	double n_insns; /* 0: it has none */
	double line; /* NAN: it has none, or it is not known */
	struct analyze_hits hits; /* NAN, as SAMPLES, which is all of them, where it is not there */
	double samples;
	double per_call; /* instructions executed per call; NAN: not counted */
	double share; /* of the function's samples; NAN where it has none, or is not there */
	struct analyze_estimated cost; /* of struct analyze_annotate_diff; 0: not there */
};

struct analyze_annotate_diff_row {
	const char *path; /* the bodies; NULL: the function itself */
	const char *file; /* of lines; NULL: unknown */
	double place; /* its line in the baseline's source; of lines that only the hardened side's has, behind the one before */
	struct analyze_annotated_side sides[2];
	/* Hardened less baseline, with its 95 % interval; all NAN where a cost is not known. */
	struct analyze_estimated delta;
};

struct analyze_annotate_diff_rows {
	vec_of(struct analyze_annotate_diff_row, rows);
};

struct analyze_annotate_diff {
	bool is_of_call; /* costs are per call, else per run */
	struct analyze_annotate_diff_rows lines; /* by path, file, line */
	struct analyze_annotate_diff_rows bodies; /* by path; with what is inlined into them */
};

/*
 * The text of a line, NULL where it is not at hand. Where it is, lines of one file and path are matched by their
 * texts in their order, else by their numbers. Lines that moved are the same where their texts are; short ones, as a single
 * bracket is, say nothing then.
 */
typedef const char *(*analyze_line_text_fn)(unsigned int side, const char *file, uint32_t line,
					    void *arg);

/*
 * A and B, which outlive the result, are of the same function name; either may be empty (all zero): a kernel
 * that has no such function, where all of it costs 0. TEXT may be NULL: then lines go by their numbers.
 */
void analyze_annotate_diff_init(struct analyze_annotate_diff *d,
				const struct analyze_annotation *baseline,
				const struct analyze_annotation *hardened,
				analyze_line_text_fn text, void *arg);
void analyze_annotate_diff_deinit(struct analyze_annotate_diff *d);
