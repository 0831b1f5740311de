/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's load and speed during the runs of a recording, on a real clock. */
#pragma once

#include <stdbool.h>

#include "profile/profile.h"

enum analyze_load {
	ANALYZE_LOAD_WAITING, /* tasks, for a CPU: % of the time */
	ANALYZE_LOAD_STOLEN, /* by the hypervisor: % of the CPUs' time */
	ANALYZE_LOAD_FREQUENCY, /* of CPUs while they were not halted: % of the nominal one */
	ANALYZE_LOAD_THROTTLING, /* because of heat: times per run */
	ANALYZE_N_LOADS,
};

const char *analyze_load_name(enum analyze_load load);
/* VALUE with its unit, for free(); NULL: not known. */
char *analyze_load_text(enum analyze_load load, double value);

/* Return the load over all runs of P; NAN: not known. */
double analyze_load_of(const struct profile *p, enum analyze_load load);

/* Do recordings with these values compare badly? Not where one is not known. */
bool analyze_load_unlike(enum analyze_load load, double a, double b);
