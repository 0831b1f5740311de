/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences between the machines, kernels and settings of two profiles. */
#pragma once

#include <stdint.h>

#include "base/alloc.h"
#include "profile/profile.h"

enum analyze_env_kind {
	ANALYZE_ENV_STATE, /* a protection of the catalogue: "on", "off", "built in" */
	ANALYZE_ENV_PROTECTION, /* a kernel option that is a protection */
	ANALYZE_ENV_CONFIG, /* any other kernel option */
	ANALYZE_ENV_CMDLINE, /* a parameter of the kernel's command line */
	ANALYZE_ENV_STATIC_KEY, /* "on", "off": of what parameters and the kernel's state are to its code */
	ANALYZE_ENV_OTHER, /* machine, mitigations: all the keys of profile.h */
	ANALYZE_ENV_KERNEL, /* release, version and build-id: differ between any two builds */
};

/* One fact and its value on each side; NULL: it is not there. */
struct analyze_env_row {
	enum analyze_env_kind kind;
	const char *name;
	const char *sides[2];
};

struct analyze_env {
	vec_of(struct analyze_env_row, rows); /* by kind, then name */
	struct alloc_texts texts; /* of the rows */
};

/* An option that is not set, or that a kernel does not know, is "n" on that side. */
void analyze_env_diff(struct analyze_env *env, const struct profile *baseline,
		      const struct profile *hardened);

/* The protections among the kernel options of P that are set: rows with their value as BASELINE. */
void analyze_env_protections(struct analyze_env *env, const struct profile *p);

void analyze_env_deinit(struct analyze_env *env);
