// SPDX-License-Identifier: GPL-2.0-or-later
/* Costs of probes: as numbers, as text, in files, and in those of older versions, which have the text alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fixture.h"
#include "fixture_file.h"
#include "profile/merge.h"

#define RANGE_OLD                                                                                   \
	"inner=454+-1 full=1054+-1 open=484 inside=397 outside=391 several=379 hop=17 stepped=398 " \
	"prepared=432 emulated=200 call=189 jump=183 block=429.75"
#define RANGE_NEW                                                                                \
	"inner=454+-1 full=1054+-1 open=484 inside=397 outside=391 list=379 hop=17 stepped=398 " \
	"prepared=432 emulated=200 call=189 jump=183 block=429.75"

static const struct profile_cost *cost_of(const struct profile *p, enum profile_mechanism mech,
					  enum profile_cost_kind kind)
{
	for (uint32_t i = 0; i < p->n_costs; i++)
		if (p->costs[i].mech == mech && p->costs[i].kind == kind)
			return &p->costs[i];
	return NULL;
}

static void assert_text(const struct profile *p, enum profile_mechanism mech, const char *expected)
{
	char *text = profile_cost_text(p, mech);

	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
	free(text);
}

static void test_text_is_parsed(void **state)
{
	struct profile *p = profile_create();

	(void)state;
	assert_true(profile_cost_parse(p, "kprobe",
				       "inner=439+-2 full=1220+-3 nested=9 trip=89 args=0"));
	assert_int_equal(p->n_costs, 5);
	assert_true(cost_of(p, PROFILE_MECH_KPROBE, PROFILE_COST_INNER)->value == 439);
	assert_true(cost_of(p, PROFILE_MECH_KPROBE, PROFILE_COST_FULL)->spread == 3);
	assert_true(cost_of(p, PROFILE_MECH_KPROBE, PROFILE_COST_TRAMPOLINE)->value == 89);
	assert_true(isnan(cost_of(p, PROFILE_MECH_KPROBE, PROFILE_COST_ARGS)->spread));
	assert_text(p, PROFILE_MECH_KPROBE,
		    "inner=439+-2 full=1220+-3 nested=9 trampoline=89 args=0");
	assert_true(profile_cost_parse(p, "kprobe-range", RANGE_OLD));
	assert_text(p, PROFILE_MECH_RANGE, RANGE_NEW);
	assert_text(p, PROFILE_MECH_FENTRY, NULL);
	profile_destroy(p);
}

/* Files are hostile input, and so is what is in them. */
static void test_what_is_no_number_is_left_out(void **state)
{
	static const char *const texts[] = {
		"",         "   ",        "full", "full=",     "full=x", "full=nan",
		"full=inf", "full=1e999", "=3",   "fullest=3", "ful=3",  "inner = 3",
	};
	struct profile *p = profile_create();

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_true(profile_cost_parse(p, "fentry", texts[i]));
	assert_int_equal(p->n_costs, 0);
	assert_false(profile_cost_parse(p, "fentr", "full=3"));
	assert_true(profile_cost_parse(p, "fentry", "  full=x inner=-3+-x  full=7 "));
	/* A spread that is no number is not known, rather than 0. */
	assert_text(p, PROFILE_MECH_FENTRY, "inner=-3 full=7");
	profile_destroy(p);
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

static void test_numbers_are_kept_in_files(void **state)
{
	struct profile *p = calibrated(), *q;
	uint32_t n;

	(void)state;
	profile_cost_set(p, PROFILE_MECH_SAMPLE, PROFILE_COST_INTERRUPT, 2534.5, NAN);
	n = p->n_costs;
	q = through_file(p);
	assert_int_equal(q->n_costs, n);
	assert_text(q, PROFILE_MECH_FENTRY, "inner=98+-1 full=332+-2");
	assert_text(q, PROFILE_MECH_SAMPLE, "interrupt=2534.50");
	assert_null(profile_env_get(q, PROFILE_ENV_COST "fentry"));
	profile_destroy(p);
	profile_destroy(q);
}

/* The environment, whose order JSON keeps, stays as it is. */
static void test_older_files_are_read(void **state)
{
	struct profile *p = profile_create(), *q, *r;

	(void)state;
	profile_env_set(p, PROFILE_ENV_COST "kprobe-range", RANGE_OLD);
	profile_env_set(p, PROFILE_ENV_COST "odd", "inner=3");
	profile_env_set(p, PROFILE_ENV_TOOL, "kprotperf 0.1.0");
	q = through_file(p);
	assert_text(q, PROFILE_MECH_RANGE, RANGE_NEW);
	assert_string_equal(q->envs[0].value, RANGE_OLD);
	assert_string_equal(q->envs[2].key, PROFILE_ENV_TOOL);
	r = through_file(q);
	assert_int_equal(r->n_costs, q->n_costs);
	assert_string_equal(r->envs[0].value, RANGE_OLD);
	profile_destroy(p);
	profile_destroy(q);
	profile_destroy(r);
}

static void test_damaged_costs_are_refused(void **state)
{
	static const struct profile_cost damaged[] = {
		{ .mech = PROFILE_N_COSTS, .kind = PROFILE_COST_FULL },
		{ .mech = PROFILE_MECH_FENTRY, .kind = PROFILE_N_COST_KINDS },
		{ .mech = PROFILE_MECH_FENTRY, .kind = PROFILE_COST_FULL, .value = NAN },
		{ .mech = PROFILE_MECH_FENTRY, .kind = PROFILE_COST_FULL, .value = INFINITY },
	};

	(void)state;
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

/* Merged, the calibration is that of the first. */
static void test_a_merge_keeps_the_first(void **state)
{
	struct profile *a = calibrated(), *b = calibrated();

	(void)state;
	profile_cost_set(b, PROFILE_MECH_FENTRY, PROFILE_COST_FULL, 1000, 0);
	profile_cost_set(b, PROFILE_MECH_KPROBE, PROFILE_COST_FULL, 1000, 0);
	profile_merge(a, b);
	assert_text(a, PROFILE_MECH_FENTRY, "inner=98+-1 full=332+-2");
	assert_text(a, PROFILE_MECH_KPROBE, NULL);
	profile_destroy(a);
	profile_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_is_parsed),
		cmocka_unit_test(test_what_is_no_number_is_left_out),
		cmocka_unit_test(test_numbers_are_kept_in_files),
		cmocka_unit_test(test_older_files_are_read),
		cmocka_unit_test(test_damaged_costs_are_refused),
		cmocka_unit_test(test_a_merge_keeps_the_first),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
