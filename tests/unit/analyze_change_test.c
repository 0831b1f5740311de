// SPDX-License-Identifier: GPL-2.0-or-later
/* Compute intervals and verdicts of a diff from the repetitions in profiles. */
#include <math.h>

#include "test.h"
#include "analyze/diff/diff.h"
#include "analyze/diff/diff.h"
#include "fixture.h"
#include "profile/merge.h"
#include "view/words.h"

static const struct analyze_options oncpu;

static void near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected))))
		fail_msg("%.12g instead of %.12g", value, expected);
}

/* Add a run of BOOT: CALLS calls of the syscall NAME that take TOTAL ticks together. */
static void add_run(struct profile *p, uint32_t boot, const char *name, uint64_t calls,
		    uint64_t total)
{
	uint32_t context = profile_context_add(p, name), run = fixture_run(p, 1000);
	struct profile_stats *s = profile_cell(p, run, 0, context);

	p->runs[run].boot = boot;
	s->calls = calls;
	s->errors = 0;
	s->wall = s->oncpu = total;
	s->self = (int64_t)total;
}

/* Create a profile with N boots of one run each, with 10 calls of clone per run. MEANS: clone's mean time in each boot. */
static struct profile *boots(const double *means, uint32_t n)
{
	struct profile *p = profile_create();
	uint32_t i;

	p->clock = PROFILE_CLOCK_INSN;
	for (i = 0; i < n; i++)
		add_run(p, i, "clone", 10, (uint64_t)(10 * means[i]));
	return p;
}

static void sample_of(struct analyze_sample *s, const struct analyze_sums *sums, uint32_t n)
{
	uint32_t i;

	*s = (struct analyze_sample){ 0 };
	/* Add the sums out of order, and calls and totals separately. */
	for (i = n; i-- > 0;)
		analyze_sample_add(s, i, sums[i].calls, 0);
	for (i = 0; i < n; i++)
		analyze_sample_add(s, i, 0, sums[i].total);
}

TEST(test_repetitions)
{
	struct profile *p = profile_create();
	struct analyze_repetitions r;
	uint32_t control;

	add_run(p, 0, "clone", 1, 1);
	add_run(p, 0, "clone", 1, 1);
	control = profile_run_add(p, PROFILE_RUN_CONTROL);
	analyze_repetitions_init(&r, p, PROFILE_RUN_PROBED);
	assert_true(r.unit == ANALYZE_UNIT_RUN && r.n == 2);
	assert_true(r.of_run[0] == 0 && r.of_run[1] == 1);
	assert_true(r.of_run[control] == ANALYZE_NO_REPETITION);
	analyze_repetitions_deinit(&r);
	analyze_repetitions_init(&r, p, PROFILE_RUN_CONTROL);
	assert_true(r.unit == ANALYZE_UNIT_RUN && r.n == 1 && r.of_run[control] == 0);
	analyze_repetitions_deinit(&r);

	/* Four runs in two boots are two repetitions. */
	add_run(p, 1, "clone", 1, 1);
	add_run(p, 1, "clone", 1, 1);
	analyze_repetitions_init(&r, p, PROFILE_RUN_PROBED);
	assert_true(r.unit == ANALYZE_UNIT_BOOT && r.n == 2);
	assert_true(r.of_run[0] == 0 && r.of_run[1] == 0 && r.of_run[3] == 1 && r.of_run[4] == 1);
	analyze_repetitions_deinit(&r);
	profile_destroy(p);
}

TEST(test_sample_moments)
{
	const struct analyze_sums equal[] = { { 10, 1000 }, { 10, 1020 }, { 10, 1070 } };
	const struct analyze_sums unlike[] = { { 10, 1000 }, { 0, 0 }, { 30, 3300 }, { 20, 1900 } };
	const struct analyze_sums one[] = { { 4, 10 } };
	struct analyze_moments m;
	struct analyze_sample s;

	/* With equal numbers of calls the values are the means: 100, 102 and 107. */
	sample_of(&s, equal, 3);
	m = analyze_sample_moments(&s);
	assert_int_equal(m.n, 3);
	near(m.mean, 103);
	near(m.variance, 13);
	analyze_sample_deinit(&s);

	/*
	 * With unequal numbers of calls the mean is total / calls, 6200 / 60. Jackknife: the means without one sum are 104,
	 * 96.67 (2900 / 30), 107.5; the pseudo-values, 3 * 103.33 - 2 * these, are 102, 116.67, 95; their mean is 104.56, and
	 * their variance 122.26.
	 */
	sample_of(&s, unlike, 4);
	s.uncertainty = 120;
	m = analyze_sample_moments(&s);
	assert_int_equal(m.n, 3);
	near(m.mean, 6200 / 60.0);
	near(m.variance, 3301 / 27.0);
	near(m.systematic, 2);
	analyze_sample_deinit(&s);

	sample_of(&s, one, 1);
	m = analyze_sample_moments(&s);
	assert_true(m.n == 1 && m.mean == 2.5 && isnan(m.variance));
	analyze_sample_deinit(&s);
	sample_of(&s, unlike + 1, 1);
	m = analyze_sample_moments(&s);
	assert_true(m.n == 0 && isnan(m.mean));
	analyze_sample_deinit(&s);
}

/* Compute the calibration's uncertainty. The expected values are computed by hand as in docs/internals/statistics.md. */
TEST(test_calibration)
{
	struct profile *p = profile_create();
	uint32_t clone, slab, other;
	struct analyze_calibration c;
	struct profile_stats *s;
	const double mad = 1.482602218505602;

	profile_cost_set(p, PROFILE_MECH_TRACEPOINT, PROFILE_COST_INNER, 40, 2);
	profile_cost_set(p, PROFILE_MECH_TRACEPOINT, PROFILE_COST_FULL, 90, 4);
	profile_cost_set(p, PROFILE_MECH_FENTRY, PROFILE_COST_INNER, 100, 3);
	profile_cost_set(p, PROFILE_MECH_FENTRY, PROFILE_COST_FULL, 300, 6);
	profile_cost_set(p, PROFILE_MECH_KPROBE, PROFILE_COST_INNER, 200, 5);
	profile_cost_set(p, PROFILE_MECH_KPROBE, PROFILE_COST_FULL, 600, 60);
	add_run(p, 0, "clone", 10, 1000000);
	clone = profile_context_add(p, "clone");
	slab = fixture_function(p, "allocate_slab", 1);
	other = fixture_function(p, "copy_process", 2);
	p->sites[0].mech = PROFILE_MECH_TRACEPOINT;
	p->sites[other].mech = PROFILE_MECH_KPROBE;
	s = profile_cell(p, 0, slab, clone);
	s->calls = 100;
	s->cost = 100 * 100;
	s = profile_cell(p, 0, other, clone);
	s->calls = 10;
	s->cost = 10 * 200 + 50 * 300;
	s = profile_cell(p, 0, 0, clone);
	s->cost = 10 * 40 + 100 * 300 + 10 * 600;
	analyze_calibration_init(&c, p, ANALYZE_OF_TIME);
	/* Probes of calls in clone cost 36,000 ticks. A thirtieth of this, 100 * 6 + 10 * 60, is uncertain. */
	near(analyze_calibration_uncertainty(&c, p, &p->cells[0]), (10 * 2 + 36000 / 30.0) * mad);
	near(analyze_calibration_uncertainty(&c, p, &p->cells[1]), 100 * 3 * mad);
	near(analyze_calibration_uncertainty(&c, p, &p->cells[2]), (10 * 5 + 15000 / 30.0) * mad);
	p->cells[1].stats.cost = 0;
	assert_true(analyze_calibration_uncertainty(&c, p, &p->cells[1]) == 0);
	analyze_calibration_deinit(&c);

	/* One sample per 50,000 ticks: 20 in clone's million. Their 800 ticks each are not costs of nested calls. */
	profile_cost_set(p, PROFILE_COSTS_SAMPLE, PROFILE_COST_LATENCY, 3, NAN);
	profile_cost_set(p, PROFILE_COSTS_SAMPLE, PROFILE_COST_INTERRUPT, 800, 7);
	p->sample_period = 50000;
	p->cells[0].stats.cost += 20 * 800;
	analyze_calibration_init(&c, p, ANALYZE_OF_TIME);
	near(analyze_calibration_uncertainty(&c, p, &p->cells[0]),
	     (10 * 2 + 36000 / 30.0 + 20 * 7) * mad);
	analyze_calibration_deinit(&c);
	profile_destroy(p);
}

static void check_verdict(const double *a, uint32_t n_a, const double *b, uint32_t n_b,
			  double margin_pct, enum analyze_verdict verdict)
{
	struct profile *pa = boots(a, n_a), *pb = boots(b, n_b);
	struct analyze_options options = { .margin_pct = margin_pct };
	const struct analyze_change *c;
	struct analyze_diff d;

	assert_int_equal(analyze_diff_init(&d, pa, pb, &options), 0);
	c = &d.syscalls.rows[0].change;
	if (c->verdict != verdict)
		fail_msg("verdict %d instead of %d", c->verdict, verdict);
	assert_true(isnan(c->p) == (verdict == ANALYZE_VERDICT_NONE));
	assert_true(isnan(c->boots_needed) == (verdict != ANALYZE_VERDICT_UNCLEAR));
	if (verdict != ANALYZE_VERDICT_NONE) {
		assert_true(c->ci.low <= d.syscalls.rows[0].delta);
		assert_true(c->ci.high >= d.syscalls.rows[0].delta);
	}
	analyze_diff_deinit(&d);
	profile_destroy(pa);
	profile_destroy(pb);
}

TEST(test_verdicts)
{
	const double seeded_a[] = { 11809, 11812, 11803 }, seeded_b[] = { 11878, 11879, 11880 };
	const double unseeded_b[] = { 14137, 14027, 14118 }, loose[] = { 11000, 12000, 13000 };

	check_verdict(seeded_a, 3, seeded_b, 3, 0, ANALYZE_VERDICT_SAME);
	check_verdict(seeded_a, 3, seeded_b, 3, 0.2, ANALYZE_VERDICT_SLOWER);
	check_verdict(seeded_b, 3, seeded_a, 3, 0.2, ANALYZE_VERDICT_FASTER);
	check_verdict(seeded_a, 3, unseeded_b, 3, 0, ANALYZE_VERDICT_SLOWER);
	check_verdict(seeded_a, 3, loose, 3, 0, ANALYZE_VERDICT_UNCLEAR);
	check_verdict(seeded_a, 1, seeded_b, 3, 0, ANALYZE_VERDICT_NONE);
	check_verdict(seeded_a, 1, seeded_b, 1, 0, ANALYZE_VERDICT_NONE);
}

/* Create a recording of five runs on a real clock, made in SECOND. The runs differ less than recordings differ from each other. */
static struct profile *recording(double mean, uint32_t second)
{
	struct profile *p = profile_create();
	char time[32];
	uint32_t i;

	for (i = 0; i < 5; i++)
		add_run(p, 0, "clone", 10, (uint64_t)(10 * mean + 2 * i));
	snprintf(time, sizeof(time), "2026-01-01T00:00:%02uZ", second);
	profile_env_set(p, PROFILE_ENV_TIME, time);
	profile_env_set(p, PROFILE_ENV_BOOTS, "b");
	return p;
}

/* Merge recordings of MEANS, made at the positions of the letter SIDE in ORDER, like "abba". */
static struct profile *recordings(const double *means, const char *order, char side)
{
	struct profile *p = NULL, *more;
	uint32_t i;

	for (i = 0; order[i]; i++) {
		if (order[i] != side)
			continue;
		more = recording(*means++, i);
		if (p) {
			profile_merge(p, more);
			profile_destroy(more);
		} else {
			p = more;
		}
	}
	return p;
}

static void check_recordings(const double *a, const double *b, const char *order,
			     enum analyze_repetitions_note note, enum analyze_verdict verdict)
{
	struct profile *pa = recordings(a, order, 'a'), *pb = recordings(b, order, 'b');
	bool undecided = analyze_repetitions_undecided(note);
	struct analyze_diff d;

	assert_int_equal(analyze_diff_init(&d, pa, pb, &oncpu), 0);
	assert_int_equal(d.repetitions.note, note);
	assert_int_equal(d.syscalls.rows[0].change.verdict, verdict);
	assert_true(isnan(d.syscalls.rows[0].change.boots_needed) || !undecided);
	/*
	 * As control, use recordings of the same kernel that differ as much as the two kernels' recordings do. A control of one
	 * recording does not change the verdict. A control of three does if each kernel's recordings were made in a row.
	 */
	if (verdict == ANALYZE_VERDICT_UNCLEAR && undecided) {
		const double again[] = { a[0] + 9, a[0] - 1, a[0] + 4 };
		struct profile *one = recordings(again, "a", 'a'),
			       *three = recordings(again, "aaa", 'a');
		bool enough = note == ANALYZE_REPETITIONS_IN_A_ROW;

		assert_int_equal(analyze_diff_control(&d, pa, one, &oncpu), 0);
		assert_int_equal(d.syscalls.rows[0].change.verdict, verdict);
		assert_int_equal(analyze_diff_control(&d, pa, three, &oncpu), 0);
		assert_int_equal(d.syscalls.rows[0].change.verdict,
				 enough ? ANALYZE_VERDICT_SLOWER : verdict);
		profile_destroy(one);
		profile_destroy(three);
	}
	analyze_diff_deinit(&d);
	profile_destroy(pa);
	profile_destroy(pb);
}

/*
 * Runs of one recording differ less than recordings differ from each other. Judged by runs alone, 10 of the host's 20 A/A
 * comparisons were false alarms.
 */
TEST(test_recordings)
{
	const double means[] = { 100, 108, 95 }, others[] = { 103, 111, 97 },
		     slow[] = { 160, 171, 155 };

	check_recordings(means, others, "ab", ANALYZE_REPETITIONS_ONE_RECORDING,
			 ANALYZE_VERDICT_UNCLEAR);
	check_recordings(means, slow, "ab", ANALYZE_REPETITIONS_ONE_RECORDING,
			 ANALYZE_VERDICT_UNCLEAR);
	check_recordings(means, slow, "aaab", ANALYZE_REPETITIONS_ONE_RECORDING,
			 ANALYZE_VERDICT_NONE);
	check_recordings(means, others, "ababab", ANALYZE_REPETITIONS_ONE_BOOT,
			 ANALYZE_VERDICT_UNCLEAR);
	check_recordings(means, slow, "ababab", ANALYZE_REPETITIONS_ONE_BOOT,
			 ANALYZE_VERDICT_SLOWER);
}

/* If one kernel is recorded after the other, the machine may have changed meanwhile. Only alternating recordings exclude this. */
TEST(test_turns)
{
	const double means[] = { 100, 108, 95 }, slow[] = { 160, 171, 155 };
	struct profile *a, *b;

	check_recordings(means, slow, "aaabbb", ANALYZE_REPETITIONS_IN_A_ROW,
			 ANALYZE_VERDICT_UNCLEAR);
	check_recordings(means, slow, "bbbaaa", ANALYZE_REPETITIONS_IN_A_ROW,
			 ANALYZE_VERDICT_UNCLEAR);
	check_recordings(means, slow, "aabb", ANALYZE_REPETITIONS_IN_A_ROW,
			 ANALYZE_VERDICT_UNCLEAR);
	check_recordings(means, slow, "abba", ANALYZE_REPETITIONS_ONE_BOOT, ANALYZE_VERDICT_SLOWER);
	check_recordings(means, slow, "abbaab", ANALYZE_REPETITIONS_ONE_BOOT,
			 ANALYZE_VERDICT_SLOWER);
	/* The order of merging does not matter; unknown times decide nothing. */
	a = recordings(means, "ababab", 'a');
	b = recordings(slow, "ababab", 'b');
	profile_env_set(b, PROFILE_ENV_TIMES,
			"2026-01-01T00:00:05Z,2026-01-01T00:00:01Z,2026-01-01T00:00:03Z");
	assert_true(analyze_recordings_alternate(a, b));
	profile_env_set(b, PROFILE_ENV_TIMES, "2026-01-01T00:00:05Z,,2026-01-01T00:00:03Z");
	assert_false(analyze_recordings_alternate(a, b));
	assert_false(analyze_recordings_alternate(b, a));
	profile_destroy(b);
	/* Times are whole seconds, so consecutive recordings may have the same time. */
	b = recordings(slow, "ababab", 'b');
	profile_env_set(b, PROFILE_ENV_TIMES, profile_env_get(a, PROFILE_ENV_TIMES));
	assert_true(analyze_recordings_alternate(a, b));
	profile_destroy(a);
	profile_destroy(b);
}

/* p is adjusted for the number of independent rows; a redundant row has the figures of the row that it repeats. */
TEST(test_rows)
{
	const double a[] = { 100, 101, 103 }, b[] = { 104, 103, 106 };
	struct profile *p[2] = { boots(a, 3), boots(b, 3) };
	const struct analyze_diff_row *sum = NULL, *only = NULL;
	struct analyze_diff d;
	uint32_t i, side, run;

	for (side = 0; side < 2; side++) {
		uint32_t site = fixture_function(p[side], "copy_process", 7);

		for (run = 0; run < 3; run++)
			fixture_calls(profile_cell(p[side], run, site, 0), 5, 50 + 3 * side + run,
				      60 + run * run);
	}
	assert_int_equal(analyze_diff_init(&d, p[0], p[1], &oncpu), 0);
	/* The rows are clone, copy_process, [command]. */
	assert_int_equal(d.repetitions.rows, 3);
	assert_true(d.repetitions.unit == ANALYZE_UNIT_BOOT && d.repetitions.n[0] == 3);
	assert_int_equal(d.repetitions.note, ANALYZE_REPETITIONS_ENOUGH);
	for (i = 0; i < d.functions.n_rows; i++)
		*(strcmp(d.functions.rows[i].context, "*") ? &only : &sum) = &d.functions.rows[i];
	assert_true(sum->redundant && sum->change.p == only->change.p);
	assert_true(only->change.p > only->change.p_single);
	analyze_diff_deinit(&d);
	/* One recording has all runs in one boot, so the repetitions of both differ in kind. */
	p[1]->runs[1].boot = p[1]->runs[2].boot = 0;
	assert_int_equal(analyze_diff_init(&d, p[0], p[1], &oncpu), 0);
	assert_int_equal(d.repetitions.rows, 0);
	assert_int_equal(d.repetitions.note, ANALYZE_REPETITIONS_BOOT_HARDENED);
	assert_true(isnan(d.syscalls.rows[0].change.p));
	analyze_diff_deinit(&d);
	p[0]->runs[1].boot = p[0]->runs[2].boot = 0;
	assert_int_equal(analyze_diff_init(&d, p[0], p[1], &oncpu), 0);
	assert_true(d.repetitions.unit == ANALYZE_UNIT_RUN && d.repetitions.rows == 3);
	assert_int_equal(d.repetitions.note, ANALYZE_REPETITIONS_ONE_BOOT);
	analyze_diff_deinit(&d);
	profile_destroy(p[0]);
	profile_destroy(p[1]);
}

/* Test the noise floor: the difference between two recordings of one kernel, and its bound. */
TEST(test_control)
{
	const double a[] = { 100, 102, 104 }, again[] = { 101, 103, 106 }, b[] = { 110, 111, 109 };
	const double near_a[] = { 103, 104, 102 };
	struct profile *pa = boots(a, 3), *control = boots(again, 3), *pb = boots(b, 3);
	struct profile *pn = boots(near_a, 3);
	const struct analyze_change *c;
	struct analyze_welch w;
	struct analyze_moments ma = analyze_moments_of(a, 3), mc = analyze_moments_of(again, 3);
	struct analyze_diff d;
	uint32_t warnings;
	double floor;

	w = analyze_welch_form(&ma, &mc);
	floor = analyze_welch_interval(&w, ANALYZE_CONFIDENCE).high;
	add_run(pb, 0, "mmap", 1, 1);
	assert_int_equal(analyze_diff_init(&d, pa, pb, &oncpu), 0);
	assert_true(isnan(d.syscalls.rows[0].change.noise));
	assert_int_equal(analyze_diff_control(&d, pa, control, &oncpu), 0);
	c = &d.syscalls.rows[0].change;
	near(c->noise, floor);
	assert_true(floor > 4 && floor < 8 && !c->under_noise);
	assert_string_equal(d.syscalls.rows[1].name, "mmap");
	assert_true(isnan(d.syscalls.rows[1].change.noise));
	assert_true(!d.syscalls.rows[1].change.under_noise);
	analyze_diff_deinit(&d);

	assert_int_equal(analyze_diff_init(&d, pa, pn, &oncpu), 0);
	assert_int_equal(analyze_diff_control(&d, pa, control, &oncpu), 0);
	assert_true(d.syscalls.rows[0].change.under_noise);
	for (warnings = 0; warnings < d.warnings.n_rows; warnings++)
		assert_int_not_equal(d.warnings.rows[warnings].kind, ANALYZE_WARNING_CONTROL);
	warnings = d.warnings.n_rows;
	/* A recording of another kernel is refused as control. */
	profile_env_set(control, PROFILE_ENV_RELEASE, "6.12.1");
	assert_int_equal(analyze_diff_control(&d, pa, control, &oncpu), 0);
	assert_int_equal(d.warnings.n_rows, warnings + 1);
	assert_int_equal(d.warnings.rows[d.warnings.n_invalid - 1].kind, ANALYZE_WARNING_CONTROL);
	analyze_diff_deinit(&d);
	profile_destroy(pa);
	profile_destroy(pb);
	profile_destroy(pn);
	profile_destroy(control);
}

RUN_TESTS(NULL, NULL)
