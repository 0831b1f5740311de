/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in the formats of other tools: its stacks as a tree, which most of them are written from. A new format is
 * a file and a line in EXPORT_FORMATS.
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

/* A frame that occurs; its label can be printed, and says so where the body is inlined. */
struct export_frame {
	enum analyze_frame_kind kind;
	const char *name; /* as in struct analyze_frame */
	char *label;
};

#define EXPORT_NO_NODE UINT32_MAX

/* A stack's begin: what is called from PARENT. */
struct export_node {
	uint32_t parent; /* before it in the tree, or EXPORT_NO_NODE */
	uint32_t frame, depth; /* 0: the root */
};

struct export
{
	const struct profile *p, *other; /* OTHER: the second side; NULL: there is none */
	char *title; /* the workload's command line */
	const char *unit; /* of the counts: "samples" or "instructions" */
	double period; /* of one count, in ticks of the profile's clock */
	double noise
		[2]; /* by side, the variance of a count is this times the count; 0: counts are exact */
	double time; /* when it was recorded, in seconds since 1970; NAN: not known */
	vec_of(struct export_frame, frames); /* each once */
	vec_of(struct export_node, nodes); /* depth first */
	struct export_leaf {
		uint32_t node;
		double counts
			[2]; /* of samples with that stack and no more, by side; formats of one recording have the first */
	} * leaves; /* in the order of the nodes */
	uint32_t n_leaves, cap_leaves;
};

/* P, of which STACKS are, and which must outlive E as they must. */
void export_init(struct export *e, const struct profile *p, const struct analyze_stacks *stacks);
/* Likewise of all SIDES that are not NULL, with counts per run; adds them to STACKS. 0, or an error, reported. */
int export_init_sides(struct export *e, const struct profile *const sides[2],
		      struct analyze_stacks *stacks);
void export_deinit(struct export *e);

/* Return how much larger the second of COUNTS is, as a part of the larger; 0 within two standard errors. */
double export_change(const struct export *e, const double counts[2]);

/* The frames of E in a flame graph: the widest, and the lower of equally wide ones. */
struct export_graph {
	double *counts; /* of each node with all below it, by side: 2 * N is NODES[N]'s first; the last two are the sums */
	/* By node: the count of the larger side, at least those of its children together. The last is their sum. */
	double *widths;
	bool *is_drawn; /* by node; so is its parent then */
	uint32_t left_out;
};

void export_graph_init(struct export_graph *g, const struct export *e);
void export_graph_deinit(struct export_graph *g);

/* COUNT as an integer that each format has room for. */
int64_t export_integer(double count);

struct export_format {
	void (*write)(FILE *out, const struct export *e);
	bool binary;
};

#define EXPORT_DECLARE(name, binary) void export_write_##name(FILE *out, const struct export *e);
EXPORT_FORMATS(EXPORT_DECLARE)
#undef EXPORT_DECLARE

/* The flame graph that `fold --svg` prints; of two sides, as `diff --svg`, a differential one. */
void export_write_svg(FILE *out, const struct export *e);

/* The formats, and their names, ended by NULL. */
extern const struct export_format export_formats[];
extern const char *const export_format_names[];
