/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Export of a recording's stacks to formats of other tools. The stacks form a call tree. A new format needs a source file and a
 * line in EXPORT_FORMATS.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/inline/stacks.h"
#include "base/alloc.h"

/* FORMAT(NAME, BINARY) stands for an export format. BINARY is true if its output is not text. */
#define EXPORT_FORMATS(FORMAT)    \
	FORMAT(speedscope, false) \
	FORMAT(pprof, true)

/* A distinct stack frame. LABEL is escaped, and ends in "(inlined)" for an inlined function. */
struct export_frame {
	enum analyze_frame_kind kind;
	const char *name; /* without escapes: do not print on a terminal */
	char *label;
};

#define EXPORT_NO_NODE UINT32_MAX

/* A node of the call tree: a call of FRAME's function by the function of PARENT. */
struct export_node {
	uint32_t parent; /* index in NODES, less than this node's; EXPORT_NO_NODE: none */
	uint32_t frame, depth; /* DEPTH is 0 for a root */
};

struct export
{
	const struct profile *p, *other; /* OTHER: the second recording to compare, or NULL */
	char *title; /* command line of the workload */
	const char *unit; /* unit of the counts: "samples" or "instructions" */
	double period; /* number of clock ticks that a count stands for */
	double noise[2]; /* variance of a count divided by the count, per recording; 0: exact */
	double time; /* start of the recording, in seconds since 1970; NAN: unknown */
	vec_of(struct export_frame, frames); /* without duplicates */
	vec_of(struct export_node, nodes); /* each caller before its callees */
	struct export_leaf {
		uint32_t node;
		/* Counts of stacks that end at NODE, for both recordings. Formats for one recording use the first count. */
		double counts[2];
	} * leaves; /* sorted by node */
	uint32_t n_leaves, cap_leaves;
};

/* Initialize E from the STACKS of P. Both must outlive E. */
void export_init(struct export *e, const struct profile *p, const struct analyze_stacks *stacks);
/*
 * Add the stacks of the recordings SIDES to STACKS, and initialize E with STACKS. The second recording may be NULL. Counts are per
 * run. Return 0 or -errno, reported.
 */
int export_init_sides(struct export *e, const struct profile *const sides[2],
		      struct analyze_stacks *stacks);
void export_deinit(struct export *e);

/* Return the change from COUNTS[0] to COUNTS[1] as a fraction of the larger one; 0 if it is within two standard errors. */
double export_change(const struct export *e, const double counts[2]);

/* A selection of E's nodes for a flame graph: the widest nodes and, of equally wide nodes, those closest to a root. */
struct export_graph {
	/* Elements 2 * N and 2 * N + 1 count node N and all nodes below it, per recording. The last two elements are totals. */
	double *counts;
	/* Width of each node: its larger count or, if more, the sum of its children's widths. The last is for the roots. */
	double *widths;
	bool *is_drawn; /* indexed by node; if true, the parent is drawn too */
	uint32_t left_out; /* number of nodes that are not drawn */
};

void export_graph_init(struct export_graph *g, const struct export *e);
void export_graph_deinit(struct export_graph *g);

/* Return COUNT as an integer, limited to a range that all formats can store. */
int64_t export_integer(double count);

struct export_format {
	void (*write)(FILE *out, const struct export *e);
	bool binary;
};

#define EXPORT_DECLARE(name, binary) void export_write_##name(FILE *out, const struct export *e);
EXPORT_FORMATS(EXPORT_DECLARE)
#undef EXPORT_DECLARE

/* Write the flame graph of `fold --svg` or, for two recordings, the differential one of `diff --svg`. */
void export_write_svg(FILE *out, const struct export *e);

/* The export formats, and their names with NULL at the end. */
extern const struct export_format export_formats[];
extern const char *const export_format_names[];
