/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Read the trace of one call: the executed lines and called functions in order. Compare two traces. */
#pragma once

#include "base/alloc.h"
#include "profile/profile.h"

struct analyze_trace_line {
	enum profile_trace_kind kind;
	double depth;
	const char *name; /* the called function, or the inlined function around a line; or NULL */
	const char *file; /* source file of a line, owned by the profile, or NULL */
	double line, times; /* source line number, number of executions */
	double insns; /* instructions in all executions together */
};

struct analyze_trace {
	/* In order of execution. The lines inside a call or loop follow the line of the call or loop, with a greater DEPTH. */
	vec_of(struct analyze_trace_line, lines);
};

/* Read P's first trace. If P has none, T is empty. Unite adjacent entries that have the same source line. P must outlive T. */
void analyze_trace_init(struct analyze_trace *t, const struct profile *p);
void analyze_trace_deinit(struct analyze_trace *t);

enum analyze_trace_change {
	ANALYZE_TRACE_SAME, /* the line and all lines below are equal; PAIRS omits those below */
	ANALYZE_TRACE_DIFFERS, /* TIMES, INSNS or lines below differ; PAIRS has the lines below */
	ANALYZE_TRACE_BASELINE_ONLY,
	ANALYZE_TRACE_HARDENED_ONLY,
	ANALYZE_TRACE_MOVED, /* the kernels execute the line, but at different times in the call */
};

struct analyze_trace_pair {
	const struct analyze_trace_line *lines[2]; /* [0]: baseline, [1]: hardened, or NULL */
	enum analyze_trace_change change;
	double delta; /* instructions, hardened minus baseline */
	bool first; /* the first pair in which a line is missing or TIMES differ */
};

struct analyze_trace_diff {
	struct analyze_trace traces[2];
	vec_of(struct analyze_trace_pair, pairs);
};

/* Align two traces call by call, by a longest common subsequence. D has no pairs if a recording has no trace. */
void analyze_trace_diff_init(struct analyze_trace_diff *d, const struct profile *baseline,
			     const struct profile *hardened);
void analyze_trace_diff_deinit(struct analyze_trace_diff *d);
