/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that were kept whole, with names, and two of them side by side. */
#pragma once

#include "base/alloc.h"
#include "profile/profile.h"

struct analyze_trace_line {
	enum profile_trace_kind kind;
	double depth;
	const char *name; /* of the function called, or the innermost body of a line */
	const char *file; /* of a line, the profile's; NULL: unknown */
	double line, times, insns; /* INSNS: of all times */
};

struct analyze_trace {
	/* In order; what is deeper behind one is its body. */
	vec_of(struct analyze_trace_line, lines);
};

/* The first that P has; empty where it has none. Lines side by side of one line of source are one. P must outlive it. */
void analyze_trace_init(struct analyze_trace *t, const struct profile *p);
void analyze_trace_deinit(struct analyze_trace *t);

enum analyze_trace_change {
	ANALYZE_TRACE_SAME, /* with all of its body, which is left out */
	ANALYZE_TRACE_DIFFERS, /* in its body, which follows, or in how often or how long */
	ANALYZE_TRACE_BASELINE_ONLY,
	ANALYZE_TRACE_HARDENED_ONLY,
	ANALYZE_TRACE_MOVED, /* a line on one side only, which the other's call has elsewhere */
};

struct analyze_trace_pair {
	const struct analyze_trace_line *lines[2]; /* NULL: not on that side */
	enum analyze_trace_change change;
	double delta; /* instructions */
	bool first; /* where the two part: nothing before it is on one side only or differs in how often */
};

struct analyze_trace_diff {
	struct analyze_trace traces[2];
	vec_of(struct analyze_trace_pair, pairs);
};

/* Aligns, call by call, what each does by a longest common subsequence. Empty where one of the two has no trace. */
void analyze_trace_diff_init(struct analyze_trace_diff *d, const struct profile *baseline,
			     const struct profile *hardened);
void analyze_trace_diff_deinit(struct analyze_trace_diff *d);
