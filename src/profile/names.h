/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mechanisms that time calls (such as fentry or kprobe), and their properties. A new mechanism needs a number in
 * kprotperf/cost.h, a row in names.c, programs in bpf, a file and a row in record/probe, and its cost in record/cost.
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>

#include "kprotperf/cost.h"

/* Arguments of a call that the BPF programs of a mechanism can read. */
enum profile_arguments {
	PROFILE_ARGUMENTS_NONE,
	PROFILE_ARGUMENTS_IN_REGISTERS, /* only arguments that are passed in registers */
	PROFILE_ARGUMENTS_ALL,
};

struct profile_mechanism_traits {
	const char *name; /* name in data files and tables */
	/* The program at the return runs inside the function's frame: no return is missed, and stacks contain the function. */
	bool in_frame;
	bool counted; /* calibration counts the CPU events (--event) that the probes cause */
	bool cold; /* with a clock in ns: the probes' extra cost in cold caches is estimated */
	bool is_kprobe; /* the probes are kprobes, which debugfs can switch off */
	bool holds_module; /* the kernel may refuse to unload a module whose functions are timed */
	bool costs_by_number; /* the cost depends on the number of attached functions */
	enum profile_arguments arguments;
};

/* Return the mechanism that times inlined functions. */
enum profile_mechanism profile_mechanism_of_ranges(void);
/* Return the properties of MECH, or those of PROFILE_UNTIMED if MECH is unknown. */
const struct profile_mechanism_traits *profile_mechanism(enum profile_mechanism mech);
/* Return the name of MECH, or "unknown". */
const char *profile_mechanism_name(enum profile_mechanism mech);
/* Return the mechanism with the name NAME, or PROFILE_N_COSTS if there is none or NAME is NULL. */
enum profile_mechanism profile_mechanism_by_name(const char *name);
