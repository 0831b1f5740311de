/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mechanisms that time calls, and what each can. A new one has a number in kprotperf/cost.h, a row in names.c, programs in
 * bpf, a file and a row in record/probe, and its cost in record/cost. All other code asks what it can, not which it is.
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "kprotperf/cost.h"

/* The arguments of a call that a mechanism's programs can read. */
enum profile_arguments {
	PROFILE_ARGUMENTS_NONE,
	PROFILE_ARGUMENTS_IN_REGISTERS, /* only arguments passed in registers */
	PROFILE_ARGUMENTS_ALL,
};

struct profile_mechanism_traits {
	const char *name; /* name in data files and in tables */
	/*
	 * The return's program runs before the function's frame is gone: no return is missed, and a stack read there has the
	 * function.
	 */
	bool in_frame;
	bool counted; /* calibration measures the events that its probes count of themselves */
	bool cold; /* on a real clock, each run measures the extra cost with cold caches */
	bool is_kprobe; /* these probes do not run while kprobes are switched off in debugfs */
	bool holds_module; /* a module cannot be unloaded while one of its functions is timed */
	bool costs_by_number; /* the cost depends on all functions attached, and is measured with these */
	enum profile_arguments arguments;
};

/* The mechanism of inlined bodies. */
enum profile_mechanism profile_mechanism_of_ranges(void);
/* A number that is no mechanism's has the traits of PROFILE_UNTIMED. */
const struct profile_mechanism_traits *profile_mechanism(enum profile_mechanism mech);
/* "unknown" for a number that has no cost. */
const char *profile_mechanism_name(enum profile_mechanism mech);
/* Return the mechanism of this NAME; PROFILE_N_COSTS: there is none, or NAME is NULL. */
enum profile_mechanism profile_mechanism_by_name(const char *name);
