// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/figures/kernel_share.h"

#include <math.h>
#include <string.h>

/* The unprobed row comes first, whatever the order. */
static double command_cpu(const struct analyze_workload *w)
{
	for (uint32_t i = 0; i < w->n_rows; i++)
		if (!strcmp(w->rows[i].name, ANALYZE_COMMAND_CPU))
			return w->rows[i].figures.mean;
	return NAN;
}

struct analyze_kernel_share analyze_kernel_share_of(const struct profile *p,
						    const struct analyze_table *t,
						    const struct analyze_workload *workload)
{
	const struct analyze_kernel_share none = { NAN, NAN, NAN };
	struct analyze_kernel_share s = { .command = command_cpu(workload) };

	for (uint32_t i = 0; i < t->syscalls.n_rows; i++)
		s.kernel += t->syscalls.rows[i].figures.totals[ANALYZE_TIME_ONCPU];
	s.kernel /= t->runs;
	s.share = s.kernel / s.command;
	/* With -a other tasks' time is in the syscalls; files that do not say so show it by a share above 1. */
	return profile_env_get(p, PROFILE_ENV_TASKS) || !(s.share >= 0 && s.share <= 1) ? none : s;
}
