/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the workload and its iterations take without probes, to be held to what they take where there are none.
 */
#pragma once

#include "analyze/figures/calibration.h"
#include "profile/profile.h"

/* What a context's own probes cost, in ticks: in its time, and around it. ERROR: a standard deviation, as a part. NAN: not known. */
struct analyze_net_probes {
	double inner, outer, error;
};

struct analyze_net {
	const struct profile *p;
	struct analyze_calibration calibration;
	struct analyze_net_probes syscall, fault;
};

void analyze_net_init(struct analyze_net *net, const struct profile *p);
void analyze_net_deinit(struct analyze_net *net);

/*
 * What probes cost each of ITERATIONS of run RUN, in ticks; *ERROR becomes its standard deviation. With one iteration that
 * is the whole run. Of more it is what they cost the calls of the one context, a syscall's or of page faults, that there are
 * as many calls of as iterations, or several times as many; where there is more than one, nobody knows which of them the
 * workload has in its time: NAN. So it is where no cost is known.
 */
double analyze_net_cost(const struct analyze_net *net, uint32_t run, double iterations,
			double *error);
