// SPDX-License-Identifier: GPL-2.0-or-later
/* Test costs of probes as numbers, as text, and in files. */
#include <math.h>

#include "test.h"
#include "fixture.h"
#include "fixture_file.h"
#include "profile/merge.h"

static void assert_text(const struct profile *p, enum profile_mechanism mech, const char *expected)
{
	char *text = profile_cost_text(p, mech);

	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
	free(text);
}

static struct profile *through_file(const struct profile *p)
{
	struct profile *q;

	assert_int_equal(profile_file_write(p, path), 0);
	assert_int_equal(profile_file_read(path, &q), 0);
	return q;
}

static struct profile *calibrated(void)
{
	struct profile *p = fixture_big_fork(1, 1000);

	if (!p->n_costs)
		fixture_calibrated(p);
	return p;
}

TEST(numbers_are_kept_in_files)
{
	struct profile *p = calibrated(), *q;
	uint32_t n;

	profile_cost_set(p, PROFILE_COSTS_SAMPLE, PROFILE_COST_INTERRUPT, 2534.5, NAN);
	n = p->n_costs;
	q = through_file(p);
	assert_int_equal(q->n_costs, n);
	assert_text(q, PROFILE_MECH_FENTRY, "inner=98+-1 full=332+-2");
	assert_text(q, PROFILE_COSTS_SAMPLE, "interrupt=2534.50");
	profile_destroy(p);
	profile_destroy(q);
}

TEST(damaged_costs_are_refused)
{
	static const struct profile_cost damaged[] = {
		{ .mech = PROFILE_N_COSTS, .kind = PROFILE_COST_FULL },
		{ .mech = PROFILE_MECH_FENTRY, .kind = PROFILE_N_COST_KINDS },
		{ .mech = PROFILE_MECH_FENTRY, .kind = PROFILE_COST_FULL, .value = NAN },
		{ .mech = PROFILE_MECH_FENTRY, .kind = PROFILE_COST_FULL, .value = INFINITY },
	};

	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		struct profile *p = profile_create();

		profile_cost_set(p, PROFILE_MECH_FENTRY, PROFILE_COST_FULL, 3, 0);
		p->costs[0] = damaged[i];
		listen_start();
		assert_int_not_equal(profile_file_write(p, path), 0);
		assert_non_null(strstr(listen_end(), "section \"costs\""));
		profile_destroy(p);
	}
}

TEST(a_merge_keeps_the_first_calibration)
{
	struct profile *a = calibrated(), *b = calibrated();

	profile_cost_set(b, PROFILE_MECH_FENTRY, PROFILE_COST_FULL, 1000, 0);
	profile_cost_set(b, PROFILE_MECH_KPROBE, PROFILE_COST_FULL, 1000, 0);
	profile_merge(a, b);
	assert_text(a, PROFILE_MECH_FENTRY, "inner=98+-1 full=332+-2");
	assert_text(a, PROFILE_MECH_KPROBE, NULL);
	profile_destroy(a);
	profile_destroy(b);
}

RUN_TESTS(setup, teardown)
