/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces: all lines and calls that one call executed, with names; and the differences of two traces. */
#pragma once

#include "base/alloc.h"
#include "profile/profile.h"

struct analyze_trace_line {
	enum profile_trace_kind kind;
	double depth;
	const char *name; /* the called function, or the innermost body around a line */
	const char *file; /* a line's file, owned by the profile; NULL: unknown */
	double line, times; /* the line's number, and how often it was executed */
	double insns; /* instructions in all of its executions */
};

struct analyze_trace {
	/* Lines in order of execution. A line is followed by the lines of its body, whose DEPTH is greater. */
	vec_of(struct analyze_trace_line, lines);
};

/* Set T to P's first trace; T has no lines if P has none. Adjacent entries of one source line become one line. P must outlive T. */
void analyze_trace_init(struct analyze_trace *t, const struct profile *p);
void analyze_trace_deinit(struct analyze_trace *t);

enum analyze_trace_change {
	ANALYZE_TRACE_SAME, /* the lines and all lines below are equal; those below have no pairs */
	ANALYZE_TRACE_DIFFERS, /* TIMES, INSNS or the lines below differ; the lines below follow */
	ANALYZE_TRACE_BASELINE_ONLY,
	ANALYZE_TRACE_HARDENED_ONLY,
	ANALYZE_TRACE_MOVED, /* one-sided here; the other side has the line elsewhere in the call */
};

struct analyze_trace_pair {
	const struct analyze_trace_line *lines[2]; /* NULL: not on that side; indexed by side */
	enum analyze_trace_change change;
	double delta; /* instructions, hardened less baseline */
	bool first; /* the first pair that is on one side only or differs in TIMES */
};

struct analyze_trace_diff {
	struct analyze_trace traces[2];
	vec_of(struct analyze_trace_pair, pairs);
};

/* Align the traces call by call, by a longest common subsequence. D has no pairs if a side has no trace. */
void analyze_trace_diff_init(struct analyze_trace_diff *d, const struct profile *baseline,
			     const struct profile *hardened);
void analyze_trace_diff_deinit(struct analyze_trace_diff *d);
