// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare two profiles: deltas, shares, rows of one profile only, and figures that the command reports. */
#include <math.h>
#include <errno.h>

#include "test.h"
#include "analyze/diff/diff.h"
#include "analyze/figures/environment.h"
#include "base/alloc.h"
#include "fixture.h"

static const struct analyze_options oncpu;

static const struct analyze_diff_row *row(const struct analyze_diff_rows *rows, const char *name,
					  const char *context)
{
	uint32_t i;

	for (i = 0; i < rows->n_rows; i++)
		if (!strcmp(rows->rows[i].name, name) &&
		    !analyze_context_compare(rows->rows[i].context, context))
			return &rows->rows[i];
	fail_msg("no row %s (%s)", name, context ? context : "syscall");
	return NULL;
}

/* Create a profile of RUNS runs with CALLS calls of clone of TIME ticks each. */
static struct profile *clones(uint32_t runs, uint32_t calls, uint64_t time)
{
	struct profile *p = profile_create();
	uint32_t clone = profile_context_add(p, "clone"), run;

	p->clock = PROFILE_CLOCK_INSN;
	fixture_calibrated(p);
	for (run = 0; run < runs; run++)
		fixture_calls(profile_cell(p, fixture_run(p, 1), 0, clone), calls, time, time);
	return p;
}

/* Add to each run of P: CALLS calls of the function NAME of TIME ticks each, in CONTEXT. */
static void add_function(struct profile *p, const char *name, const char *context, uint32_t calls,
			 uint64_t time)
{
	uint32_t site = fixture_function(p, name, p->n_sites), run;
	uint32_t in = profile_context_add(p, context);

	for (run = 0; run < p->n_runs; run++)
		if (calls)
			fixture_calls(profile_cell(p, run, site, in), calls, time, time);
}

static void add_syscall(struct profile *p, const char *name, uint32_t calls, uint64_t time)
{
	uint32_t context = profile_context_add(p, name), run;

	for (run = 0; run < p->n_runs; run++)
		fixture_calls(profile_cell(p, run, 0, context), calls, time, time);
}

TEST(test_deltas)
{
	struct profile *a = clones(1, 10, 1000), *b = clones(2, 10, 1200);
	const struct analyze_diff_row *r;
	struct analyze_diff d;

	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	r = row(&d.syscalls, "clone", NULL);
	/* Two runs against one: totals and counts are per run. */
	assert_true(r->sides[0].calls == 10 && r->sides[1].calls == 10);
	assert_true(r->sides[0].total == 10000 && r->sides[1].total == 12000);
	assert_true(r->delta == 200 && r->delta_pct == 20 && r->delta_total == 2000);
	assert_int_equal(d.runs[0], 1);
	assert_int_equal(d.runs[1], 2);
	analyze_diff_deinit(&d);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(test_shares)
{
	struct profile *a = clones(1, 10, 1000), *b = clones(1, 10, 1200);
	struct analyze_diff d;

	add_syscall(a, "mmap", 10, 500);
	add_syscall(b, "mmap", 10, 400);
	add_syscall(a, "brk", 1, 50);
	add_syscall(b, "brk", 1, 50);
	add_function(a, "more", "clone", 10, 100);
	add_function(b, "more", "clone", 10, 400);
	add_function(a, "less", "clone", 10, 100);
	add_function(b, "less", "clone", 10, 0);
	add_function(a, "more", "mmap", 10, 10);
	add_function(b, "more", "mmap", 10, 30);
	add_function(a, "still", "brk", 1, 5);
	add_function(b, "still", "brk", 1, 9);
	add_function(a, "nowhere", "[irq]", 1, 5);
	add_function(b, "nowhere", "[irq]", 1, 9);
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	/* Changes per run: clone +2,000, mmap -1,000, together +1,000. */
	assert_true(row(&d.functions, "more", "clone")->share == 1.5);
	assert_true(row(&d.functions, "less", "clone")->share == -0.5);
	assert_true(row(&d.functions, "more", "mmap")->share == -0.2);
	assert_true(row(&d.functions, "more", "*")->share == 3.2);
	/* The syscall brk did not change, and [irq] was not recorded. */
	assert_true(isnan(row(&d.functions, "still", "brk")->share));
	assert_true(isnan(row(&d.functions, "nowhere", "[irq]")->share));
	/* Rows are sorted by the change of the total per run. */
	assert_string_equal(d.syscalls.rows[0].name, "clone");
	assert_string_equal(d.syscalls.rows[1].name, "mmap");
	assert_string_equal(d.functions.rows[0].name, "more");
	assert_string_equal(d.functions.rows[0].context, "*");
	analyze_diff_deinit(&d);
	profile_destroy(a);
	profile_destroy(b);
}

/* With MORE, clone takes 200 more on the CPU per call: 150 in inner, 30 in its caller outer, 20 in clone. clone sleeps for 500. */
static struct profile *nested(bool more)
{
	struct profile *p = clones(1, 10, more ? 1200 : 1000);
	uint32_t i;

	add_function(p, "inner", "clone", 10, more ? 250 : 100);
	add_function(p, "outer", "clone", 10, more ? 480 : 300);
	profile_cell(p, 0, 2, 0)->self -= more ? 2500 : 1000;
	profile_cell(p, 0, 0, 0)->self -= more ? 4800 : 3000;
	for (i = 0; i < p->n_cells; i++)
		p->cells[i].stats.wall += more ? 5000 : 0;
	return p;
}

TEST(test_times)
{
	struct profile *a = nested(false), *b = nested(true);
	struct analyze_options options = { .time = ANALYZE_TIME_SELF };
	const struct analyze_diff_row *r;
	struct analyze_diff d;

	assert_int_equal(analyze_diff_init(&d, a, b, &options), 0);
	r = row(&d.syscalls, "clone", NULL);
	assert_true(r->delta == 20 && r->delta_total == 200);
	/* Shares of clone's 2,000 do not overlap: with clone's own tenth they add up to 1. */
	assert_true(row(&d.functions, "inner", "clone")->share == 0.75);
	assert_true(row(&d.functions, "outer", "clone")->share == 0.15);
	assert_string_equal(d.functions.rows[0].name, "inner");
	analyze_diff_deinit(&d);

	options.time = ANALYZE_TIME_WALL;
	assert_int_equal(analyze_diff_init(&d, a, b, &options), 0);
	r = row(&d.syscalls, "clone", NULL);
	assert_true(r->delta == 700 && r->delta_pct == 70 && isnan(r->sides[1].p50));
	assert_true(row(&d.functions, "inner", "clone")->share == 6500.0 / 7000);
	analyze_diff_deinit(&d);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(test_cost_of_one_side)
{
	struct profile *a = clones(1, 1, 1), *b = clones(1, 1, 1);
	struct analyze_options raw = { .raw = true };
	const struct analyze_warning *w;
	struct analyze_diff d;

	profile_cost_set(b, PROFILE_MECH_TRACEPOINT, PROFILE_COST_INNER, 1, 0);
	profile_cost_set(b, PROFILE_MECH_TRACEPOINT, PROFILE_COST_FULL, 2, 0);
	fixture_forget_cost(b, PROFILE_MECH_TRACEPOINT);
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	assert_int_equal(d.warnings.n_rows, 2);
	w = &d.warnings.rows[0];
	assert_int_equal(w->kind, ANALYZE_WARNING_COST_ONE_SIDE);
	assert_int_equal(w->severity, ANALYZE_SEVERITY_INVALID);
	assert_int_equal(w->side, ANALYZE_SIDE_BASELINE);
	assert_string_equal(w->names[0], "tracepoint");
	analyze_diff_deinit(&d);
	assert_int_equal(analyze_diff_init(&d, a, b, &raw), 0);
	assert_int_equal(d.warnings.n_rows, 0);
	analyze_diff_deinit(&d);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(test_slowdown_of_one_side)
{
	struct profile *a = clones(1, 10, 1000), *b = clones(1, 10, 1000);
	uint32_t clone = profile_context_add(b, "clone");
	const struct analyze_warning *w;
	struct analyze_diff d;

	/* Probes of clone itself take 410 of 10,000 ticks: 4.3 %. */
	profile_cell(a, 0, 0, clone)->cost = 410;
	profile_cell(b, 0, 0, clone)->cost = 2000;
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	assert_int_equal(d.warnings.n_rows, 0);
	analyze_diff_deinit(&d);
	profile_cell(b, 0, 0, clone)->cost = 4000;
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	assert_int_equal(d.warnings.n_rows, 1);
	assert_int_equal(d.warnings.n_invalid, 0);
	w = &d.warnings.rows[0];
	assert_int_equal(w->kind, ANALYZE_WARNING_SLOWDOWN);
	assert_int_equal(w->severity, ANALYZE_SEVERITY_ACT);
	assert_true(fabs(w->values[0] - 4.275) < 1e-3 && fabs(w->values[1] - 66.667) < 1e-3);
	analyze_diff_deinit(&d);
	profile_destroy(a);
	profile_destroy(b);
}

/* Compare recordings of two runs, each of one second, on two CPUs. */
TEST(test_unlike_loads)
{
	struct profile *a = clones(2, 10, 1000), *b = clones(2, 10, 1000);
	const struct analyze_warning *w;
	struct analyze_diff d;

	profile_env_set(a, PROFILE_ENV_CPUS, "2");
	profile_env_set(b, PROFILE_ENV_CPUS, "2");
	for (int i = 0; i < 2; i++) {
		a->runs[i].wall = b->runs[i].wall = 1000000000;
		a->runs[i].losses[PROFILE_INFO_WAITED] = 100000000;
		a->runs[i].losses[PROFILE_INFO_STOLEN] = 0;
		b->runs[i].losses[PROFILE_INFO_WAITED] = 190000000;
		b->runs[i].losses[PROFILE_INFO_STOLEN] = 30000000;
	}
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	assert_int_equal(d.warnings.n_rows, 0);
	analyze_diff_deinit(&d);
	b->runs[0].losses[PROFILE_INFO_WAITED] = 250000000;
	b->runs[1].losses[PROFILE_INFO_STOLEN] = 70000000;
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	assert_int_equal(d.warnings.n_rows, 2);
	assert_int_equal(d.warnings.n_invalid, 0);
	w = d.warnings.rows;
	assert_true(w[0].kind == ANALYZE_WARNING_LOAD && !w[0].code);
	assert_true(fabs(w[0].values[0] - 10) < 1e-9 && fabs(w[0].values[1] - 22) < 1e-9);
	assert_true(w[1].kind == ANALYZE_WARNING_LOAD && w[1].code);
	assert_true(w[1].values[0] == 0 && fabs(w[1].values[1] - 2.5) < 1e-9);
	analyze_diff_deinit(&d);
	/* A figure that one run lacks is unknown. */
	a->runs[1].losses[PROFILE_INFO_WAITED] = PROFILE_NOT_COUNTED;
	a->runs[0].losses[PROFILE_INFO_STOLEN] = PROFILE_NOT_COUNTED;
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	assert_int_equal(d.warnings.n_rows, 0);
	analyze_diff_deinit(&d);
	profile_destroy(a);
	profile_destroy(b);
}

/* The baseline runs at 1.2 times the nominal frequency. One hardened run is slower, and one has a CPU that was too hot. */
TEST(test_unlike_frequencies)
{
	struct profile *a = clones(2, 10, 1000), *b = clones(2, 10, 1000);
	const struct analyze_warning *w;
	struct analyze_diff d;

	for (int i = 0; i < 2; i++) {
		a->runs[i].losses[PROFILE_INFO_APERF] = 120;
		b->runs[i].losses[PROFILE_INFO_APERF] = 119;
		a->runs[i].losses[PROFILE_INFO_MPERF] = b->runs[i].losses[PROFILE_INFO_MPERF] = 100;
		a->runs[i].losses[PROFILE_INFO_THROTTLED] = 0;
		b->runs[i].losses[PROFILE_INFO_THROTTLED] = 0;
	}
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	assert_int_equal(d.warnings.n_rows, 0);
	assert_int_equal(d.env.n_rows, 0);
	analyze_diff_deinit(&d);
	b->runs[0].losses[PROFILE_INFO_APERF] = 110;
	b->runs[1].losses[PROFILE_INFO_THROTTLED] = 1;
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	assert_int_equal(d.warnings.n_rows, 2);
	assert_int_equal(d.warnings.n_invalid, 0);
	w = d.warnings.rows;
	assert_int_equal(w[0].code, ANALYZE_LOAD_FREQUENCY);
	assert_true(fabs(w[0].values[0] - 120) < 1e-9 && fabs(w[0].values[1] - 114.5) < 1e-9);
	assert_int_equal(w[1].code, ANALYZE_LOAD_THROTTLING);
	assert_true(w[1].values[0] == 0 && w[1].values[1] == 0.5);
	assert_int_equal(d.env.n_rows, 2);
	assert_string_equal(d.env.rows[0].name, "CPU frequency");
	assert_string_equal(d.env.rows[0].sides[0], "120 % of nominal");
	assert_string_equal(d.env.rows[1].sides[1], "0.5 times per run");
	analyze_diff_deinit(&d);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(test_absent_sides)
{
	struct profile *a = clones(1, 10, 1000), *b = clones(1, 10, 1200);
	const struct analyze_diff_row *r;
	struct analyze_diff d;

	add_syscall(b, "futex", 3, 100);
	/* "called" was recorded in both profiles, but called in one only. */
	add_function(a, "called", "clone", 0, 0);
	add_function(b, "called", "clone", 10, 100);
	/* "only" was recorded in one profile: its cost in the other is unknown. */
	add_function(b, "only", "clone", 10, 100);
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);

	r = row(&d.syscalls, "futex", NULL);
	assert_true(isnan(r->sides[0].calls) && isnan(r->sides[0].total));
	assert_true(r->sides[1].total == 300 && r->delta_total == 300);
	assert_true(isnan(r->delta) && isnan(r->delta_pct));

	r = row(&d.functions, "called", "clone");
	assert_true(isnan(r->sides[0].calls) && r->delta_total == 1000 && r->share == 0.5);
	r = row(&d.functions, "called", "*");
	assert_true(r->sides[0].calls == 0 && r->delta_total == 1000 && isnan(r->delta));

	r = row(&d.functions, "only", "clone");
	assert_true(isnan(r->delta_total) && isnan(r->share) && r->sides[1].total == 1000);
	assert_true(r->redundant == false && row(&d.functions, "only", "*")->redundant);
	analyze_diff_deinit(&d);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(test_division_by_zero)
{
	struct profile *a = clones(1, 10, 0), *b = clones(1, 10, 5);
	struct analyze_diff d;

	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	assert_true(d.syscalls.rows[0].delta == 5 && isnan(d.syscalls.rows[0].delta_pct));
	analyze_diff_deinit(&d);
	profile_destroy(a);
	profile_destroy(b);
	assert_true(isnan(analyze_percent(1, 0)) && isnan(analyze_percent(1, -1)) &&
		    isnan(analyze_percent(1, NAN)) && analyze_percent(1, 2) == 50);
}

TEST(test_empty)
{
	struct profile *a = profile_create(), *b = profile_create();
	struct analyze_diff d;

	a->clock = b->clock = PROFILE_CLOCK_INSN;
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	assert_int_equal(d.syscalls.n_rows + d.functions.n_rows + d.n_workload, 0);
	analyze_diff_deinit(&d);
	profile_destroy(b);

	/* Compared with an empty profile, all rows have one profile's figures only, and nothing is divided by 0 runs. */
	b = clones(1, 10, 5);
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	assert_true(isnan(d.syscalls.rows[0].sides[0].calls));
	assert_true(d.syscalls.rows[0].sides[1].total == 50);
	analyze_diff_deinit(&d);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(test_clocks_differ)
{
	struct profile *a = clones(1, 1, 1), *b = clones(1, 1, 1);
	struct analyze_diff d;

	b->clock = PROFILE_CLOCK_NS;
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), -EINVAL);
	analyze_diff_deinit(&d);
	profile_destroy(a);
	profile_destroy(b);
}

static const struct analyze_diff_workload_row *workload(const struct analyze_diff *d,
							const char *name)
{
	uint32_t i;

	for (i = 0; i < d->n_workload; i++)
		if (!strcmp(d->workload[i].name, name))
			return &d->workload[i];
	fail_msg("no workload row %s", name);
	return NULL;
}

TEST(test_workload)
{
	struct profile *a = clones(1, 1, 1), *b = clones(1, 1, 1);
	struct analyze_diff d;
	uint32_t control;

	profile_report_add(a, 0, &(struct profile_report){ "fork", 20, 110, NAN, NAN });
	profile_report_add(b, 0, &(struct profile_report){ "fork", 20, 130, NAN, NAN });
	profile_report_add(b, 0, &(struct profile_report){ "extra", 1, 3, NAN, NAN });
	control = profile_run_add(a, PROFILE_RUN_CONTROL);
	profile_report_add(a, control, &(struct profile_report){ "fork", 20, 100, NAN, NAN });

	/* Only one recording has a control run, so only the probed figures are compared. */
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	assert_true(workload(&d, "fork")->probed && workload(&d, "fork")->delta == 20);
	assert_true(isnan(workload(&d, "extra")->delta));
	assert_string_equal(d.workload[d.n_workload - 1].name, ANALYZE_COMMAND);
	analyze_diff_deinit(&d);

	control = profile_run_add(b, PROFILE_RUN_CONTROL);
	profile_report_add(b, control, &(struct profile_report){ "fork", 20, 125, NAN, NAN });
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	assert_false(workload(&d, "fork")->probed);
	assert_true(workload(&d, "fork")->delta == 25 && workload(&d, "fork")->delta_pct == 25);
	analyze_diff_deinit(&d);
	profile_destroy(a);
	profile_destroy(b);
}

static const struct analyze_warning *warning(const struct analyze_diff *d,
					     enum analyze_warning_kind kind)
{
	uint32_t i;

	for (i = 0; i < d->warnings.n_rows; i++)
		if (d->warnings.rows[i].kind == kind)
			return &d->warnings.rows[i];
	fail_msg("no warning of kind %d", kind);
	return NULL;
}

TEST(test_warnings)
{
	struct profile *a = clones(1, 1, 1), *b = clones(1, 1, 1);
	const struct analyze_warning *w;
	struct analyze_diff d;

	add_function(a, "f", "clone", 1, 1);
	add_function(b, "f", "clone", 1, 1);
	profile_env_set(a, PROFILE_ENV_RELEASE, "6.1");
	profile_env_set(b, PROFILE_ENV_RELEASE, "6.12");
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	assert_int_equal(d.warnings.n_rows, 0);
	analyze_diff_deinit(&d);

	profile_arg_add(a, "true");
	profile_arg_add(b, "fal\033se");
	profile_env_set(a, PROFILE_ENV_GOVERNOR, "performance");
	profile_env_set(a, PROFILE_ENV_CONFIG, "CONFIG_X=y\n");
	b->sites[1].mech = PROFILE_MECH_KPROBE;
	b->freq = 997;
	b->runs[0].losses[PROFILE_LOSS_CELLS_FULL] = 1;
	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	w = warning(&d, ANALYZE_WARNING_WORK);
	assert_int_equal(w->code, 0);
	assert_string_equal(w->names[0], "true");
	assert_string_equal(w->names[1], "fal\033se");
	w = warning(&d, ANALYZE_WARNING_MACHINE);
	assert_string_equal(w->names[0], "performance");
	assert_null(w->names[1]);
	assert_string_equal(w->names[2], PROFILE_ENV_GOVERNOR);
	w = warning(&d, ANALYZE_WARNING_MECHANISMS);
	assert_string_equal(w->names[0], "fentry");
	assert_string_equal(w->names[1], "kprobe");
	assert_string_equal(w->names[2], "f");
	w = warning(&d, ANALYZE_WARNING_FREQ);
	assert_true(w->values[0] == 0 && w->values[1] == 997);
	assert_int_equal(warning(&d, ANALYZE_WARNING_CONFIG)->side, ANALYZE_SIDE_HARDENED);
	assert_int_equal(d.warnings.n_invalid, 5);
	w = warning(&d, ANALYZE_WARNING_LOSS);
	assert_int_equal(w->side, ANALYZE_SIDE_HARDENED);
	assert_true(w->code == PROFILE_LOSS_CELLS_FULL && w->values[0] == 1);
	w = warning(&d, ANALYZE_WARNING_COST_UNKNOWN);
	assert_int_equal(w->side, ANALYZE_SIDE_HARDENED);
	assert_string_equal(w->names[0], "kprobe");
	assert_int_equal(d.warnings.n_rows, 7);
	analyze_diff_deinit(&d);
	profile_destroy(a);
	profile_destroy(b);
}

RUN_TESTS(NULL, NULL)
