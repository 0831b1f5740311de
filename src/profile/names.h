/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mechanisms that time calls, and their traits. A new mechanism needs a number in kprotperf/cost.h, a row in names.c, programs
 * in bpf, a file and a row in record/probe, and its cost in record/cost. All other code depends on traits, not on the mechanism.
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
	/* The return's program runs inside the function's stack frame. No return is missed, and stacks contain the function. */
	bool in_frame;
	bool counted; /* calibration measures the CPU events (--event) that the probes themselves cause */
	bool cold; /* with a clock in ns, each run estimates the probes' extra cost with cold caches */
	bool is_kprobe; /* these probes do not run while kprobes are switched off in debugfs */
	bool holds_module; /* a module cannot be unloaded while one of its functions is timed */
	bool costs_by_number; /* the cost depends on the attached functions, so it is measured after they are attached */
	enum profile_arguments arguments;
};

/* Return the mechanism that times inlined bodies. */
enum profile_mechanism profile_mechanism_of_ranges(void);
/* Return the traits of MECH; those of PROFILE_UNTIMED if MECH is not below PROFILE_N_COSTS. */
const struct profile_mechanism_traits *profile_mechanism(enum profile_mechanism mech);
/* Return the name of MECH; "unknown" if MECH is not below PROFILE_N_COSTS. */
const char *profile_mechanism_name(enum profile_mechanism mech);
/* Return the mechanism of this NAME; PROFILE_N_COSTS: there is none, or NAME is NULL. */
enum profile_mechanism profile_mechanism_by_name(const char *name);
