// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/figures/load.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

static const struct {
	const char *name, *unit;
	double unlike; /* a difference of two values that is more than usual */
} loads[ANALYZE_N_LOADS] = {
	[ANALYZE_LOAD_WAITING] = { "tasks waiting for a CPU", " % of the time", 10 },
	[ANALYZE_LOAD_STOLEN] = { "stolen by the hypervisor", " % of the CPUs' time", 2 },
	[ANALYZE_LOAD_FREQUENCY] = { "CPU frequency", " % of nominal", 2 },
	[ANALYZE_LOAD_THROTTLING] = { "thermal throttling", " times per run", 0 },
};

const char *analyze_load_name(enum analyze_load load)
{
	return loads[load].name;
}

char *analyze_load_text(enum analyze_load load, double value)
{
	return isnan(value) ? NULL : alloc_printf("%.3g%s", value, loads[load].unit);
}

/* KIND of all runs; NAN: not known of one. */
static double sum(const struct profile *p, enum profile_loss kind)
{
	double n = 0;

	vec_each(const struct profile_run, run, p, runs) {
		if (run->losses[kind] == PROFILE_NOT_COUNTED)
			return NAN;
		n += (double)run->losses[kind];
	}
	return p->n_runs ? n : NAN;
}

static double wall(const struct profile *p)
{
	double n = 0;

	vec_each(const struct profile_run, run, p, runs)
		n += (double)run->wall;
	return n > 0 ? n : NAN;
}

static double cpus(const struct profile *p)
{
	const char *text = profile_env_get(p, PROFILE_ENV_CPUS);
	double n = text ? strtod(text, NULL) : NAN;

	return n >= 1 ? n : NAN;
}

double analyze_load_of(const struct profile *p, enum analyze_load load)
{
	double cycles;

	switch (load) {
	case ANALYZE_LOAD_WAITING:
		return 100 * sum(p, PROFILE_INFO_WAITED) / wall(p);
	case ANALYZE_LOAD_STOLEN:
		return 100 * sum(p, PROFILE_INFO_STOLEN) / (wall(p) * cpus(p));
	case ANALYZE_LOAD_FREQUENCY:
		cycles = sum(p, PROFILE_INFO_MPERF);
		return cycles > 0 ? 100 * sum(p, PROFILE_INFO_APERF) / cycles : NAN;
	default:
		return sum(p, PROFILE_INFO_THROTTLED) / p->n_runs;
	}
}

bool analyze_load_unlike(enum analyze_load load, double a, double b)
{
	return fabs(a - b) > loads[load].unlike;
}
