/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Assign samples to the instructions and source lines of one function. The function's code may have several copies: static
 * functions with the same name, and inlined copies in other functions.
 *
 * Each sample belongs to the innermost stack frame that lies in the function. If the CPU executed this frame, the sample is part
 * of SELF. If the CPU executed a called function, the sample is part of CALLEES, at the call instruction.
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
	double late; /* SELF samples that were delayed while interrupts were off */
};

static inline double analyze_hits_all(const struct analyze_hits *h)
{
	return h->self + h->callees;
}

struct analyze_annotate_options {
	const char *name; /* function name in the source or the symbol table */
	const char *module; /* the function's module, or NULL for the kernel's image */
	const char *within; /* unless NULL, use only copies inlined into this function */
	const char *context; /* unless NULL, use only samples in this context */
	bool all; /* also show copies of the code that have no samples */
};

struct analyze_instruction {
	struct kernel_insn insn;
	const char *symbol; /* symbol around the instruction: the function or its .cold part */
	uint64_t offset; /* from the start of SYMBOL, in bytes */
	uint32_t body; /* innermost inlined function around the instruction, or ANALYZE_NO_BODY */
	uint32_t line; /* index in struct analyze_annotation's LINES */
	struct analyze_hits hits;
	double executions; /* number of executions (`record --blocks`), or NAN */
	double per_call; /* executions per call of the function that contains the instruction */
};

/* A function that the compiler inlined into the annotated function. */
struct analyze_code_body {
	struct kernel_body body;
	uint32_t parent; /* index of the inlined function around this one, or ANALYZE_NO_BODY */
	uint32_t depth; /* 1 for an outermost inlined function, 2 for one inside of it */
	uint32_t place;
	/* The inlined functions around this one, innermost first, such as "new_slab < allocate_slab"; NULL: none. */
	const char *chain;
	/* The function's own name, then CHAIN. Use PATH to match lines and inlined functions of two kernels. */
	const char *path;
	const char *called; /* source line of the call, such as "mm/slub.c:1978", or NULL */
	struct analyze_hits hits, own; /* HITS include inner inlined functions, OWN do not */
	uint32_t n_insns; /* number of instructions, without functions inlined into this one */
	double per_call; /* executed instructions per call, with inner functions, or NAN */
	/* Lowest and highest source line of the function's own instructions, in the file that declares the function, or 0. */
	uint32_t first_line, last_line;
	/* Time of the inlined function in the requested context; NULL: unknown. */
	const struct analyze_range *range;
};

/* One copy of the function's code: a separate function or an inlined copy. */
struct analyze_place {
	struct kernel_function function; /* the copy, or the function around the inlined copy */
	struct kernel_body body; /* the inlined copy; unset unless IS_INLINED */
	bool is_inlined;
	const char *chain; /* inlined functions between BODY and FUNCTION, or NULL */
	unsigned int problems; /* enum kernel_flow_problem */
	uint32_t first_insn, n_insns, first_body, n_bodies;
	struct analyze_hits hits;
	double at_return; /* late samples at the return; their instruction is unknown */
};

/* A source line of the function or of an inlined function, with its instructions in all copies of the code. */
struct analyze_line {
	const char *path; /* PATH of the innermost inlined function around the line, or NULL */
	const char *file; /* NULL: unknown */
	uint32_t line;
	uint32_t n_insns;
	struct analyze_hits hits;
	double executions, per_call; /* sums over the instructions; NAN: unknown for some */
};

struct analyze_annotation {
	const char *name, *context; /* as requested; CONTEXT is NULL for all contexts */
	enum profile_clock clock;
	bool exact; /* exact recording: each executed instruction is a sample */
	vec_of(struct analyze_place, places); /* copies of the code, most samples first */
	uint32_t n_other_places; /* number of copies left out because they have no samples */
	uint32_t n_unreadable; /* number of PLACES whose instructions could not be read */
	vec_of(struct analyze_instruction, insns); /* sorted by place, then address */
	vec_of(struct analyze_code_body, bodies); /* sorted by place, outer functions first */
	vec_of(struct analyze_line, lines); /* sorted by path, file, line */
	bool counted; /* true: executions of some instructions are known */
	double per_call; /* executed instructions per call; unknown executions excluded */
	uint32_t n_unknown; /* number of instructions with unknown executions if COUNTED */
	struct analyze_hits hits;
	double at_return; /* late samples at the return, due in the function or in its probes */
	double unplaced; /* number of AT_RETURN samples due in the function */
	double samples; /* all samples of the function: HITS plus UNPLACED */
	double astray; /* HITS samples at addresses that are no known instruction */
	double kernel; /* all kernel samples in the requested contexts */
	struct analyze_figures figures; /* figures of calls; all NAN if calls are untimed */
	uint32_t runs;
	/*
	 * The ticks (ns or counted instructions) of a mean call that one sample stands for. If calls were not timed, the ticks of
	 * a mean run. NAN: unknown. All samples of a timed function add up to the function's time.
	 */
	double tick;
	bool tick_is_of_call;
	double tick_of_run; /* like TICK, but always of a mean run: time per run / SAMPLES */
	struct alloc_texts texts; /* owns the CHAIN and PATH strings */
};

/*
 * Annotate the function in OPTIONS. Return 0, or -ENOENT if there is no such function, -ENODATA if its code cannot be read,
 * -ENOTSUP if this machine has no decoder. Errors are not reported. IDX, RANGES and P must outlive A.
 */
int analyze_annotation_init(struct analyze_annotation *a, const struct profile *p,
			    const struct analyze_ranges *ranges, const struct kernel_index *idx,
			    const struct kernel_code *code,
			    const struct analyze_annotate_options *options);
void analyze_annotation_deinit(struct analyze_annotation *a);

/* Return the time of HITS in ticks: per call if A->tick_is_of_call is set, else per run. */
double analyze_annotation_cost(const struct analyze_annotation *a, const struct analyze_hits *hits);
/* Return HITS as a fraction of the function's samples, with the 95 % interval. */
struct analyze_estimated analyze_annotation_share(const struct analyze_annotation *a,
						  const struct analyze_hits *hits);

/*
 * Compare one function of two kernels. Two source lines match if their text or number is the same, and the inlined functions
 * around them are the same. Two inlined functions match if their PATH is the same.
 */

/* A source line or an inlined function in one kernel. */
struct analyze_annotated_side {
	double n_insns; /* 0 if this kernel lacks the line or inlined function */
	double line; /* source line number; NAN: unknown, or an inlined function */
	struct analyze_hits hits; /* all NAN if this kernel lacks the line or inlined function */
	double samples; /* SELF + CALLEES of HITS */
	double per_call; /* executed instructions per call, or NAN if not counted */
	double share; /* fraction of the function's samples, or NAN */
	struct analyze_estimated cost; /* ticks per call if IS_OF_CALL, else ticks per run */
};

struct analyze_annotate_diff_row {
	const char *path; /* PATH of the inlined function, or of the one around the line */
	const char *file; /* source file of a line, or NULL */
	/* Sort key: line number in the baseline's source. A line of only the hardened kernel comes after its previous line. */
	double place;
	struct analyze_annotated_side sides[2];
	/* Hardened cost minus baseline cost in ticks, with the 95 % interval. All NAN if one cost is unknown. */
	struct analyze_estimated delta;
};

struct analyze_annotate_diff_rows {
	vec_of(struct analyze_annotate_diff_row, rows);
};

struct analyze_annotate_diff {
	bool is_of_call; /* true: costs are per call, not per run */
	struct analyze_annotate_diff_rows lines; /* sorted by path, file, PLACE */
	struct analyze_annotate_diff_rows bodies; /* inlined functions, sorted by path */
};

/*
 * Return the text of a source line; NULL: unknown. The comparison first matches lines in one file and one inlined function by text
 * and order, or by number if a text is unknown. It then matches the remaining lines by text alone, except very short texts.
 */
typedef const char *(*analyze_line_text_fn)(unsigned int side, const char *file, uint32_t line,
					    void *arg);

/*
 * Compare one function of two kernels. Both annotations must outlive D. For a kernel without the function, pass an annotation of
 * all zeros: the function then costs 0. If TEXT is NULL, lines match by number.
 */
void analyze_annotate_diff_init(struct analyze_annotate_diff *d,
				const struct analyze_annotation *baseline,
				const struct analyze_annotation *hardened,
				analyze_line_text_fn text, void *arg);
void analyze_annotate_diff_deinit(struct analyze_annotate_diff *d);
