/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls that record --slower-than kept. */
#pragma once

#include "base/alloc.h"
#include "profile/profile.h"

struct analyze_slow_row {
	const struct profile_slow *of;
	const char *name; /* of the function, or of the syscall itself */
	const char *syscall;
	const char *comm; /* NULL: not known */
	double wall, oncpu, start, tid,
		pid; /* START is in ticks since the first of its run began */
	bool has_values; /* some of OF were captured */
	char *stack; /* "clone;kernel_clone;copy_process"; NULL: not known */
};

struct analyze_slow {
	vec_of(struct analyze_slow_row, rows); /* the slowest first */
};

/* P must outlive it. */
void analyze_slow_init(struct analyze_slow *s, const struct profile *p);
void analyze_slow_deinit(struct analyze_slow *s);
