// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Check the promises of diff's statistics, on made-up profiles with known means, spreads and noise between boots, through
 * analyze_diff_init() as in diff itself:
 *
 *   - 95 % intervals cover the truth in 93 to 98 % of cases;
 *   - at most 5 % of comparisons of a kernel with itself have a row called slower or faster;
 *   - the number of boots reported as needed settles the verdict in at least 80 % of cases.
 *
 * usage: simulate [PAIRS]: number of pairs per case (default 50: seconds; make check-statistics: 2000).
 * Prints TAP. Random numbers have fixed seeds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff/diff.h"
#include "base/alloc.h"
#include "fixture.h"

#define PI 3.14159265358979323846
/* Tolerance of a rate, in standard errors due to the number of cases. */
#define LUCK 3

static uint64_t seed;

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled". */
static double uniform(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return ((double)(seed * 0x2545f4914f6cdd1d >> 11) + 0.5) * 0x1p-53;
}

static double gauss(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * PI * uniform());
}

/* Parameters of the baseline's or the hardened kernel's profile. Spreads are relative to the mean. */
struct side {
	uint32_t boots, runs; /* runs per boot */
	double between_boots, between_runs;
	double effect; /* slowdown of the first row: 0.01 is 1 % */
	double calibration; /* spread of a probe cost by calibration errors */
};

struct setting {
	const char *name;
	struct side side[2];
	uint32_t rows;
	double mean; /* ticks per call */
	uint32_t least_calls, most_calls; /* calls of a row per run */
};

#define COST 600.0 /* probe cost in ticks per call, subtracted */

static void add_row(struct profile *p, uint32_t run, uint32_t context, double mean, double calls,
		    double wrong)
{
	struct profile_stats *s = profile_cell(p, run, 0, context);
	/* Single calls spread as in an exponential distribution. */
	double total = calls * mean + sqrt(calls) * mean * gauss();

	if (total < 0)
		total = 0;
	s->calls = (uint64_t)calls;
	s->errors = 0;
	s->cost = (uint64_t)(calls * COST);
	s->oncpu = s->wall = (uint64_t)llround(total + calls * (COST + wrong));
	s->self = (int64_t)(s->oncpu - s->cost);
}

static struct profile *make(const struct setting *setting, const struct side *side)
{
	struct profile *p = profile_create();
	double wrong = side->calibration * gauss();
	uint32_t boot, run, row;

	/* A standard deviation is 1.4826 median absolute deviations. */
	profile_cost_set(p, PROFILE_MECH_TRACEPOINT, PROFILE_COST_INNER, COST,
			 side->calibration / 1.482602218505602);
	p->sites[0].mech = PROFILE_MECH_TRACEPOINT;
	for (row = 0; row < setting->rows; row++) {
		char name[16];

		snprintf(name, sizeof(name), "row%u", row);
		profile_context_add(p, name);
	}
	for (boot = 0; boot < side->boots; boot++) {
		double *means = alloc_array(setting->rows, sizeof(*means));

		for (row = 0; row < setting->rows; row++)
			means[row] = setting->mean * (row ? 1 : 1 + side->effect) *
				     (1 + side->between_boots * gauss());
		for (run = 0; run < side->runs; run++) {
			uint32_t number = fixture_run(p, (uint64_t)(1e9 * (1 + 1e-3 * gauss())));

			p->runs[number].boot = boot;
			for (row = 0; row < setting->rows; row++) {
				double calls = floor(setting->least_calls +
						     uniform() * (1 + setting->most_calls -
								  setting->least_calls));

				add_row(p, number, row,
					means[row] * (1 + side->between_runs * gauss()), calls,
					wrong);
			}
		}
		free(means);
	}
	return p;
}

static void compare(struct analyze_diff *diff, const struct setting *setting, struct profile *p[2],
		    double margin_pct)
{
	struct analyze_options options = { .margin_pct = margin_pct };
	int i;

	for (i = 0; i < 2; i++)
		p[i] = make(setting, &setting->side[i]);
	if (analyze_diff_init(diff, p[0], p[1], &options))
		exit(1);
}

static void done(struct analyze_diff *diff, struct profile *p[2])
{
	analyze_diff_deinit(diff);
	profile_destroy(p[0]);
	profile_destroy(p[1]);
}

/* Return row0, the only row with an effect. */
static const struct analyze_diff_row *first_row(const struct analyze_diff *diff)
{
	uint32_t i;

	for (i = 0; i < diff->syscalls.n_rows; i++)
		if (!strcmp(diff->syscalls.rows[i].name, "row0"))
			return &diff->syscalls.rows[i];
	abort();
}

static unsigned int pairs = 50, tests;
static bool failed;

struct rate {
	double hits, cases;
};

/* Report whether RATE is between LOW and HIGH, within LUCK. */
static void expect(const struct setting *s, const char *what, struct rate rate, double low,
		   double high)
{
	double value = rate.hits / rate.cases, luck_low, luck_high;
	bool ok;

	luck_low = LUCK * sqrt(low * (1 - low) / rate.cases);
	luck_high = LUCK * sqrt(high * (1 - high) / rate.cases);
	ok = value >= low - luck_low && value <= high + luck_high;
	failed |= !ok;
	printf("%sok %u - %s: %s %.2f %% (%g to %g; %.0f cases)\n", ok ? "" : "not ", ++tests,
	       s->name, what, 100 * value, 100 * low, 100 * high, rate.cases);
	fflush(stdout);
}

static void check_coverage(const struct setting *s)
{
	struct rate ticks = { 0, 0 }, percent = { 0, 0 };
	double b = s->side[1].effect, a = s->side[0].effect;
	unsigned int i;

	seed = 1;
	for (i = 0; i < pairs; i++) {
		struct analyze_diff diff;
		struct profile *p[2];
		uint32_t row;

		compare(&diff, s, p, 0);
		for (row = 0; row < diff.syscalls.n_rows; row++) {
			const struct analyze_diff_row *r = &diff.syscalls.rows[row];
			double truth = strcmp(r->name, "row0") ? 0 : s->mean * (b - a);
			double pct = strcmp(r->name, "row0") ? 0 : ((1 + b) / (1 + a) - 1) * 100;

			/* A wrong calibration affects all rows of a pair alike: count one row only. */
			if (row && s->side[0].calibration > 0)
				break;
			ticks.cases++;
			ticks.hits += r->change.ci.low <= truth && truth <= r->change.ci.high;
			percent.cases++;
			percent.hits += r->change.ci_pct.low <= pct && pct <= r->change.ci_pct.high;
		}
		done(&diff, p);
	}
	expect(s, "intervals cover", ticks, 0.93, 0.98);
	expect(s, "intervals in percent cover", percent, 0.93, 0.98);
}

static void check_false_alarms(const struct setting *s, double margin_pct, const char *what)
{
	struct rate alarms = { 0, 0 };
	unsigned int i;

	seed = 2;
	for (i = 0; i < pairs; i++) {
		struct analyze_diff diff;
		struct profile *p[2];
		uint32_t row, differ = 0;

		compare(&diff, s, p, margin_pct);
		for (row = 0; row < diff.syscalls.n_rows; row++)
			differ +=
				diff.syscalls.rows[row].change.verdict == ANALYZE_VERDICT_SLOWER ||
				diff.syscalls.rows[row].change.verdict == ANALYZE_VERDICT_FASTER;
		alarms.cases++;
		alarms.hits += differ > 0;
		done(&diff, p);
	}
	expect(s, what, alarms, 0, 0.05);
}

static void set_boots(struct setting *s, uint32_t boots)
{
	s->side[0].boots = s->side[1].boots = boots;
}

/* Return the true moments of boots' means in S, including the spread of single calls. */
static struct analyze_moments moments_of(const struct setting *s, int side)
{
	double calls = (s->least_calls + s->most_calls) / 2.0 * s->side[side].runs;
	double boots = s->side[side].between_boots, runs = s->side[side].between_runs;
	double relative = boots * boots + runs * runs / s->side[side].runs + 1 / calls;
	double mean = s->mean * (1 + s->side[side].effect);

	return (struct analyze_moments){ .n = s->side[side].boots,
					 .mean = mean,
					 .variance = relative * mean * mean };
}

/* Check that the number of boots computed from the true means and spreads suffices. */
static void check_needed(const struct setting *s, double margin)
{
	struct analyze_moments a = moments_of(s, 0), b = moments_of(s, 1);
	double n = analyze_boots_needed(&a, &b, margin, ANALYZE_SIGNIFICANT / 2);
	struct rate settled = { 0, 0 };
	struct setting booted = *s;
	unsigned int i;

	set_boots(&booted, (uint32_t)n);
	seed = 4;
	for (i = 0; i < pairs; i++) {
		struct analyze_diff diff;
		struct profile *p[2];

		compare(&diff, &booted, p, margin * 100);
		settled.cases++;
		settled.hits += first_row(&diff)->change.verdict != ANALYZE_VERDICT_UNCLEAR;
		done(&diff, p);
	}
	printf("# %s: %.0f boots\n", s->name, n);
	expect(s, "as many boots as are needed settle it", settled, 0.80, 1);
}

/* Check with BOOTS boots per side: coverage with S's effect, and false alarms of 20 rows without an effect. */
static void check_unlike(const struct setting *s, const uint32_t boots[2])
{
	struct setting aa, ab = *s;

	ab.side[0].boots = boots[0];
	ab.side[1].boots = boots[1];
	check_coverage(&ab);
	aa = ab;
	aa.side[1].effect = 0;
	aa.rows = 20;
	check_false_alarms(&aa, 1e-6, "families with a false alarm");
}

int main(int argc, char **argv)
{
	static const uint32_t boots[] = { 3, 4, 5, 7, 10, 15, 20 };
	static const uint32_t unlike_boots[][2] = { { 3, 4 }, { 3, 20 }, { 4, 12 }, { 5, 10 } };
	struct setting s = { .rows = 10,
			     .mean = 20000,
			     .least_calls = 1000,
			     .most_calls = 1000,
			     .side = { { .runs = 1, .between_boots = 0.02 },
				       { .runs = 1, .between_boots = 0.02, .effect = 0.2 } } };
	struct setting aa = s, unlike = s, wide = s, runs = s, wrong = s, small = s;
	char name[64];
	size_t i;

	if (argc > 1)
		pairs = (unsigned int)strtoul(argv[1], NULL, 10);
	if (pairs < 10)
		return 2;
	for (i = 0; i < sizeof(boots) / sizeof(*boots); i++) {
		s.name = aa.name = name;
		snprintf(name, sizeof(name), "%u boots a side", boots[i]);
		set_boots(&s, boots[i]);
		check_coverage(&s);
		aa = s;
		aa.side[1].effect = 0;
		aa.rows = 20;
		check_false_alarms(&aa, 1e-6, "families with a false alarm, whatever the margin");
	}
	for (i = 0; i < sizeof(unlike_boots) / sizeof(*unlike_boots); i++) {
		unlike.name = name;
		snprintf(name, sizeof(name), "%u boots against %u", unlike_boots[i][0],
			 unlike_boots[i][1]);
		check_unlike(&unlike, unlike_boots[i]);
	}
	unlike.name = "3 boots against 12, spreads 5 % and 1 %";
	unlike.side[0].between_boots = 0.05;
	unlike.side[1].between_boots = 0.01;
	check_unlike(&unlike, (const uint32_t[]){ 3, 12 });
	unlike.name = "10 boots a side, spreads 5 % and 1 %";
	check_unlike(&unlike, (const uint32_t[]){ 10, 10 });

	wide.name = "5 boots, 30 to 300 calls in each";
	wide.least_calls = 30;
	wide.most_calls = 300;
	set_boots(&wide, 5);
	check_coverage(&wide);
	wide.side[1].effect = 0;
	check_false_alarms(&wide, 1e-6, "families with a false alarm");

	runs.name = "4 boots of 5 runs, runs as unlike as boots";
	runs.side[0].runs = runs.side[1].runs = 5;
	runs.side[0].between_runs = runs.side[1].between_runs = 0.02;
	set_boots(&runs, 4);
	check_coverage(&runs);

	wrong.name = "5 boots, calibrations off by 1 % of the mean";
	wrong.side[0].calibration = wrong.side[1].calibration = 200;
	wrong.rows = 1;
	set_boots(&wrong, 5);
	check_coverage(&wrong);

	small.name = "3 boots as in the lab, spreads 0.1 %, margin 1 %";
	small.least_calls = small.most_calls = 1000000;
	small.rows = 40;
	small.side[0].between_boots = small.side[1].between_boots = 0.001;
	small.side[1].effect = 0;
	set_boots(&small, 3);
	check_false_alarms(&small, 1, "families with a false alarm");

	s.rows = 1;
	s.name = "1 % slower, spreads 2 %, not to be told within 0.5 %";
	s.side[1].effect = 0.01;
	check_needed(&s, 0.005);
	s.name = "0.2 % slower, spreads 2 %, within 1 %";
	s.side[1].effect = 0.002;
	check_needed(&s, 0.01);
	printf("1..%u\n", tests);
	return failed;
}
