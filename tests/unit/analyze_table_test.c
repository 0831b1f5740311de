// SPDX-License-Identifier: GPL-2.0-or-later
/* Make table rows from a profile: sums, separate rows, unknown figures. */
#include <math.h>

#include "test.h"
#include "analyze/figures/accounting.h"
#include "analyze/figures/calibration.h"
#include "analyze/diff/diff.h"
#include "analyze/figures/table.h"
#include "analyze/figures/warnings.h"
#include "analyze/figures/workload.h"
#include "fixture.h"
#include "kprotperf/hist.h"

static const struct analyze_options oncpu;
static const struct analyze_options raw = { .raw = true };

static const struct analyze_row *find(const struct analyze_rows *rows, const char *name,
				      const char *context)
{
	uint32_t i;

	for (i = 0; i < rows->n_rows; i++)
		if (!strcmp(rows->rows[i].name, name) &&
		    !analyze_context_compare(rows->rows[i].context, context))
			return &rows->rows[i];
	return NULL;
}

static const struct analyze_figures *figures(const struct analyze_rows *rows, const char *name,
					     const char *context)
{
	const struct analyze_row *row = find(rows, name, context);

	if (!row)
		fail_msg("no row %s (%s)", name, context ? context : "syscall");
	return &row->figures;
}

/* Create two runs in two boots, with two functions "alloc" in two contexts, and a function that is never called. */
static struct profile *two_runs(void)
{
	struct profile *p = profile_create();
	uint32_t clone = profile_context_add(p, "clone"), mmap = profile_context_add(p, "mmap");
	uint32_t a = fixture_function(p, "alloc", 1), b = fixture_function(p, "alloc", 2), i;

	fixture_calibrated(p);
	fixture_function(p, "unused", 3);
	for (i = 0; i < 2; i++) {
		uint32_t run = fixture_run(p, 1000);
		struct profile_stats *s = profile_cell(p, run, 0, clone);

		p->runs[run].boot = i;
		s->errors = i;
		fixture_call(s, 1000);
		fixture_call(s, 2000);
		s->cost = 300;
		fixture_call(profile_cell(p, run, a, clone), 100);
		fixture_call(profile_cell(p, run, b, clone), 200);
		fixture_call(profile_cell(p, run, a, mmap), 7);
	}
	return p;
}

/* A time below the cost of its probes is unknown. */
TEST(test_overcorrected)
{
	const struct analyze_options options = { .time = ANALYZE_TIME_ONCPU };
	scoped(profile_stats_deinit) struct profile_stats s;
	struct analyze_figures f;

	profile_stats_init(&s);
	s.calls = 10;
	s.max = 40;
	profile_stats_bucket_add(&s, 0, 6);
	profile_stats_bucket_add(&s, hist_slot(40), 4);
	analyze_figures_form(&f, &s, &options);
	assert_true(isnan(f.min) && isnan(f.p50) && f.p90 == 40 && f.max == 40);
}

TEST(test_sums)
{
	struct profile *p = two_runs();
	const struct analyze_figures *f;
	struct analyze_table t;

	analyze_table_init(&t, p, &oncpu);
	assert_int_equal(t.runs, 2);
	assert_int_equal(t.boots, 2);
	assert_true(t.oncpu == 6000 && t.cost == 600);
	assert_int_equal(t.syscalls.n_rows, 1);
	f = figures(&t.syscalls, "clone", NULL);
	assert_true(f->calls == 4 && f->errors == 1 && f->total == 5400 && f->mean == 1350);
	assert_true(f->min == 1000 && f->max == 2000);

	/* Functions of the same name are added up, contexts separately and together. */
	assert_int_equal(t.functions.n_rows, 4);
	f = figures(&t.functions, "alloc", "clone");
	assert_true(f->calls == 4 && f->total == 600 && f->mean == 150 && isnan(f->errors));
	f = figures(&t.functions, "alloc", "mmap");
	assert_true(f->calls == 2 && f->total == 14);
	f = figures(&t.functions, "alloc", "*");
	assert_true(f->calls == 6 && f->total == 614 && f->min == 7 && f->max == 200);
	assert_false(find(&t.functions, "alloc", "*")->redundant);

	/* The function is known to be uncalled: it has 0 calls and no mean. */
	f = figures(&t.functions, "unused", "*");
	assert_true(f->calls == 0 && f->total == 0 && isnan(f->mean) && isnan(f->p99) &&
		    isnan(f->min));
	analyze_table_deinit(&t);
	profile_destroy(p);
}

TEST(test_order)
{
	struct profile *p = two_runs();
	struct analyze_table t;

	analyze_table_init(&t, p, &oncpu);
	assert_string_equal(t.functions.rows[0].context, "*");
	assert_string_equal(t.functions.rows[1].context, "clone");
	analyze_rows_sort_by_total(&t.functions);
	assert_true(t.functions.rows[0].figures.total == 614);
	assert_true(t.functions.rows[1].figures.total == 600);
	assert_string_equal(t.functions.rows[3].name, "unused");
	analyze_table_deinit(&t);
	profile_destroy(p);
}

TEST(test_raw)
{
	struct profile *p = two_runs();
	const struct analyze_figures *f;
	struct analyze_table t;

	analyze_table_init(&t, p, &raw);
	f = figures(&t.syscalls, "clone", NULL);
	assert_true(f->total == 6000 && f->mean == 1500);
	/* The distribution was recorded without the cost of probes, so it is not the distribution of raw times. */
	assert_true(isnan(f->p50) && isnan(f->min) && isnan(f->max));
	/* alloc has no cost of probes in mmap, so its distribution there is that of raw times, too. */
	assert_true(figures(&t.functions, "alloc", "mmap")->p50 == 7);
	analyze_table_deinit(&t);
	profile_destroy(p);
}

/* Create two calls of 1,000 ticks each: 400 asleep, 100 in timed callees, 10 for probes. */
static struct profile *sleeper(void)
{
	struct profile *p = profile_create();
	struct profile_stats *s;

	fixture_calibrated(p);
	s = profile_cell(p, fixture_run(p, 5000), 0, profile_context_add(p, "read"));
	fixture_calls(s, 2, 590, 590);
	s->oncpu = 2 * 600;
	s->wall = 2 * 1000;
	s->cost = 2 * 10;
	s->self = 2 * (600 - 10 - 100);
	return p;
}

TEST(test_times)
{
	static const double corrected[ANALYZE_N_TIMES] = {
		[ANALYZE_TIME_ONCPU] = 590,
		[ANALYZE_TIME_WALL] = 990,
		[ANALYZE_TIME_SELF] = 490,
	};
	struct profile *p = sleeper();
	struct analyze_options options;
	struct analyze_figures *f;
	struct analyze_table t;

	for (options.time = 0; options.time < ANALYZE_N_TIMES; options.time++) {
		for (options.raw = false;; options.raw = true) {
			double mean = corrected[options.time] + (options.raw ? 10 : 0);

			analyze_table_init(&t, p, &options);
			f = &t.syscalls.rows[0].figures;
			assert_true(f->mean == mean && f->total == 2 * mean);
			/* The row has the other kinds of time, too. */
			assert_true(f->means[ANALYZE_TIME_WALL] == (options.raw ? 1000 : 990));
			assert_true(f->totals[ANALYZE_TIME_SELF] == (options.raw ? 1000 : 980));
			/* Only CPU time less costs has a distribution. */
			if (options.time == ANALYZE_TIME_ONCPU && !options.raw)
				assert_true(f->p50 == 590 && f->min == 590 && f->max == 590);
			else
				assert_true(isnan(f->p50) && isnan(f->p90) && isnan(f->p99) &&
					    isnan(f->min) && isnan(f->max));
			analyze_table_deinit(&t);
			if (options.raw)
				break;
		}
	}
	profile_destroy(p);
}

TEST(test_order_of_times)
{
	struct profile *p = sleeper();
	struct analyze_table t;

	fixture_calls(profile_cell(p, 0, 0, profile_context_add(p, "brk")), 1, 1300, 1300);
	analyze_table_init(&t, p, &oncpu);
	analyze_rows_sort_by_total(&t.syscalls);
	assert_string_equal(t.syscalls.rows[0].name, "brk");
	analyze_table_deinit(&t);
	analyze_table_init(&t, p, &(struct analyze_options){ .time = ANALYZE_TIME_WALL });
	analyze_rows_sort_by_total(&t.syscalls);
	assert_string_equal(t.syscalls.rows[0].name, "read");
	analyze_table_deinit(&t);
	profile_destroy(p);
}

/* Return the number of P's warnings of KIND. Copy them to FOUND, unless NULL. */
static uint32_t warnings(const struct profile *p, bool is_raw, enum analyze_warning_kind kind,
			 struct analyze_warning *found)
{
	struct analyze_warnings w = { 0 };
	struct analyze_table t;
	uint32_t i, n = 0;

	analyze_table_init(&t, p, &(struct analyze_options){ .raw = is_raw });
	analyze_warnings_of_profile(&w, p, &t, ANALYZE_SIDE_NONE, is_raw);
	for (i = 0; i < w.n_rows; i++) {
		if (w.rows[i].kind != kind)
			continue;
		if (found)
			found[n] = w.rows[i];
		n++;
	}
	analyze_warnings_deinit(&w);
	analyze_table_deinit(&t);
	return n;
}

/* Times of long calls are rounded down to 1,024 ticks before they are squared: a square may be too small by 2 * 1,024 * time. */
TEST(test_spread_of_long_calls)
{
	static const uint64_t calls[] = { 12322778, 12345339, 12466978 };
	struct profile *p = profile_create();
	struct profile_stats *stats;
	struct analyze_table t;
	double spread;

	fixture_run(p, 1);
	stats = profile_cell(p, 0, 0, profile_context_add(p, "clone"));
	for (int i = 0; i < 3; i++)
		fixture_call(stats, calls[i]);
	stats->sumsq = 0;
	for (int i = 0; i < 3; i++)
		stats->sumsq += (double)((calls[i] >> 10) * (calls[i] >> 10) << 20);
	analyze_table_init(&t, p, &oncpu);
	spread = figures(&t.syscalls, "clone", NULL)->spread;
	assert_true(spread == (12466978.0 - 12322778) / 2);
	analyze_table_deinit(&t);
	profile_destroy(p);
}

TEST(test_kernel_and_clock)
{
	struct profile *p = profile_create();
	struct analyze_warning w;

	profile_env_set(p, PROFILE_ENV_VERSION, "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2");
	fixture_function(p, "f", 0x1000);
	p->sites[1].mech = PROFILE_UNTIMED;
	assert_int_equal(warnings(p, false, ANALYZE_WARNING_PREEMPT_RT, NULL), 0);
	assert_int_equal(warnings(p, false, ANALYZE_WARNING_CLOCK, NULL), 0);
	/* Without timed functions, no probe fires while a lock is held. */
	profile_env_set(p, PROFILE_ENV_VERSION, "#1 SMP PREEMPT_RT Debian 6.1.192-2");
	assert_int_equal(warnings(p, false, ANALYZE_WARNING_PREEMPT_RT, NULL), 0);
	p->sites[1].mech = PROFILE_MECH_FENTRY;
	assert_int_equal(warnings(p, false, ANALYZE_WARNING_PREEMPT_RT, NULL), 1);
	assert_int_equal(warnings(p, true, ANALYZE_WARNING_PREEMPT_RT, NULL), 0);
	profile_env_set(p, PROFILE_ENV_CLOCKSOURCE, "refined-jiffies");
	profile_env_set(p, PROFILE_ENV_CLOCK_STEP, "4000000");
	assert_int_equal(warnings(p, true, ANALYZE_WARNING_CLOCK, &w), 1);
	assert_true(w.values[0] == 4e6);
	assert_string_equal(w.names[0], "refined-jiffies");
	assert_int_equal(warnings(p, false, ANALYZE_WARNING_DRIFT, NULL), 0);
	profile_env_set(p, PROFILE_ENV_DRIFT, "fentry 115 ns, then 160");
	assert_int_equal(warnings(p, true, ANALYZE_WARNING_DRIFT, &w), 1);
	assert_string_equal(w.names[0], "fentry 115 ns, then 160");
	profile_env_set(p, PROFILE_ENV_CLOCK_STEP, "often");
	assert_int_equal(warnings(p, false, ANALYZE_WARNING_CLOCK, NULL), 0);
	profile_destroy(p);
}

TEST(test_negative_self)
{
	struct profile *p = sleeper();
	struct analyze_warning w;
	struct analyze_table t;

	assert_int_equal(warnings(p, false, ANALYZE_WARNING_NEGATIVE, NULL), 0);
	p->cells[0].stats.self = -30;
	analyze_table_init(&t, p, &(struct analyze_options){ .time = ANALYZE_TIME_SELF });
	assert_true(t.syscalls.rows[0].figures.total == -30);
	assert_true(t.syscalls.rows[0].figures.mean == -15);
	analyze_table_deinit(&t);
	assert_int_equal(warnings(p, false, ANALYZE_WARNING_NEGATIVE, &w), 1);
	assert_true(w.values[0] == 1 && w.code == ANALYZE_TIME_SELF && !w.names[1]);
	assert_string_equal(w.names[0], "read");
	assert_int_equal(warnings(p, true, ANALYZE_WARNING_NEGATIVE, NULL), 0);
	profile_destroy(p);
}

/* The warning names the three functions with most missed returns. */
TEST(test_missed)
{
	static const struct {
		const char *name;
		enum profile_mechanism mech;
		uint64_t missed;
	} sites[] = {
		{ "seldom", PROFILE_MECH_KPROBE, 1 },      { "never", PROFILE_MECH_KPROBE, 0 },
		{ "often", PROFILE_MECH_KPROBE, 90 },      { "traced", PROFILE_MECH_FENTRY, 20 },
		{ "now_and_then", PROFILE_MECH_MULTI, 3 },
	};
	struct analyze_warning w[5];
	struct profile *p = sleeper();
	uint32_t i;

	assert_int_equal(warnings(p, false, ANALYZE_WARNING_MISSED, w), 0);
	for (i = 0; i < sizeof(sites) / sizeof(*sites); i++)
		profile_site_add(p, &(struct profile_site){ .name = sites[i].name,
							    .kind = PROFILE_SITE_FUNCTION,
							    .mech = sites[i].mech,
							    .missed = sites[i].missed });
	assert_int_equal(warnings(p, false, ANALYZE_WARNING_MISSED, w), 3);
	assert_string_equal(w[0].names[0], "often");
	assert_true(w[0].values[0] == 90 && w[0].code == PROFILE_MECH_KPROBE);
	assert_string_equal(w[1].names[0], "traced");
	assert_true(w[1].values[0] == 20 && w[1].code == PROFILE_MECH_FENTRY);
	assert_string_equal(w[2].names[0], "now_and_then");
	assert_true(w[2].values[0] == 3 && w[2].code == PROFILE_MECH_MULTI);
	profile_destroy(p);
}

static const struct analyze_row *function_row(const struct analyze_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->functions.n_rows; i++)
		if (!strcmp(table->functions.rows[i].name, name) &&
		    analyze_is_sum(table->functions.rows[i].context))
			return &table->functions.rows[i];
	return NULL;
}

/* A function without counted calls has 0 calls only if its probes were attached. Otherwise the number is unknown. */
TEST(test_uncounted)
{
	const struct analyze_options options = { 0 };
	struct profile *p = profile_create();
	uint32_t part, clone = profile_context_add(p, "clone");
	struct analyze_table table;

	fixture_run(p, 1000);
	fixture_function(p, "never_called", 0x1000);
	p->sites[fixture_function(p, "lost", 0x2000)].mech = PROFILE_UNTIMED;
	part = fixture_function(p, "in_part", 0x3000);
	p->sites[fixture_function(p, "in_part", 0x4000)].mech = PROFILE_UNTIMED;
	fixture_calls(profile_cell(p, 0, part, clone), 7, 50, 50);
	analyze_table_init(&table, p, &options);
	assert_true(function_row(&table, "never_called")->figures.calls == 0);
	assert_null(function_row(&table, "never_called")->caveat);
	assert_true(isnan(function_row(&table, "lost")->figures.calls));
	assert_string_equal(function_row(&table, "lost")->label, "lost [not counted]");
	assert_true(function_row(&table, "in_part")->figures.calls == 7);
	assert_string_equal(function_row(&table, "in_part")->caveat, "partly counted");
	analyze_rows_sort_by_total(&table.functions);
	assert_string_equal(table.functions.rows[table.functions.n_rows - 1].name, "lost");
	analyze_table_deinit(&table);
	/* The emulator counts all functions, without probes. */
	profile_env_set(p, PROFILE_ENV_ENGINE, PROFILE_ENGINE_EXACT);
	analyze_table_init(&table, p, &options);
	assert_true(function_row(&table, "lost")->figures.calls == 0);
	analyze_table_deinit(&table);
	profile_destroy(p);
}

/* Skipped calls are a caveat only of functions that interrupts call, too. */
TEST(test_skipped)
{
	const struct analyze_options options = { 0 };
	struct profile *p = fixture_big_fork(1, 943);
	uint32_t i, step, marked;

	for (step = 0; step < 3; step++) {
		struct analyze_table table;

		if (step > 0)
			fixture_calls(profile_cell(p, 0, 1, profile_context_add(p, "[irq]")), 3, 50,
				      60);
		p->runs[0].losses[PROFILE_LOSS_PROBE_RECURSION] = step == 1 ? 0 : 29;
		analyze_table_init(&table, p, &options);
		for (i = marked = 0; i < table.functions.n_rows; i++) {
			const struct analyze_row *row = &table.functions.rows[i];
			bool is = step == 2 && !strcmp(row->name, p->sites[1].name);

			assert_int_equal(!!row->caveat, is);
			assert_int_equal(!!strstr(row->label, " [calls skipped]"), is);
			marked += is;
		}
		assert_true(step < 2 ? !marked : marked >= 3); /* rows "*", a syscall, [irq] */
		for (i = 0; i < table.syscalls.n_rows; i++)
			assert_null(table.syscalls.rows[i].caveat);
		analyze_table_deinit(&table);
	}
	profile_destroy(p);
}

TEST(test_accounting)
{
	struct profile *p = two_runs();
	struct analyze_accounting a;
	struct analyze_warning w;
	uint32_t run, i;

	/* Each run has five calls; calls of the control run are ignored. */
	fixture_call(profile_cell(p, profile_run_add(p, PROFILE_RUN_CONTROL), 0, 0), 1);
	analyze_accounting_init(&a, p);
	assert_true(!a.known && a.returned == 10);

	for (run = 0; run < 2; run++) {
		uint64_t *losses = p->runs[run].losses;

		losses[PROFILE_INFO_CLOSED_BY_EXIT] = 1; /* included in the five calls */
		losses[PROFILE_INFO_OPEN_AT_END] = 2;
		losses[PROFILE_LOSS_ENTRY_WITHOUT_RETURN] = 3;
		losses[PROFILE_LOSS_DEPTH_EXCEEDED] = 4;
		losses[PROFILE_LOSS_CELLS_FULL] = 5;
		losses[PROFILE_LOSS_DETACHED] = 6;
		losses[PROFILE_INFO_ENTRIES] = 5 + 2 + 3 + 4 + 5 + 6;
		/* The balance does not include calls that were entered earlier, or whose entry was not seen. */
		losses[PROFILE_INFO_OPEN_AT_START] = 100;
		losses[PROFILE_LOSS_RETURN_WITHOUT_ENTRY] = 100;
	}
	analyze_accounting_init(&a, p);
	assert_true(a.known && a.unaccounted == 0);
	assert_true(a.entries == 50 && a.returned == 8 && a.closed_by_exit == 2);
	assert_true(a.open_at_end == 4 && a.return_missed == 6);
	assert_true(a.too_deep == 8 && a.no_cell == 10 && a.detached == 12);
	assert_int_equal(warnings(p, false, ANALYZE_WARNING_UNACCOUNTED, NULL), 0);

	/* A wrong term shows in the balance, in both directions. A term that one run lacks makes the balance unknown. */
	static const enum profile_loss terms[] = {
		PROFILE_INFO_ENTRIES,
		PROFILE_INFO_OPEN_AT_END,
		PROFILE_LOSS_ENTRY_WITHOUT_RETURN,
		PROFILE_LOSS_DEPTH_EXCEEDED,
		PROFILE_LOSS_CELLS_FULL,
		PROFILE_LOSS_DETACHED,
	};
	for (i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
		uint64_t *term = &p->runs[1].losses[terms[i]], was = *term;

		*term = was + 1;
		analyze_accounting_init(&a, p);
		assert_true(a.known && a.unaccounted == (i ? -1 : 1));
		assert_int_equal(warnings(p, false, ANALYZE_WARNING_UNACCOUNTED, &w), 1);
		assert_true(w.values[0] == (i ? -1 : 1) && w.values[1] == (i ? 50 : 51));
		assert_int_equal(w.severity, ANALYZE_SEVERITY_ACT);
		*term = PROFILE_NOT_COUNTED;
		analyze_accounting_init(&a, p);
		assert_false(a.known);
		assert_int_equal(warnings(p, false, ANALYZE_WARNING_UNACCOUNTED, NULL), 0);
		*term = was;
	}
	profile_destroy(p);
}

TEST(test_costs)
{
	struct profile *p = two_runs();
	const struct analyze_cost *row;
	struct analyze_warning w;
	struct analyze_costs c;
	uint32_t run;

	profile_cost_set(p, PROFILE_COSTS_SAMPLE, PROFILE_COST_LATENCY, 3, NAN);
	profile_cost_set(p, PROFILE_COSTS_SAMPLE, PROFILE_COST_INTERRUPT, 4, NAN);
	fixture_call(profile_cell(p, 0, 0,
				  profile_context_add(
					  p, profile_context_name(PROFILE_CONTEXT_PAGE_FAULT))),
		     9);
	analyze_costs_init(&c, p);
	assert_int_equal(c.n_rows, 3);
	row = analyze_cost_find(&c, "fentry");
	assert_true(row->inner == 98 && row->inner_spread == 1);
	assert_true(row->full == 332 && row->full_spread == 2);
	/* Six calls of three functions at the full cost, and a page fault. Its time includes the inner cost only. */
	assert_true(row->functions == 3 && row->calls == 7 && row->contexts == 1);
	assert_true(row->total == 6 * 332 + 98 && row->share == row->total / 6009);
	row = analyze_cost_find(&c, "tracepoint");
	assert_true(row->calls == 4 && row->total == 4 * 41 && isnan(row->functions));
	/* A full cost below the inner cost is impossible: the 0 means that it is unknown. */
	assert_true(isnan(row->full));
	row = analyze_cost_find(&c, "sample");
	assert_true(isnan(row->inner) && isnan(row->calls) && isnan(row->total));
	assert_string_equal(row->calibration, "latency=3 interrupt=4");
	assert_null(analyze_cost_find(&c, "kprobe.multi"));
	assert_null(analyze_cost_find(&c, "kprobe"));
	/* 600 of 6,009 ticks were subtracted. 234 ticks of a page fault's probes are outside of its time. Each run takes 1,000. */
	assert_true(c.oncpu == 6009 && c.subtracted == 600 && isnan(c.measured_pct));
	assert_true(c.estimated_kernel_pct == analyze_percent(600 + 234, 5409));
	assert_true(c.estimated_pct == analyze_percent(834, 1166));
	assert_int_equal(warnings(p, false, ANALYZE_WARNING_COST_UNKNOWN, NULL), 0);
	analyze_costs_deinit(&c);

	/* A control run measures the cost. A syscall's probe cost outside of its own time is included if known. */
	run = profile_run_add(p, PROFILE_RUN_CONTROL);
	p->runs[run].wall = 800;
	profile_cost_set(p, PROFILE_MECH_TRACEPOINT, PROFILE_COST_FULL, 51, 0);
	analyze_costs_init(&c, p);
	assert_true(c.measured_pct == 25);
	assert_true(c.estimated_kernel_pct == analyze_percent(834 + 4 * 10, 5409));
	analyze_costs_deinit(&c);

	/* The recording has no cost of kprobes. */
	p->sites[1].mech = PROFILE_MECH_KPROBE;
	analyze_costs_init(&c, p);
	row = analyze_cost_find(&c, "kprobe");
	assert_true(analyze_cost_is_unknown(row) && isnan(row->total) && row->calls == 4);
	assert_string_equal(row->example, "alloc");
	assert_false(analyze_cost_is_unknown(analyze_cost_find(&c, "fentry")));
	analyze_costs_deinit(&c);
	assert_int_equal(warnings(p, false, ANALYZE_WARNING_COST_UNKNOWN, &w), 1);
	assert_string_equal(w.names[0], "kprobe");
	assert_string_equal(w.names[1], "alloc");
	assert_true(w.values[0] == 1);
	assert_int_equal(warnings(p, true, ANALYZE_WARNING_COST_UNKNOWN, NULL), 0);
	/* A kprobe's cost depends on the mechanism that the kernel uses for it. */
	profile_cost_set(p, PROFILE_MECH_KPROBE_INT3, PROFILE_COST_INNER, 1, NAN);
	profile_cost_set(p, PROFILE_MECH_KPROBE_INT3, PROFILE_COST_FULL, 2, NAN);
	assert_int_equal(warnings(p, false, ANALYZE_WARNING_COST_UNKNOWN, NULL), 1);
	p->sites[1].mech = PROFILE_MECH_KPROBE_INT3;
	assert_int_equal(warnings(p, false, ANALYZE_WARNING_COST_UNKNOWN, NULL), 0);
	profile_destroy(p);
}

TEST(test_control_runs_do_not_count)
{
	struct profile *p = two_runs();
	uint32_t run = profile_run_add(p, PROFILE_RUN_CONTROL);
	struct analyze_table t;

	fixture_call(profile_cell(p, run, 0, profile_context_add(p, "clone")), 1);
	fixture_call(profile_cell(p, run, 0, profile_context_add(p, "futex")), 1);
	analyze_table_init(&t, p, &oncpu);
	assert_int_equal(t.runs, 2);
	assert_int_equal(t.syscalls.n_rows, 1);
	assert_true(t.syscalls.rows[0].figures.calls == 4);
	analyze_table_deinit(&t);
	profile_destroy(p);
}

TEST(test_cost_above_time)
{
	struct analyze_warnings w = { 0 };
	struct profile *p = two_runs();
	struct analyze_table t;

	profile_cell(p, 0, 1, 1)->cost = 107; /* more than alloc's 7 ticks in mmap */
	analyze_table_init(&t, p, &oncpu);
	assert_true(figures(&t.functions, "alloc", "mmap")->total == -93);
	assert_true(figures(&t.functions, "alloc", "mmap")->mean == -46.5);
	analyze_warnings_of_profile(&w, p, &t, ANALYZE_SIDE_NONE, false);
	assert_int_equal(w.n_rows, 1);
	assert_int_equal(w.rows[0].kind, ANALYZE_WARNING_NEGATIVE);
	assert_string_equal(w.rows[0].names[0], "alloc");
	assert_string_equal(w.rows[0].names[1], "mmap");
	analyze_warnings_deinit(&w);
	analyze_table_deinit(&t);
	profile_destroy(p);
}

TEST(test_empty)
{
	struct profile *p = profile_create();
	struct analyze_workload workload;
	struct analyze_table t;

	analyze_table_init(&t, p, &oncpu);
	analyze_rows_sort_by_total(&t.functions);
	assert_int_equal(t.syscalls.n_rows + t.functions.n_rows + t.runs + t.boots, 0);
	analyze_table_deinit(&t);
	analyze_workload_init(&workload, p, false);
	analyze_workload_sort_by_order(&workload);
	assert_int_equal(workload.n_rows, 0);
	analyze_workload_deinit(&workload);
	profile_destroy(p);
}

TEST(test_losses)
{
	struct analyze_warnings w = { 0 };
	struct profile *p = two_runs();
	struct analyze_losses losses;

	analyze_losses_sum(&losses, p);
	assert_false(analyze_losses_any(&losses));
	assert_int_equal(losses.samples_expected, PROFILE_NOT_COUNTED);

	/* A loss counted in one run is known. A loss that no run has counted is unknown, not 0. */
	p->runs[0].losses[PROFILE_LOSS_DEPTH_EXCEEDED] = 3;
	p->runs[1].losses[PROFILE_LOSS_DEPTH_EXCEEDED] = PROFILE_NOT_COUNTED;
	p->runs[0].losses[PROFILE_LOSS_PROBE_MISSED] = PROFILE_NOT_COUNTED;
	p->runs[1].losses[PROFILE_LOSS_PROBE_MISSED] = PROFILE_NOT_COUNTED;
	p->runs[0].losses[PROFILE_INFO_OPEN_AT_END] = 5;
	p->runs[1].status = 1;
	analyze_losses_sum(&losses, p);
	assert_true(analyze_losses_any(&losses));
	assert_int_equal(losses.counts[PROFILE_LOSS_DEPTH_EXCEEDED], 3);
	assert_int_equal(losses.counts[PROFILE_LOSS_PROBE_MISSED], PROFILE_NOT_COUNTED);
	assert_int_equal(losses.counts[PROFILE_INFO_OPEN_AT_END], 5);
	analyze_warnings_of_profile(&w, p, NULL, ANALYZE_SIDE_BASELINE, false);
	assert_int_equal(w.n_rows, 2);
	assert_int_equal(w.rows[0].kind, ANALYZE_WARNING_LOSS);
	assert_int_equal(w.rows[0].side, ANALYZE_SIDE_BASELINE);
	assert_int_equal(w.rows[0].code, PROFILE_LOSS_DEPTH_EXCEEDED);
	assert_true(w.rows[0].values[0] == 3 && w.rows[0].severity == ANALYZE_SEVERITY_ACT);
	assert_int_equal(w.rows[1].kind, ANALYZE_WARNING_FAILED_RUNS);
	assert_true(w.rows[1].values[0] == 1 && w.rows[1].values[1] == 2 &&
		    w.rows[1].values[2] == 2 && w.rows[1].run == &p->runs[1]);
	assert_int_equal(w.n_invalid, 0);
	analyze_warnings_deinit(&w);
	profile_destroy(p);
}

TEST(test_workload)
{
	struct profile *p = two_runs();
	uint32_t control = profile_run_add(p, PROFILE_RUN_CONTROL), i;
	struct analyze_workload w;

	p->runs[control].wall = 700;
	for (i = 0; i < 2; i++) {
		profile_report_add(p, i, &(struct profile_report){ "late", 1, 5, NAN, NAN });
		profile_report_add(p, i,
				   &(struct profile_report){ "fork", 20, 100 + i, 90, 80 - i });
	}
	profile_report_add(p, control, &(struct profile_report){ "fork", 20, 60, NAN, 50 });
	analyze_workload_init(&w, p, false);
	analyze_workload_sort_by_order(&w);
	assert_int_equal(w.n_rows, 5);
	assert_string_equal(w.rows[0].name, "late");
	assert_true(w.rows[0].probed && isnan(w.rows[0].figures.min));
	/* Unprobed figures come first. */
	assert_string_equal(w.rows[1].name, "fork");
	assert_false(w.rows[1].probed);
	assert_true(w.rows[1].figures.mean == 60 && isnan(w.rows[1].figures.p50));
	assert_true(w.rows[2].probed);
	assert_true(w.rows[2].figures.iterations == 40 && w.rows[2].figures.mean == 100.5 &&
		    w.rows[2].figures.p50 == 90 && w.rows[2].figures.min == 79);
	assert_string_equal(w.rows[3].name, ANALYZE_COMMAND);
	assert_true(w.rows[3].figures.mean == 700 && !w.rows[3].probed);
	assert_true(w.rows[4].figures.mean == 1000 && w.rows[4].figures.iterations == 2);
	analyze_workload_deinit(&w);
	profile_destroy(p);
}

/* The probes' cost is subtracted from the command's CPU time, but not from the slowdown. */
TEST(test_command_cpu)
{
	struct profile *p = two_runs();
	uint32_t control = profile_run_add(p, PROFILE_RUN_CONTROL);
	struct analyze_workload w;
	double net;

	p->runs[0].cpu = p->runs[1].cpu = 10000;
	p->runs[control].cpu = 9000;
	analyze_workload_init(&w, p, false);
	analyze_workload_sort_by_order(&w);
	assert_string_equal(w.rows[2].name, ANALYZE_COMMAND_CPU);
	assert_true(w.rows[2].gross == 9000 && w.rows[2].figures.mean == 9000);
	net = w.rows[3].figures.mean;
	assert_true(w.rows[3].probed && w.rows[3].gross == 10000 && net < 10000);
	analyze_workload_deinit(&w);
	/* In a recording of all tasks, the command causes only a part of the probes' cost. */
	profile_env_set(p, PROFILE_ENV_TASKS, "all");
	analyze_workload_init(&w, p, false);
	analyze_workload_sort_by_order(&w);
	assert_true(w.rows[3].figures.mean == 10000);
	analyze_workload_deinit(&w);
	profile_destroy(p);
}

RUN_TESTS(NULL, NULL)
