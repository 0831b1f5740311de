/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One function on two kernels, whose instructions differ: matched by source line and by the inlined bodies that
 * the line is in, and by those bodies.
 */
#pragma once

#include "analyze/code/annotate.h"
#include "base/alloc.h"

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
