/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compare the machines, kernels and settings of two profiles. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "profile/profile.h"

enum analyze_env_kind {
	ANALYZE_ENV_STATE, /* state of a protection in the catalogue, such as "on" or "built in" */
	ANALYZE_ENV_PROTECTION, /* kernel configuration option of a protection */
	ANALYZE_ENV_CONFIG, /* other kernel configuration option */
	ANALYZE_ENV_CMDLINE, /* parameter on the kernel's command line */
	ANALYZE_ENV_STATIC_KEY, /* static key, a switch of kernel code: "on" or "off" */
	ANALYZE_ENV_OTHER, /* value of another key PROFILE_ENV_*, such as the machine */
	ANALYZE_ENV_KERNEL, /* release, version or build-id, which differ between any two builds */
};

/* One setting and its values in the baseline and the hardened profile. NULL: no value. */
struct analyze_env_row {
	enum analyze_env_kind kind;
	const char *name;
	const char *sides[2];
};

struct analyze_env {
	vec_of(struct analyze_env_row, rows); /* sorted by kind, then name */
	struct alloc_texts texts; /* owns the strings of ROWS */
};

/* List all differences. If a kernel option is not set, or a kernel does not know it, its value is "n". */
void analyze_env_diff(struct analyze_env *env, const struct profile *baseline,
		      const struct profile *hardened);

/* List P's kernel options that are set and belong to a protection. SIDES[0] of each row is the option's value. */
void analyze_env_protections(struct analyze_env *env, const struct profile *p);

void analyze_env_deinit(struct analyze_env *env);

/* ---- load and speed of the machine during a recording (only with times in ns) ---- */

enum analyze_load {
	ANALYZE_LOAD_WAITING, /* time in which tasks waited for a CPU, % of all time */
	ANALYZE_LOAD_STOLEN, /* time taken by the hypervisor, % of all CPUs' time */
	ANALYZE_LOAD_FREQUENCY, /* frequency of running CPUs, % of the nominal frequency */
	ANALYZE_LOAD_THROTTLING, /* number of thermal throttlings per run */
	ANALYZE_N_LOADS,
};

const char *analyze_load_name(enum analyze_load load);
/* Return VALUE and its unit as text for free(), or NULL if VALUE is NAN. */
char *analyze_load_text(enum analyze_load load, double value);

/* Return the value of LOAD over all runs of P, or NAN if it is unknown. */
double analyze_load_of(const struct profile *p, enum analyze_load load);

/* Return whether two loads differ too much to compare their recordings; false if one load is unknown. */
bool analyze_load_unlike(enum analyze_load load, double a, double b);
