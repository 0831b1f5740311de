/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences between the machines, kernels and settings of two profiles. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "profile/profile.h"

enum analyze_env_kind {
	ANALYZE_ENV_STATE, /* a protection of the catalogue: "on", "off", "built in" */
	ANALYZE_ENV_PROTECTION, /* a kernel option that is a protection */
	ANALYZE_ENV_CONFIG, /* any other kernel option */
	ANALYZE_ENV_CMDLINE, /* a parameter of the kernel's command line */
	ANALYZE_ENV_STATIC_KEY, /* "on", "off": a switch in the code, set by parameters or at run time */
	ANALYZE_ENV_OTHER, /* machine, mitigations: all other keys of profile.h */
	ANALYZE_ENV_KERNEL, /* release, version and build-id: differ between any two builds */
};

/* One fact and its value on each side; NULL: none. */
struct analyze_env_row {
	enum analyze_env_kind kind;
	const char *name;
	const char *sides[2];
};

struct analyze_env {
	vec_of(struct analyze_env_row, rows); /* by kind, then name */
	struct alloc_texts texts; /* of the rows */
};

/* Set the differences. An option that is not set, or that a kernel does not know, is "n" on that side. */
void analyze_env_diff(struct analyze_env *env, const struct profile *baseline,
		      const struct profile *hardened);

/* Set a row for each option of P's kernel that is set and is a protection. The value is on the baseline's side. */
void analyze_env_protections(struct analyze_env *env, const struct profile *p);

void analyze_env_deinit(struct analyze_env *env);

/* ---- the machine's load and speed during the runs of a recording, on a real clock ---- */

enum analyze_load {
	ANALYZE_LOAD_WAITING, /* tasks that wait for a CPU, % of the time */
	ANALYZE_LOAD_STOLEN, /* time stolen by the hypervisor, % of the CPUs' time */
	ANALYZE_LOAD_FREQUENCY, /* frequency of CPUs that are not halted, % of the nominal one */
	ANALYZE_LOAD_THROTTLING, /* thermal throttling, times per run */
	ANALYZE_N_LOADS,
};

const char *analyze_load_name(enum analyze_load load);
/* Return VALUE with its unit, for free(); NULL: unknown. */
char *analyze_load_text(enum analyze_load load, double value);

/* Return the load over all runs of P; NAN: unknown. */
double analyze_load_of(const struct profile *p, enum analyze_load load);

/* Return whether two loads differ too much for a comparison; false if one is unknown. */
bool analyze_load_unlike(enum analyze_load load, double a, double b);
