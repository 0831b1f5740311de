// SPDX-License-Identifier: GPL-2.0-or-later
/* Test figures of inlined functions: estimates from samples, measured times, and the comparison of two recordings. */
#include <math.h>

#include "test.h"
#include "analyze/stats/statistics.h"
#include "analyze/diff/diff.h"
#include "analyze/inline/ranges.h"
#include "fixture.h"

static const struct analyze_options oncpu;

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-6)

/*
 * The interval's ends by definition: the shares at which K or more, or K or fewer, occur in 2.5 % of all cases. The values were
 * found by bisection over sums of binomial probabilities, without a beta function.
 */
TEST(test_binomial)
{
	static const struct {
		double k, n, low, high;
	} known[] = {
		{ 0, 10, 0, 0.3084971078 },
		{ 10, 10, 0.6915028922, 1 },
		{ 5, 10, 0.1870860284, 0.8129139716 },
		{ 8, 484, 0.0071623366, 0.0323077847 },
		{ 1, 1, 0.025, 1 },
		{ 0, 300, 0, 0.0122209747 },
	};
	struct analyze_estimated e;
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		e = analyze_binomial(known[i].k, known[i].n);
		if (fabs(e.low - known[i].low) > 1e-7 || fabs(e.high - known[i].high) > 1e-7)
			fail_msg("%g of %g: %.10f to %.10f", known[i].k, known[i].n, e.low, e.high);
		assert_near(e.value, known[i].k / known[i].n);
	}
	assert_near(analyze_binomial(0, 17).high, 1 - pow(0.025, 1.0 / 17));
	/* libRmath has no quantile for more samples, and would print a message to stdout. */
	assert_false(isnan(analyze_binomial(5e11, 1e12).low));
	assert_true(isnan(analyze_binomial(5e11, 2e12).low));
	assert_true(isnan(analyze_binomial(0, 0).value));
	assert_true(isnan(analyze_binomial(2, 1).value));
	assert_true(isnan(analyze_binomial(NAN, 1).value));
	assert_true(isnan(analyze_binomial(1, INFINITY).value));
}

/* Return the probability of K hits in N draws, each with probability P. */
static double binomial(double p, double k, double n)
{
	return exp(lgamma(n + 1) - lgamma(k + 1.0) - lgamma(n - k + 1) + k * log(p) +
		   (n - k) * log1p(-p));
}

/*
 * The true share of an inlined function with one sample may be any small share. One with many samples has the plain binomial
 * interval.
 */
TEST(test_binomial_seen)
{
	struct analyze_estimated e;
	double more;

	e = analyze_binomial_seen(1, 300);
	assert_true(e.low == 0);
	assert_near(e.value, 1.0 / 300);
	e = analyze_binomial_seen(1, 1);
	assert_true(e.low == 0 && e.high == 1);
	assert_true(analyze_binomial_seen(0, 300).high == analyze_binomial(0, 300).high);
	assert_true(analyze_binomial_seen(20, 300).low == analyze_binomial(20, 300).low);
	assert_true(isnan(analyze_binomial_seen(2, 1).value));
	/* By definition, 3 or more occur in 2.5 % of the cases with at least one. */
	e = analyze_binomial_seen(3, 40);
	more = 1 - binomial(e.low, 0, 40) - binomial(e.low, 1, 40) - binomial(e.low, 2, 40);
	assert_near(more / (1 - binomial(e.low, 0, 40)), 0.025);
}

/* Among the outcomes with at least one hit, the interval misses the true share in at most 5.05 %. */
TEST(test_binomial_seen_covers)
{
	static const double shares[] = { 1e-5, 0.001, 0.01, 0.1, 0.37, 0.9 };
	static const int draws[] = { 1, 5, 40, 484 };

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		for (size_t j = 0; j < sizeof(draws) / sizeof(draws[0]); j++) {
			double p = shares[i], n = draws[j], missed = 0;

			for (int k = 1; k <= n; k++) {
				struct analyze_estimated e = analyze_binomial_seen(k, n);

				if (p < e.low || p > e.high)
					missed += binomial(p, k, n);
			}
			if (missed > 0.0505 * (1 - binomial(p, 0, n)))
				fail_msg("share %g, %g draws: missed in %g of %g", p, n, missed,
					 1 - binomial(p, 0, n));
		}
	}
}

/* Among all outcomes of N draws, the interval misses the true share in at most 5 %. */
TEST(test_binomial_covers)
{
	static const double shares[] = { 0.001, 0.01, 0.1, 0.37, 0.5, 0.9 };
	static const int draws[] = { 1, 5, 40, 484 };
	size_t i, j;
	int k;

	for (i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		for (j = 0; j < sizeof(draws) / sizeof(draws[0]); j++) {
			double p = shares[i], n = draws[j], missed = 0;

			for (k = 0; k <= n; k++) {
				struct analyze_estimated e = analyze_binomial(k, n);

				if (p < e.low || p > e.high)
					missed += binomial(p, k, n);
			}
			if (missed > 0.05 + 1e-9)
				fail_msg("share %g, %g draws: missed in %g", p, n, missed);
		}
	}
}

TEST(test_sums)
{
	struct analyze_estimated a = { 10, 7, 14 }, b = { 100, 96, 103 }, c;

	c = analyze_estimated_add(&a, &b);
	assert_near(c.value, 110);
	assert_near(c.low, 105);
	assert_near(c.high, 115);
	c = analyze_estimated_difference(&a, &b);
	assert_near(c.value, 90);
	assert_near(c.low, 90 - hypot(4, 4));
	assert_near(c.high, 90 + hypot(3, 3));
	/* An exact figure adds no uncertainty. */
	a = (struct analyze_estimated){ 10, 10, 10 };
	c = analyze_estimated_difference(&a, &b);
	assert_near(c.low, 86);
	assert_near(c.high, 93);
}

/* Return the location of ADDR with frames NAMES: inlined functions, innermost first, and the function around them. */
static uint32_t place(struct profile *p, uint64_t addr, const char *const *names, uint32_t n)
{
	uint32_t location = profile_location_add(p, addr, NULL), i;

	for (i = 0; i < n; i++)
		profile_location_frame_add(p, location,
					   &(struct profile_frame){ .name = names[i],
								    .file = "mm/slub.c",
								    .line = 100 * i + 7,
								    .inlined = i + 1 < n });
	return location;
}

static void sample(struct profile *p, const char *context, uint32_t flags, uint64_t count,
		   const uint32_t *locations, uint32_t n)
{
	profile_sample_add(p, &(struct profile_sample){
				      .context = profile_context_add(p, context),
				      .stack = profile_stack_add(p, locations, n),
				      .flags = flags,
				      .count = count,
			      });
}

enum {
	SHUFFLE, /* shuffle_freelist, inlined into new_slab, inlined into allocate_slab */
	RANDOM, /* get_random_u32, called from SHUFFLE */
	SLAB, /* allocate_slab itself */
	COPY, /* copy_mm, inlined into copy_process */
	N_PLACES
};

static void places_add(struct profile *p, uint32_t places[N_PLACES])
{
	static const char *const shuffle[] = { "shuffle_freelist", "new_slab", "allocate_slab" };
	static const char *const copy[] = { "copy_mm", "copy_process" };

	places[SHUFFLE] = place(p, 0x100, shuffle, 3);
	places[RANDOM] = fixture_location(p, 0x200, "get_random_u32");
	places[SLAB] = place(p, 0x300, shuffle + 2, 1);
	places[COPY] = place(p, 0x400, copy, 2);
}

/* 1,000 ticks of clone; 40 samples: 10 in shuffle_freelist, 5 in its callee, 25 in allocate_slab. */
static struct profile *sampled(void)
{
	struct profile *p = profile_create();
	uint32_t at[N_PLACES], run = fixture_run(p, 1000);

	p->freq = 997;
	p->sample_period = 30;
	places_add(p, at);
	fixture_calls(profile_cell(p, run, 0, profile_context_add(p, "clone")), 10, 100, 100);
	sample(p, "clone", 0, 10, (uint32_t[]){ at[SHUFFLE], at[COPY] }, 2);
	sample(p, "clone", 0, 5, (uint32_t[]){ at[RANDOM], at[SHUFFLE], at[COPY] }, 3);
	sample(p, "clone", 0, 25, (uint32_t[]){ at[SLAB], at[COPY] }, 2);
	return p;
}

static const struct analyze_range *find(const struct analyze_ranges *r, const char *name,
					const char *context)
{
	uint32_t i;

	for (i = 0; i < r->n_rows; i++)
		if (!strcmp(r->rows[i].body.name, name) && !strcmp(r->rows[i].context, context))
			return &r->rows[i];
	return NULL;
}

static const struct analyze_range *row(const struct analyze_ranges *r, const char *name,
				       const char *context)
{
	const struct analyze_range *found = find(r, name, context);

	if (!found)
		fail_msg("no row %s in %s", name, context);
	return found;
}

TEST(test_estimate)
{
	struct profile *p = sampled();
	const struct analyze_range *r;
	struct analyze_ranges ranges;

	analyze_ranges_init(&ranges, p, &oncpu);
	r = row(&ranges, "shuffle_freelist", "clone");
	assert_string_equal(r->body.function, "allocate_slab");
	assert_string_equal(r->body.chain, "new_slab");
	/* An inlined call's line is in the next outer frame. */
	assert_string_equal(r->location, "mm/slub.c:107");
	assert_int_equal(r->side.source, ANALYZE_SOURCE_ESTIMATED);
	assert_true(r->side.estimate.samples == 15 && r->side.estimate.of == 40);
	assert_near(r->side.figures.total, 1000 * 15 / 40.0);
	assert_near(r->share, 15 / 40.0);
	assert_near(r->side.estimate.self_share, 10 / 40.0);
	assert_near(r->side.estimate.self_total, 250);
	assert_near(r->side.estimate.total.low, 1000 * analyze_binomial(15, 40).low);
	assert_near(r->side.high, analyze_binomial(15, 40).high);
	assert_true(isnan(r->side.figures.calls) && isnan(r->side.figures.mean));
	assert_true(isnan(r->side.entries));
	assert_int_equal(r->side.caveat, ANALYZE_CAVEAT_NONE);
	assert_false(r->redundant);
	/* With one context, the row of all contexts is redundant, so tables leave it out. */
	assert_true(row(&ranges, "shuffle_freelist", "*")->redundant);
	assert_near(row(&ranges, "shuffle_freelist", "*")->side.figures.total, 375);
	/* All samples of new_slab are in shuffle_freelist. copy_mm has all samples of clone, and none in its own code. */
	r = row(&ranges, "new_slab", "clone");
	assert_null(r->body.chain);
	assert_true(r->side.estimate.samples == 15 && r->redundant);
	assert_true(row(&ranges, "copy_mm", "clone")->redundant);
	analyze_ranges_deinit(&ranges);
	profile_destroy(p);
}

/* Functions inlined into a timed function get a share of that function's time only. */
TEST(test_within)
{
	struct profile *p = sampled();
	uint32_t clone = profile_context_add(p, "clone"), slab;
	const struct analyze_range *r;
	struct analyze_ranges ranges;

	slab = fixture_function(p, "allocate_slab", 1);
	fixture_calls(profile_cell(p, 0, slab, clone), 5, 120, 120);
	profile_cell(p, 0, slab, clone)->cost = 100;
	profile_cell(p, 0, slab, clone)->oncpu += 100;
	fixture_calls(profile_cell(p, 0, slab, profile_context_add(p, "mmap")), 5, 120, 120);
	analyze_ranges_init(&ranges, p, &oncpu);
	r = row(&ranges, "shuffle_freelist", "clone");
	assert_near(r->side.figures.total, 600 * 15 / 40.0);
	assert_near(r->side.estimate.total.high, 600 * analyze_binomial(15, 40).high);
	assert_near(r->side.estimate.share.value, 0.6 * 15 / 40);
	/* copy_process was not timed: functions inlined into it get a share of clone. */
	assert_near(row(&ranges, "copy_mm", "clone")->side.figures.total, 1000);
	analyze_ranges_deinit(&ranges);
	profile_destroy(p);
}

/* Leave out samples in probes, in user space and of control runs. */
TEST(test_left_out)
{
	struct profile *p = sampled();
	uint32_t at[N_PLACES], control = profile_run_add(p, PROFILE_RUN_CONTROL), i;
	const struct analyze_range *r;
	struct analyze_ranges ranges;

	for (i = 0; i < N_PLACES; i++)
		at[i] = i;
	sample(p, "clone", PROFILE_SAMPLE_PROBE, 100, at, 1);
	sample(p, "clone", PROFILE_SAMPLE_USER, 100, NULL, 0);
	sample(p, "[none]", PROFILE_SAMPLE_USER, 60, NULL, 0);
	profile_sample_add(p, &(struct profile_sample){ .run = control, .count = 1000 });
	analyze_ranges_init(&ranges, p, &oncpu);
	r = row(&ranges, "shuffle_freelist", "clone");
	assert_true(r->side.estimate.samples == 15 && r->side.estimate.of == 40);
	assert_near(r->side.figures.total, 375);
	analyze_ranges_deinit(&ranges);

	/* Interrupts have 100 of 400 samples: a quarter of each context's time. */
	sample(p, "[irq]", 0, 100, (uint32_t[]){ at[RANDOM] }, 1);
	analyze_ranges_init(&ranges, p, &oncpu);
	assert_near(row(&ranges, "shuffle_freelist", "clone")->side.figures.total, 375 * 0.75);
	assert_near(row(&ranges, "shuffle_freelist", "clone")->share, 0.375);
	analyze_ranges_deinit(&ranges);
	profile_destroy(p);
}

/* In a context without measured time, each sample counts as one sampling period. */
TEST(test_untimed_context)
{
	struct profile *p = sampled();
	uint32_t at = SHUFFLE, asm_irq;
	const struct analyze_range *r;
	struct analyze_ranges ranges;

	sample(p, "[none]", 0, 5, &at, 1);
	analyze_ranges_init(&ranges, p, &oncpu);
	r = row(&ranges, "shuffle_freelist", "[none]");
	assert_near(r->side.figures.total, 5 * 30);
	assert_near(r->side.estimate.total.high, 45 * 30 * analyze_binomial(5, 45).high);
	assert_near(r->share, 1);
	r = row(&ranges, "shuffle_freelist", "*");
	assert_near(r->side.figures.total, 375 + 150);
	assert_true(r->side.estimate.samples == 20 && !r->redundant);
	assert_true(r->side.estimate.total.low < 525 && r->side.estimate.total.high > 525);
	analyze_ranges_deinit(&ranges);

	/* Functions that an interrupt interrupted are not part of the interrupt's work. */
	asm_irq = fixture_location(p, 0x500, "asm_sysvec_apic_timer_interrupt");
	sample(p, "[irq]", 0, 1, (uint32_t[]){ COPY, asm_irq, SHUFFLE }, 3);
	analyze_ranges_init(&ranges, p, &oncpu);
	assert_null(find(&ranges, "shuffle_freelist", "[irq]"));
	assert_non_null(find(&ranges, "copy_mm", "[irq]"));
	analyze_ranges_deinit(&ranges);
	profile_destroy(p);
}

/* An inlined function that occurs twice in a stack counts once. */
TEST(test_recursion)
{
	struct profile *p = sampled();
	const struct analyze_range *r;
	struct analyze_ranges ranges;

	sample(p, "clone", 0, 3, (uint32_t[]){ COPY, SHUFFLE, COPY, SHUFFLE }, 4);
	analyze_ranges_init(&ranges, p, &oncpu);
	r = row(&ranges, "shuffle_freelist", "clone");
	assert_true(r->side.estimate.samples == 18);
	assert_near(row(&ranges, "copy_mm", "clone")->side.estimate.self_share, 3 / 43.0);
	analyze_ranges_deinit(&ranges);
	profile_destroy(p);
}

TEST(test_late)
{
	struct profile *p = sampled();
	const struct analyze_range *r;
	struct analyze_ranges ranges;

	/* One late sample of 16 causes no caveat. */
	sample(p, "clone", PROFILE_SAMPLE_LATE, 1, (uint32_t[]){ SHUFFLE, COPY }, 2);
	analyze_ranges_init(&ranges, p, &oncpu);
	assert_int_equal(row(&ranges, "shuffle_freelist", "clone")->side.caveat,
			 ANALYZE_CAVEAT_NONE);
	assert_true(row(&ranges, "shuffle_freelist", "clone")->side.estimate.late == 1);
	analyze_ranges_deinit(&ranges);

	/* Late samples in callees of the inlined function cause no caveat, because all its callees count for it. */
	sample(p, "clone", PROFILE_SAMPLE_LATE, 40, (uint32_t[]){ RANDOM, SHUFFLE, COPY }, 3);
	analyze_ranges_init(&ranges, p, &oncpu);
	assert_int_equal(row(&ranges, "shuffle_freelist", "clone")->side.caveat,
			 ANALYZE_CAVEAT_NONE);
	analyze_ranges_deinit(&ranges);

	/* Samples at the return of the surrounding function may belong to the inlined function. */
	sample(p, "clone", PROFILE_SAMPLE_AT_RETURN, 30, (uint32_t[]){ SLAB, COPY }, 2);
	analyze_ranges_init(&ranges, p, &oncpu);
	r = row(&ranges, "shuffle_freelist", "clone");
	assert_true(r->side.estimate.missing == 30 && r->side.estimate.late == 1);
	assert_int_equal(r->side.caveat, ANALYZE_CAVEAT_IRQS_OFF);
	assert_int_equal(row(&ranges, "copy_mm", "clone")->side.caveat, ANALYZE_CAVEAT_NONE);
	analyze_ranges_deinit(&ranges);
	profile_destroy(p);
}

/* An inlined function that was timed and sampled has one row: the exact time, with the estimate beside it. */
TEST(test_exact)
{
	struct profile *p = sampled();
	uint32_t clone = profile_context_add(p, "clone"), site;
	const struct analyze_range *r;
	struct analyze_ranges ranges;

	site = fixture_range(p, "shuffle_freelist", "new_slab", "allocate_slab", 107);
	fixture_entries(profile_cell(p, 0, site, clone), 4, 8, 50, 50);
	fixture_range(p, "never", NULL, "allocate_slab", 9);
	analyze_ranges_init(&ranges, p, &oncpu);
	r = row(&ranges, "shuffle_freelist", "clone");
	assert_int_equal(r->side.source, ANALYZE_SOURCE_EXACT);
	assert_true(r->side.figures.total == 400 && r->side.figures.mean == 100);
	assert_true(r->side.figures.calls == 4 && r->side.entries == 8);
	assert_true(r->side.figures.p50 == 50);
	assert_near(r->share, 0.4);
	assert_true(isnan(r->side.low));
	assert_true(r->side.estimate.samples == 15);
	assert_near(r->side.estimate.total.value, 375);
	assert_true(row(&ranges, "never", "*")->side.figures.calls == 0);
	assert_int_equal(row(&ranges, "never", "*")->side.source, ANALYZE_SOURCE_EXACT);
	analyze_ranges_sort_by_total(&ranges);
	assert_string_equal(ranges.rows[0].body.name, "shuffle_freelist");
	assert_string_equal(ranges.rows[2].body.name, "never");
	analyze_ranges_deinit(&ranges);

	/* One of two copies of an inlined function could not be timed, so their sum is not a measurement. */
	p->sites[site + 1].name = profile_intern(p, "shuffle_freelist");
	p->sites[site + 1].chain = profile_intern(p, "new_slab");
	p->sites[site + 1].line = 107;
	p->sites[site + 1].estimated = profile_intern(p, "an indirect jump");
	analyze_ranges_init(&ranges, p, &oncpu);
	r = row(&ranges, "shuffle_freelist", "clone");
	assert_int_equal(r->side.source, ANALYZE_SOURCE_ESTIMATED);
	assert_string_equal(r->side.why, "an indirect jump");
	assert_near(r->side.figures.total, 375);
	assert_false(r->redundant);
	analyze_ranges_deinit(&ranges);
	profile_destroy(p);
}

TEST(test_other_times)
{
	struct profile *p = sampled();
	struct analyze_ranges ranges;
	const struct analyze_options wall = { .time = ANALYZE_TIME_WALL };

	analyze_ranges_init(&ranges, p, &wall);
	assert_true(isnan(row(&ranges, "shuffle_freelist", "clone")->side.figures.total));
	assert_near(row(&ranges, "shuffle_freelist", "clone")->side.estimate.total.value, 375);
	assert_true(row(&ranges, "shuffle_freelist", "clone")->redundant);
	analyze_ranges_deinit(&ranges);
	profile_destroy(p);
}

TEST(test_nothing)
{
	struct profile *p = profile_create();
	struct analyze_ranges ranges;

	analyze_ranges_init(&ranges, p, &oncpu);
	assert_int_equal(ranges.n_rows, 0);
	analyze_ranges_deinit(&ranges);
	fixture_run(p, 1);
	sample(p, "read", 0, 0, NULL, 0);
	sample(p, "read", 0, 3, NULL, 0);
	analyze_ranges_init(&ranges, p, &oncpu);
	assert_int_equal(ranges.n_rows, 0);
	analyze_ranges_deinit(&ranges);
	profile_destroy(p);
}

RUN_TESTS(NULL, NULL)
