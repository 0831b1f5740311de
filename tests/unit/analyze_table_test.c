// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows out of cells: what is summed, what is kept apart, what is not known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/losses.h"
#include "analyze/table.h"
#include "analyze/workload.h"
#include "fixture.h"

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

/* Two runs in two boots, two clones of one function in two contexts, and a function never called. */
static struct profile *two_runs(void)
{
	struct profile *p = profile_create();
	uint32_t clone = profile_context_add(p, "clone"), mmap = profile_context_add(p, "mmap");
	uint32_t a = fixture_function(p, "alloc", 1), b = fixture_function(p, "alloc", 2), i;

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

static void test_sums(void **state)
{
	struct profile *p = two_runs();
	const struct analyze_figures *f;
	struct analyze_table t;

	(void)state;
	analyze_table_init(&t, p, false);
	assert_int_equal(t.runs, 2);
	assert_int_equal(t.boots, 2);
	assert_true(t.oncpu == 6000 && t.cost == 600);
	assert_int_equal(t.syscalls.n_rows, 1);
	f = figures(&t.syscalls, "clone", NULL);
	assert_true(f->calls == 4 && f->errors == 1 && f->total == 5400 && f->mean == 1350);
	assert_true(f->min == 1000 && f->max == 2000);

	/* Namesakes together, contexts apart and together. */
	assert_int_equal(t.functions.n_rows, 4);
	f = figures(&t.functions, "alloc", "clone");
	assert_true(f->calls == 4 && f->total == 600 && f->mean == 150 && isnan(f->errors));
	f = figures(&t.functions, "alloc", "mmap");
	assert_true(f->calls == 2 && f->total == 14);
	f = figures(&t.functions, "alloc", "*");
	assert_true(f->calls == 6 && f->total == 614 && f->min == 7 && f->max == 200);
	assert_false(find(&t.functions, "alloc", "*")->redundant);

	/* Known not to have been called: no calls, and so no mean. */
	f = figures(&t.functions, "unused", "*");
	assert_true(f->calls == 0 && f->total == 0 && isnan(f->mean) && isnan(f->p99) &&
		    isnan(f->min));
	analyze_table_deinit(&t);
	profile_destroy(p);
}

static void test_order(void **state)
{
	struct profile *p = two_runs();
	struct analyze_table t;

	(void)state;
	analyze_table_init(&t, p, false);
	assert_string_equal(t.functions.rows[0].context, "*");
	assert_string_equal(t.functions.rows[1].context, "clone");
	analyze_rows_sort_by_total(&t.functions);
	assert_true(t.functions.rows[0].figures.total == 614);
	assert_true(t.functions.rows[1].figures.total == 600);
	assert_string_equal(t.functions.rows[3].name, "unused");
	analyze_table_deinit(&t);
	profile_destroy(p);
}

static void test_raw(void **state)
{
	struct profile *p = two_runs();
	const struct analyze_figures *f;
	struct analyze_table t;

	(void)state;
	analyze_table_init(&t, p, true);
	f = figures(&t.syscalls, "clone", NULL);
	assert_true(f->total == 6000 && f->mean == 1500);
	/* Kept without cost, so not those of the raw times. */
	assert_true(isnan(f->p50) && isnan(f->min) && isnan(f->max));
	/* Without cost they are the same thing. */
	assert_true(figures(&t.functions, "alloc", "mmap")->p50 == 7);
	analyze_table_deinit(&t);
	profile_destroy(p);
}

static void test_control_runs_do_not_count(void **state)
{
	struct profile *p = two_runs();
	uint32_t run = profile_run_add(p, PROFILE_RUN_CONTROL);
	struct analyze_table t;

	(void)state;
	fixture_call(profile_cell(p, run, 0, profile_context_add(p, "clone")), 1);
	fixture_call(profile_cell(p, run, 0, profile_context_add(p, "futex")), 1);
	analyze_table_init(&t, p, false);
	assert_int_equal(t.runs, 2);
	assert_int_equal(t.syscalls.n_rows, 1);
	assert_true(t.syscalls.rows[0].figures.calls == 4);
	analyze_table_deinit(&t);
	profile_destroy(p);
}

static void test_cost_above_time(void **state)
{
	struct analyze_warnings w = { 0 };
	struct profile *p = two_runs();
	struct analyze_table t;

	(void)state;
	profile_cell(p, 0, 1, 1)->cost = 107; /* alloc, 7 ticks in mmap */
	analyze_table_init(&t, p, false);
	assert_true(figures(&t.functions, "alloc", "mmap")->total == -93);
	assert_true(figures(&t.functions, "alloc", "mmap")->mean == -46.5);
	analyze_warnings_of_profile(&w, p, "");
	assert_int_equal(w.n_texts, 1);
	assert_non_null(strstr(w.texts[0], "alloc (mmap)"));
	analyze_warnings_deinit(&w);
	analyze_table_deinit(&t);
	profile_destroy(p);
}

static void test_empty(void **state)
{
	struct profile *p = profile_create();
	struct analyze_workload workload;
	struct analyze_table t;

	(void)state;
	analyze_table_init(&t, p, false);
	analyze_rows_sort_by_total(&t.functions);
	assert_int_equal(t.syscalls.n_rows + t.functions.n_rows + t.runs + t.boots, 0);
	analyze_table_deinit(&t);
	analyze_workload_init(&workload, p);
	analyze_workload_sort_by_order(&workload);
	assert_int_equal(workload.n_rows, 0);
	analyze_workload_deinit(&workload);
	profile_destroy(p);
}

static void test_losses(void **state)
{
	struct analyze_warnings w = { 0 };
	struct profile *p = two_runs();
	struct analyze_losses losses;

	(void)state;
	analyze_losses_sum(&losses, p);
	assert_false(analyze_losses_any(&losses));
	assert_int_equal(losses.samples_expected, PROFILE_NOT_COUNTED);

	/* What one run counted is known to be lost; what none counted is not known to be 0. */
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
	analyze_warnings_of_profile(&w, p, "baseline: ");
	assert_int_equal(w.n_texts, 2);
	assert_string_equal(w.texts[0],
			    "baseline: 3 calls not timed: too many timed functions nested");
	assert_string_equal(
		w.texts[1],
		"baseline: the workload failed in 1 of 2 runs (exit status 1 in run 2)");
	analyze_warnings_deinit(&w);
	profile_destroy(p);
}

static void test_workload(void **state)
{
	struct profile *p = two_runs();
	uint32_t control = profile_run_add(p, PROFILE_RUN_CONTROL), i;
	struct analyze_workload w;

	(void)state;
	p->runs[control].wall = 700;
	for (i = 0; i < 2; i++) {
		profile_report_add(p, i, &(struct profile_report){ "late", 1, 5, NAN, NAN });
		profile_report_add(p, i,
				   &(struct profile_report){ "fork", 20, 100 + i, 90, 80 - i });
	}
	profile_report_add(p, control, &(struct profile_report){ "fork", 20, 60, NAN, 50 });
	analyze_workload_init(&w, p);
	analyze_workload_sort_by_order(&w);
	assert_int_equal(w.n_rows, 5);
	assert_string_equal(w.rows[0].name, "late");
	assert_true(w.rows[0].probed && isnan(w.rows[0].figures.min));
	/* The unprobed figures come first. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_control_runs_do_not_count),
		cmocka_unit_test(test_cost_above_time),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_workload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
