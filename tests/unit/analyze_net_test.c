// SPDX-License-Identifier: GPL-2.0-or-later
/* Compute an iteration's time without the cost of probes. */
#include <math.h>

#include "test.h"
#include "analyze/figures/calibration.h"
#include "analyze/figures/workload.h"
#include "fixture.h"

#define MAD 1.482602218505602

/*
 * Create RUNS runs. Each has 100 iterations of at least 2,000 ticks, with two reads per iteration; it also has 101 closes, and 7
 * opens at its start.
 */
static struct profile *work(uint32_t runs)
{
	struct profile *p = profile_create();
	uint32_t read = profile_context_add(p, "read"), open = profile_context_add(p, "open"),
		 close = profile_context_add(p, "close");

	p->sites[0].mech = PROFILE_MECH_TRACEPOINT;
	profile_cost_set(p, PROFILE_MECH_TRACEPOINT, PROFILE_COST_INNER, 50, 2);
	profile_cost_set(p, PROFILE_MECH_TRACEPOINT, PROFILE_COST_FULL, 120, 6);
	for (uint32_t i = 0; i < runs; i++) {
		fixture_run(p, 300000);
		profile_report_add(
			p, i, &(struct profile_report){ "reads", 100, 2000 + 100.0 * i, NAN, NAN });
		fixture_calls(profile_cell(p, i, 0, read), 200, 300, 300);
		fixture_calls(profile_cell(p, i, 0, close), 101, 300, 300);
		fixture_calls(profile_cell(p, i, 0, open), 7, 300, 300);
		profile_cell(p, i, 0, read)->cost = 200 * 50;
		profile_cell(p, i, 0, close)->cost = 101 * 50;
		profile_cell(p, i, 0, open)->cost = 7 * 50;
	}
	return p;
}

static void near(double got, double expected)
{
	assert_true(fabs(got - expected) < 1e-9 * fabs(expected) + 1e-9);
}

TEST(test_cost)
{
	struct profile *p = work(1);
	struct analyze_net net;
	double error;

	analyze_net_init(&net, p);
	/* Reads and closes both occur in each iteration. The workload may have timed only one of them, so the cost is unknown. */
	assert_true(isnan(analyze_net_cost(&net, 0, 100, &error)));
	/* With 200 iterations, only reads occur at least once per iteration, so the cost is that of one read. */
	near(analyze_net_cost(&net, 0, 200, &error), 120);
	near(error, (2 + 70 * 6 / 120.0) * MAD);
	/* If the run is one iteration, the cost is that of the whole run. */
	near(analyze_net_cost(&net, 0, 1, &error), (200 + 101 + 7) * 120);
	near(error, (200 + 101 + 7) * (2 + 70 * 6 / 120.0) * MAD);
	/* In cold caches, the part of a read's probe cost that is inside the call triples, so the part outside is tripled, too. */
	profile_cell(p, 0, 0, profile_context_add(p, "read"))->cost = 200 * 150;
	near(analyze_net_cost(&net, 0, 200, &error), 3 * 120);
	near(error, 3 * (2 + 70 * 6 / 120.0) * MAD);
	analyze_net_deinit(&net);
	profile_destroy(p);
}

/* Return the row NAME. Its times are those of a probed run. */
static const struct analyze_workload_row *row_of(const struct analyze_workload *w, const char *name)
{
	for (uint32_t i = 0; i < w->n_rows; i++)
		if (!strcmp(w->rows[i].name, name))
			return &w->rows[i];
	return NULL;
}

TEST(test_row)
{
	const double error = 308 * (2 + 70 * 6 / 120.0) * MAD;
	struct profile *p = work(2);
	struct analyze_workload w;

	p->runs[0].cpu = 200000;
	p->runs[1].cpu = 200100;
	analyze_workload_init(&w, p, false);
	near(row_of(&w, "reads")->figures.mean, 2050);
	assert_true(isnan(row_of(&w, "reads")->net) && isnan(row_of(&w, ANALYZE_COMMAND)->net));
	near(row_of(&w, ANALYZE_COMMAND_CPU)->net, 200050 - 308 * 120);
	/* The runs' standard error, 50, is small beside the calibration's, 2,511, so the factor stays near 2.776. */
	assert_true(row_of(&w, ANALYZE_COMMAND_CPU)->net_error > 2.77 * error &&
		    row_of(&w, ANALYZE_COMMAND_CPU)->net_error < 2.78 * error);
	analyze_workload_deinit(&w);
	/* One run has no standard error, so only the calibration's uncertainty remains. */
	profile_destroy(p);
	p = work(1);
	p->runs[0].cpu = 200000;
	profile_cell(p, 0, 0, profile_context_add(p, "close"))->calls = 99;
	analyze_workload_init(&w, p, false);
	near(row_of(&w, "reads")->net, 2000 - 2 * 120);
	near(row_of(&w, "reads")->net_error, 2.776445105197793 * 2 * (2 + 70 * 6 / 120.0) * MAD);
	analyze_workload_deinit(&w);
	/* With two reported figures, it is unknown which one's iterations made the calls. */
	profile_report_add(p, 0, &(struct profile_report){ "other", 100, 1, NAN, NAN });
	analyze_workload_init(&w, p, false);
	assert_true(isnan(row_of(&w, "reads")->net) && isnan(row_of(&w, "other")->net));
	analyze_workload_deinit(&w);
	/* In a recording of all tasks, the command causes only a part of the probes' cost. */
	profile_env_set(p, PROFILE_ENV_TASKS, "all");
	analyze_workload_init(&w, p, false);
	assert_true(isnan(row_of(&w, ANALYZE_COMMAND_CPU)->net));
	analyze_workload_deinit(&w);
	profile_destroy(p);
}

RUN_TESTS(NULL, NULL)
