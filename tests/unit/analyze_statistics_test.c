// SPDX-License-Identifier: GPL-2.0-or-later
/* Check statistics against R's figures, printed by analyze_statistics_test.R. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "test.h"
#include "analyze/stats/change.h"
#include "analyze/stats/statistics.h"

#define N(array)       (sizeof(array) / sizeof((array)[0]))
#define MOMENTS(array) analyze_moments_of(array, N(array))

/* Measured: unprobed ms of big-fork on two lab kernels, with the random generator seeded and unseeded. */
static const double seeded_a[] = { 11.809, 11.812, 11.803 },
		    seeded_b[] = { 11.878, 11.879, 11.880 };
static const double unseeded_a[] = { 11.787, 11.793, 11.789 },
		    unseeded_b[] = { 14.137, 14.027, 14.118 };
static const double uneven_a[] = { 100.2, 99.1, 101.7, 98.4, 100.9, 99.6, 100.3 },
		    uneven_b[] = { 107.0, 95.5, 103.1, 99.9, 112.4 };
/* Three values that agree by chance: Satterthwaite alone gives 7.1 degrees of freedom. */
static const double agreeing_a[] = { 100.3, 101.4, 99.7 },
		    agreeing_b[] = { 101.2, 98.4, 103.1, 100.7, 102.9, 99.5, 101.8, 100.9 };
static const double two_a[] = { 10, 11 }, two_b[] = { 12, 12.5 };
static const double huge_a[] = { 1e15, 1e15 + 64, 1e15 + 128, 1e15 + 256 },
		    huge_b[] = { 1e15 + 512, 1e15 + 640, 1e15 + 1024, 1e15 + 832 };

static void near(double value, double expected, double tolerance, const char *what)
{
	if (!(fabs(value - expected) <= tolerance * fmax(fabs(expected), 1e-300)))
		fail_msg("%s: %.12g instead of %.12g", what, value, expected);
}

/* Return the moments of N values. One value has a mean only. */
static struct analyze_moments spread(uint32_t n, double mean, double deviation)
{
	return (struct analyze_moments){ .n = n, .mean = mean, .variance = deviation * deviation };
}

struct welch_case {
	const char *name;
	struct analyze_moments a, b;
	double difference, error, df, p, low, high;
	double ratio95[2], ratio90[2];
	double tolerance;
};

static void check_welch(const struct welch_case *c)
{
	struct analyze_welch w = analyze_welch_form(&c->a, &c->b);
	struct analyze_interval i = analyze_welch_interval(&w, 0.95);

	near(w.difference, c->difference, c->tolerance, c->name);
	near(w.error, c->error, c->tolerance, c->name);
	near(w.df, c->df, c->tolerance, c->name);
	near(w.p, c->p, c->tolerance, c->name);
	near(i.low, c->low, c->tolerance, c->name);
	near(i.high, c->high, c->tolerance, c->name);
	if (!c->ratio95[0])
		return;
	i = analyze_ratio_interval(&c->a, &c->b, 0.95);
	near(i.low, c->ratio95[0], c->tolerance, c->name);
	near(i.high, c->ratio95[1], c->tolerance, c->name);
	i = analyze_ratio_interval(&c->a, &c->b, 0.90);
	near(i.low, c->ratio90[0], c->tolerance, c->name);
	near(i.high, c->ratio90[1], c->tolerance, c->name);
}

TEST(test_welch)
{
	const struct welch_case cases[] = {
		{ "seeded",
		  MOMENTS(seeded_a),
		  MOMENTS(seeded_b),
		  0.071,
		  0.002708012801545,
		  2.190045248868970,
		  0.000887991547313,
		  0.060265613004250,
		  0.081734386995749,
		  { 0.00509856908866, 0.00692876615662 },
		  { 0.00537756621706, 0.00664894631190 },
		  1e-9 },
		{ "unseeded",
		  MOMENTS(unseeded_a),
		  MOMENTS(unseeded_b),
		  2.304333333333332,
		  0.033991829083538,
		  2.010799265608429,
		  0.000209320872707,
		  2.158828445285150,
		  2.449838221381515,
		  { 0.183132250195, 0.207776017798 },
		  { 0.187073965966, 0.203833777281 },
		  1e-9 },
		{ "uneven",
		  MOMENTS(uneven_a),
		  MOMENTS(uneven_b),
		  3.551428571429,
		  2.933002223118,
		  4.166149920115,
		  0.290131261052,
		  -4.465396197632,
		  11.568253340489,
		  { -0.0444840482853, 0.1157625571305 },
		  { -0.0262146118145, 0.0973836536457 },
		  1e-9 },
		{ "agreeing",
		  MOMENTS(agreeing_a),
		  MOMENTS(agreeing_b),
		  0.595833333333,
		  0.751834726751,
		  3.315068493151,
		  0.480882769628,
		  -1.673199402966,
		  2.864866069633,
		  { -0.0164917668002, 0.0288030161914 },
		  { -0.0109376954906, 0.0230523922034 },
		  1e-9 },
		{ "two",
		  MOMENTS(two_a),
		  MOMENTS(two_b),
		  1.75,
		  0.559016994375,
		  1.470588235294,
		  0.129047835548,
		  -1.709261415036,
		  5.209261415036,
		  { -0.159494488915, 0.784830866924 },
		  { -0.045163677763, 0.472245019549 },
		  1e-9 },
		{ "huge",
		  MOMENTS(huge_a),
		  MOMENTS(huge_b),
		  640,
		  124.622095419,
		  4.35193133047,
		  5.41040177077e-3,
		  304.754166396,
		  975.245833604,
		  { 0 },
		  { 0 },
		  1e-9 },
	};
	size_t i;

	for (i = 0; i < N(cases); i++)
		check_welch(&cases[i]);
}

TEST(test_systematic)
{
	struct welch_case c = { "systematic",
				MOMENTS(seeded_a),
				MOMENTS(seeded_b),
				0.071,
				0.00568624070308,
				9.60837375543,
				2.95908691686e-07,
				0.0582599183086,
				0.0837400816914,
				{ 0 },
				{ 0 },
				1e-9 };
	struct welch_case unlike = { "systematic, unlike numbers",
				     MOMENTS(agreeing_a),
				     MOMENTS(agreeing_b),
				     0.595833333333,
				     0.902914977365,
				     6.341560485900,
				     0.532540912768,
				     -1.584992879929,
				     2.776659546596,
				     { 0 },
				     { 0 },
				     1e-9 };
	struct analyze_moments exact = spread(5, 10, 0), certain = exact;
	struct analyze_welch w;

	c.a.systematic = 0.003;
	c.b.systematic = 0.004;
	check_welch(&c);
	unlike.a.systematic = 0.3;
	unlike.b.systematic = 0.4;
	check_welch(&unlike);
	/*
	 * Only systematic uncertainty: one recording has the calibration's four degrees of freedom, two equal recordings have
	 * twice as many.
	 */
	exact.systematic = 3;
	w = analyze_welch_form(&exact, &exact);
	near(w.df, 8, 1e-12, "degrees of freedom");
	near(analyze_welch_interval(&w, 0.95).high, 2.306004135204 * sqrt(18), 1e-9,
	     "both systematic");
	near(w.p, 1, 0, "p of equal means");
	w = analyze_welch_form(&certain, &exact);
	near(analyze_welch_interval(&w, 0.95).high, ANALYZE_SYSTEMATIC_REACH * 3, 1e-9, "one");
}

/* Unknown results are NAN; values that do not vary are exact. */
TEST(test_welch_edges)
{
	const double same[] = { 7, 7, 7 }, more[] = { 8, 8, 8 }, big[] = { 1e308, -1e308, 1e308 };
	struct analyze_moments none = analyze_moments_of(same, 0),
			       one = analyze_moments_of(same, 1);
	struct analyze_moments a = MOMENTS(same), b = MOMENTS(more);
	struct analyze_interval i;
	struct analyze_welch w;

	assert_true(isnan(none.mean) && isnan(none.variance));
	assert_true(one.mean == 7 && isnan(one.variance));
	assert_true(a.mean == 7 && a.variance == 0);
	w = analyze_welch_form(&one, &b);
	assert_true(w.difference == 1 && isnan(w.error) && isnan(w.df) && isnan(w.p));
	i = analyze_welch_interval(&w, 0.95);
	assert_true(isnan(i.low) && isnan(i.high));
	i = analyze_ratio_interval(&one, &b, 0.95);
	assert_true(isnan(i.low) && isnan(i.high));
	assert_false(analyze_is_same(&one, &one, 0.01));
	w = analyze_welch_form(&none, &b);
	assert_true(isnan(w.difference) && isnan(w.p));

	w = analyze_welch_form(&a, &a);
	assert_true(w.p == 1 && w.error == 0);
	assert_true(analyze_is_same(&a, &a, 0.01));
	w = analyze_welch_form(&a, &b);
	i = analyze_welch_interval(&w, 0.95);
	assert_true(w.p == 0 && i.low == 1 && i.high == 1);
	i = analyze_ratio_interval(&a, &b, 0.95);
	near(i.low, 1.0 / 7, 1e-12, "ratio");
	near(i.high, 1.0 / 7, 1e-12, "ratio");

	/* A relative change is undefined unless the baseline is significantly above 0. */
	a = spread(3, 1, 2);
	i = analyze_ratio_interval(&a, &b, 0.95);
	assert_true(isnan(i.low) && isnan(i.high));
	a = spread(3, -5, 0);
	i = analyze_ratio_interval(&a, &b, 0.95);
	assert_true(isnan(i.low));
	/* Results beyond the range of squares are unknown, not wrong. */
	a = MOMENTS(big);
	w = analyze_welch_form(&a, &b);
	assert_true(isnan(w.p));
}

TEST(test_same)
{
	struct analyze_moments a = MOMENTS(seeded_a), b = MOMENTS(seeded_b);

	/* The 90 % interval of the change is +0.54 to +0.66 %. */
	assert_true(analyze_is_same(&a, &b, 0.01));
	assert_true(analyze_is_same(&a, &b, 0.0067));
	assert_false(analyze_is_same(&a, &b, 0.0066));
	assert_true(analyze_is_same(&b, &a, 0.0067));
	assert_false(analyze_is_same(&a, &b, 0));
}

TEST(test_adjust)
{
	double p[] = { 0.01, 0.04, 0.03, NAN, 0.005, 0.55, 0.04 }, equal[] = { 0.5, 0.5, 0.5 };
	const double expected[] = { 0.030, 0.048, 0.048, NAN, 0.030, 0.550, 0.048 };
	size_t i;

	analyze_adjust(p, N(p));
	for (i = 0; i < N(p); i++) {
		if (isnan(expected[i]))
			assert_true(isnan(p[i]));
		else
			near(p[i], expected[i], 1e-12, "BH");
	}
	analyze_adjust(equal, N(equal));
	assert_true(equal[0] == 0.5 && equal[2] == 0.5);
	analyze_adjust(NULL, 0);
}

TEST(test_verdict)
{
	assert_int_equal(analyze_verdict_of(true, 5, 0.001), ANALYZE_VERDICT_SAME);
	assert_int_equal(analyze_verdict_of(false, 5, 0.049), ANALYZE_VERDICT_SLOWER);
	assert_int_equal(analyze_verdict_of(false, -5, 0.049), ANALYZE_VERDICT_FASTER);
	assert_int_equal(analyze_verdict_of(false, 5, 0.05), ANALYZE_VERDICT_UNCLEAR);
	assert_int_equal(analyze_verdict_of(true, 0, NAN), ANALYZE_VERDICT_NONE);
}

static double needed(double s_a, double s_b, double difference, double margin, double level)
{
	struct analyze_moments a = spread(3, 100, s_a), b = spread(3, 100 + difference, s_b);

	return analyze_boots_needed(&a, &b, margin, level);
}

TEST(test_boots_needed)
{
	struct analyze_moments a = spread(3, 100, 1), b = spread(3, 102, 1),
			       one = spread(1, 0, NAN);

	assert_true(needed(1, 1, 1.5, 0.001, 0.05) == 9);
	assert_true(needed(1, 2, 2.5, 0.001, 0.01) == 12);
	/* The exact number is 19. The computation approximates it by the t distribution. */
	assert_int_equal(needed(1, 1, 0.1, 0.01, 0.05), 20);

	assert_true(isnan(analyze_boots_needed(&one, &a, 0.01, 0.05)));
	/* No number of boots is enough if the calibration's uncertainty is too large. */
	a.systematic = b.systematic = 1;
	assert_true(isnan(analyze_boots_needed(&a, &b, 0.001, 0.05)));
	a.systematic = b.systematic = 0;
	assert_false(isnan(analyze_boots_needed(&a, &b, 0.001, 0.05)));
	/* The number of boots is undefined without a difference and a margin. */
	assert_true(isnan(needed(1, 1, 0, 0, 0.05)));
}

/* libRmath prints warnings about difficult arguments to stdout. Use difficult arguments; stdout must stay empty. */
TEST(test_silence)
{
	static const double deviations[] = { 1e-12, 1e-3, 1, 1e3, 1e15 };
	char name[] = "/tmp/statistics.XXXXXX";
	int saved = dup(STDOUT_FILENO), file = mkstemp(name);
	uint32_t n[] = { 2, 3, 20, 10000 };
	size_t i, j, k;
	off_t written;

	assert_true(saved >= 0 && file >= 0);
	fflush(stdout);
	dup2(file, STDOUT_FILENO);
	for (i = 0; i < N(deviations); i++) {
		for (j = 0; j < N(deviations); j++) {
			for (k = 0; k < N(n); k++) {
				struct analyze_moments a = spread(n[k], 1e6, deviations[i]);
				struct analyze_moments b = spread(n[k], 1e6 + 1, deviations[j]);

				analyze_boots_needed(&a, &b, 0.01, 1e-6);
				analyze_ratio_interval(&a, &b, 0.95);
			}
		}
	}
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	written = lseek(file, 0, SEEK_END);
	close(file);
	close(saved);
	unlink(name);
	assert_int_equal(written, 0);
}

RUN_TESTS(NULL, NULL)
