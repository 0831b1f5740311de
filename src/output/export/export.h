/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Export of a recording's stacks, as a tree, to formats of other tools. A new format needs a source file and a line in
 * EXPORT_FORMATS.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/inline/stacks.h"
#include "base/alloc.h"

/* FORMAT(name, is it binary?) */
#define EXPORT_FORMATS(FORMAT)    \
	FORMAT(speedscope, false) \
	FORMAT(pprof, true)

/* A distinct frame. LABEL is escaped, and ends in "(inlined)" for an inlined body. */
struct export_frame {
	enum analyze_frame_kind kind;
	const char *name; /* not escaped: not for a terminal */
	char *label;
};

#define EXPORT_NO_NODE UINT32_MAX

/* A node of the call tree: FRAME, called by PARENT's frame. */
struct export_node {
	uint32_t parent; /* comes earlier in NODES; EXPORT_NO_NODE: none */
	uint32_t frame, depth; /* DEPTH 0: a root */
};

struct export
{
	const struct profile *p, *other; /* OTHER: the second side; NULL: there is none */
	char *title; /* the workload's command line */
	const char *unit; /* unit of the counts: "samples" or "instructions" */
	double period; /* ticks of the profile's clock per count */
	double noise[2]; /* variance of a count divided by it, by side; 0: counts are exact */
	double time; /* time of the recording, in seconds since 1970; NAN: unknown */
	vec_of(struct export_frame, frames); /* no duplicates */
	vec_of(struct export_node, nodes); /* depth first */
	struct export_leaf {
		uint32_t node;
		/* Samples whose stack ends at NODE, by side; formats of one recording use the first. */
		double counts[2];
	} * leaves; /* in the order of NODES */
	uint32_t n_leaves, cap_leaves;
};

/* Initialize E from the STACKS of P; both must outlive E. */
void export_init(struct export *e, const struct profile *p, const struct analyze_stacks *stacks);
/*
 * Add the stacks of the SIDES (the second one may be NULL) to STACKS, and initialize E from STACKS, with counts per run. Return 0
 * or -errno, reported.
 */
int export_init_sides(struct export *e, const struct profile *const sides[2],
		      struct analyze_stacks *stacks);
void export_deinit(struct export *e);

/* Return the difference of the second and the first of COUNTS, relative to the larger; 0 within two standard errors. */
double export_change(const struct export *e, const double counts[2]);

/* The selection of E's nodes that a flame graph shows: the widest and, among equally wide ones, those closest to a root. */
struct export_graph {
	/* Counts of each node with all below it, one per side: NODES[N]'s are at 2 * N and 2 * N + 1. The last two are totals. */
	double *counts;
	/* Indexed by node: the larger side's count, or the sum of the children's widths if that is more. Last: the roots' sum. */
	double *widths;
	bool *is_drawn; /* indexed by node; implies that the parent is drawn */
	uint32_t left_out; /* number of nodes that are not drawn */
};

void export_graph_init(struct export_graph *g, const struct export *e);
void export_graph_deinit(struct export_graph *g);

/* Return COUNT rounded to an integer that fits into each format. */
int64_t export_integer(double count);

struct export_format {
	void (*write)(FILE *out, const struct export *e);
	bool binary;
};

#define EXPORT_DECLARE(name, binary) void export_write_##name(FILE *out, const struct export *e);
EXPORT_FORMATS(EXPORT_DECLARE)
#undef EXPORT_DECLARE

/* Write the flame graph of `fold --svg` or, for two sides, the differential one of `diff --svg`. */
void export_write_svg(FILE *out, const struct export *e);

/* The formats, and their names, ended by NULL. */
extern const struct export_format export_formats[];
extern const char *const export_format_names[];
