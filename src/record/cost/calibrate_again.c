// SPDX-License-Identifier: GPL-2.0-or-later
/* Measure probes again after the last run, on a real clock. The change estimates the error of calibration. */
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "record/cost/calibrate_impl.h"

/* Probes that stay attached to empty functions during the runs: probes with the N spare numbers from SPARE on. */
static const struct {
	enum profile_mechanism mech;
	uint32_t spare, n;
} stays[] = {
	{ PROFILE_MECH_FENTRY, SPARE_FENTRY, 1 },
	{ PROFILE_MECH_KPROBE, SPARE_KPROBE, 1 },
	{ PROFILE_MECH_MULTI, SPARE_MULTI, RECORD_N_TESTS },
};

#define N_STAYS ARRAY_SIZE(stays)
#define N_SITES (2 + RECORD_N_TESTS)

/* Read the times of the empty functions by their probes, which are still attached. Take the mean over a mechanism's functions. */
static void read_functions(struct record_engine *e, struct record_calibration *out)
{
	const struct record_call call = { record_round_run, &out->run, SYS_bpf };
	struct record_reading readings[N_SITES], *r = readings;
	uint32_t n = 0;

	for (size_t s = 0; s < N_STAYS; s++)
		for (uint32_t k = 0; k < stays[s].n; k++)
			readings[n++] = (struct record_reading){
				.site = record_engine_spare(e, stays[s].spare + k),
				.ctx = call.ctx,
				.of = RECORD_SUM_ONCPU,
			};
	if (record_measure_repeated(e, true, &call, readings, n))
		return;
	for (size_t s = 0; s < N_STAYS; s++) {
		uint64_t sum = 0;

		n = 0;
		for (uint32_t k = 0; k < stays[s].n; k++, r++) {
			uint64_t median = record_series_median(&r->series);

			sum += median;
			n += median > 0;
		}
		out->read_again[stays[s].mech] = n ? (sum + n / 2) / n : 0;
	}
}

void record_calibrate_again(struct record_engine *e, struct record_calibration *out)
{
	if (!out->repeats)
		return;
	/* If a task has outlived the last run, the engine is still paused, and probes cost only half as much. End the pause. */
	record_engine_reset(e);
	out->repeats = !record_engine_follow_caller(e, true);
	if (!out->repeats)
		return;
	record_calibrate_read_syscalls(e, true, &out->time_again, &out->inner_again);
	if (out->run >= 0)
		read_functions(e, out);
	record_calibrate_counters_again(e, out);
	record_engine_follow_caller(e, false);
}

/* Set the costs of MECH to INNER and FULL, the mean costs in the runs. Set their errors by AGAIN, the costs after the runs. */
static void set_errors(struct record_calibration *out, enum profile_mechanism mech,
		       const struct engine_cost *again, double inner, double full)
{
	struct engine_cost *cost = &out->cost[mech], first = *cost;

	if (record_cost_disagrees(first.full_spread, first.full, again->full)) {
		out->drift[mech] = (struct record_drift){ first.full, again->full };
		log_warn("%s probes cost %llu ns before the runs and %llu ns after them: the "
			 "machine changed meanwhile (record again; intervals are wider)",
			 profile_mechanism_name(mech), first.full, again->full);
	}
	cost->inner = (uint64_t)(inner + 0.5);
	cost->full = (uint64_t)(full + 0.5);
	cost->inner_spread =
		record_cost_error(first.inner_spread, out->step, first.inner, again->inner, inner);
	cost->full_spread =
		record_cost_error(first.full_spread, out->step, first.full, again->full, full);
}

static void finish_syscalls(struct record_calibration *out, const struct record_cold_costs *cold)
{
	struct engine_cost first = out->cost[PROFILE_MECH_TRACEPOINT], again = {};

	if (!(cold->calls > 0))
		return;
	record_calibrate_read_syscalls(NULL, true, &out->unprobed, NULL);
	record_cost_solve(&again, &out->unprobed, &out->time_again, &out->inner_again, EMPTY_NS);
	record_cost_add_interrupts(&again, out->interrupts);
	set_errors(out, PROFILE_MECH_TRACEPOINT, &again, cold->inner / cold->calls,
		   cold->full / cold->calls);
	log_verbose(1,
		    "syscall probes cost %llu ns before the runs and %llu ns after them; %llu ns "
		    "with cold caches, and %.0f ns in the runs",
		    first.full, again.full, first.cold_full, cold->full / cold->calls);
}

/* Only INNER was measured again, since FULL needs a measurement without probes. Assume that FULL changed by the same factor. */
static void finish_functions(struct record_calibration *out, enum profile_mechanism mech)
{
	const struct engine_cost *cost = &out->cost[mech];
	struct engine_cost again = { .inner = cost->inner, .full = cost->full };

	if (out->read_again[mech] && cost->inner) {
		again.inner = record_cost_less(out->read_again[mech], EMPTY_NS);
		record_cost_add_interrupts(&again, out->interrupts);
		again.full = cost->full * again.inner / cost->inner;
		log_verbose(1,
			    "%s probes read %llu ns of themselves before the runs and %llu ns "
			    "after them",
			    profile_mechanism_name(mech), cost->inner, again.inner);
	}
	set_errors(out, mech, &again, (double)cost->inner, (double)cost->full);
}

/* Set the errors of COST, a number of events. AGAIN is INNER after the runs; assume that FULL changed by the same factor. */
static void finish_counted(struct engine_cost *cost, uint64_t again)
{
	double change = cost->inner ? (double)again / (double)cost->inner : 1;

	cost->inner_spread =
		record_cost_error(cost->inner_spread, 0, cost->inner, again, (double)cost->inner);
	cost->full_spread =
		record_cost_error(cost->full_spread, 0, cost->full,
				  (uint64_t)((double)cost->full * change), (double)cost->full);
}

void record_calibrate_after(struct record_calibration *out, const struct record_cold_costs *cold)
{
	if (out->run >= 0)
		close(out->run);
	out->run = -1;
	if (!out->repeats) {
		if (cold->calls > 0)
			out->cost[PROFILE_MECH_TRACEPOINT].full =
				(uint64_t)(cold->full / cold->calls + 0.5);
		return;
	}
	finish_syscalls(out, cold);
	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++)
		if (mech != PROFILE_MECH_TRACEPOINT && out->cost[mech].known)
			finish_functions(out, mech);
	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++)
		for (uint32_t i = 0; i < out->n_counters; i++)
			if (out->counted[mech][i].known)
				finish_counted(&out->counted[mech][i], out->counted_again[mech][i]);
	if (out->ranges.known)
		out->ranges.trials.spread = record_cost_error(
			out->ranges.trials.spread, out->step, (uint64_t)out->ranges.inner,
			(uint64_t)out->ranges.inner, out->ranges.inner);
}
