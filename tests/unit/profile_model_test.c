// SPDX-License-Identifier: GPL-2.0-or-later
/* Test profiles in memory: interned strings, lookups, and arithmetic of stats. */
#include <stdio.h>

#include "test.h"
#include "fixture.h"

TEST(a_new_profile_has_no_entries_but_the_first_site)
{
	struct profile *p = profile_create();

	assert_int_equal(p->n_sites, 1);
	assert_int_equal(p->sites[0].kind, PROFILE_SITE_CONTEXT);
	assert_string_equal(p->sites[0].name, "context");
	assert_string_equal(profile_clock_unit(p->clock), "ns");
	profile_destroy(p);
	profile_destroy(NULL);
}

TEST(equal_texts_are_one)
{
	struct profile *p = profile_create();
	char name[] = "allocate_slab", text[40], *big;
	const char *a = profile_intern(p, name), *b;
	size_t size = 300000;
	int i;

	assert_ptr_not_equal(a, name);
	assert_ptr_equal(a, profile_intern(p, "allocate_slab"));
	name[0] = 'x';
	assert_string_equal(a, "allocate_slab");
	assert_null(profile_intern(p, NULL));
	assert_string_equal(profile_intern(p, ""), "");
	assert_ptr_equal(profile_intern(p, ""), profile_intern(p, ""));

	/* A kernel's config is one long string. */
	big = test_malloc(size + 1);
	memset(big, 'y', size);
	big[size] = '\0';
	b = profile_intern(p, big);
	assert_int_equal(strlen(b), size);
	assert_ptr_equal(b, profile_intern(p, big));
	test_free(big);

	for (i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "function_%d", i);
		b = profile_intern(p, text);
		assert_string_equal(b, text);
	}
	/* Strings interned first have not moved. */
	assert_ptr_equal(a, profile_intern(p, "allocate_slab"));
	profile_destroy(p);
}

TEST(names_tell_the_kinds_of_contexts_and_keys)
{
	struct profile *p = profile_create();
	uint32_t clone = profile_context_add(p, "clone"), irq = profile_context_add(p, "[irq]");

	assert_true(profile_context_is(p, irq, PROFILE_CONTEXT_IRQ));
	assert_false(profile_context_is(p, irq, PROFILE_CONTEXT_NONE));
	assert_false(profile_context_is(p, clone, PROFILE_CONTEXT_IRQ));
	assert_int_equal(profile_env_group(PROFILE_ENV_CMDLINE), PROFILE_ENV_OF_KERNEL);
	assert_int_equal(profile_env_group(PROFILE_ENV_BOOTS), PROFILE_ENV_OF_RECORDING);
	assert_int_equal(profile_env_group(PROFILE_ENV_MITIGATION "mds"), PROFILE_ENV_OF_MACHINE);
	profile_destroy(p);
}

TEST(a_key_has_one_value)
{
	struct profile *p = profile_create();

	assert_null(profile_env_get(p, PROFILE_ENV_RELEASE));
	profile_env_set(p, PROFILE_ENV_RELEASE, "6.1");
	profile_env_set(p, PROFILE_ENV_ARCH, "x86_64");
	profile_env_set(p, PROFILE_ENV_RELEASE, "6.12");
	assert_int_equal(p->n_envs, 2);
	assert_string_equal(profile_env_get(p, PROFILE_ENV_RELEASE), "6.12");
	assert_string_equal(profile_env_get(p, PROFILE_ENV_ARCH), "x86_64");
	profile_destroy(p);
}

TEST(what_is_added_twice_is_found)
{
	struct profile *p = profile_create();
	uint32_t stack[] = { 3, 1, 2 }, n = 200000, i;
	char name[20];

	for (i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "syscall_%u", i);
		assert_int_equal(profile_context_add(p, name), i);
	}
	assert_int_equal(profile_context_add(p, "syscall_7"), 7);

	for (i = 0; i < n; i++)
		assert_int_equal(profile_location_add(p, i / 2, i % 2 ? "nf_tables" : NULL), i);
	assert_int_equal(profile_location_add(p, 50, NULL), 100);
	assert_int_equal(profile_location_add(p, 50, "nf_tables"), 101);
	assert_int_equal(p->n_locations, n);

	assert_int_equal(profile_stack_add(p, stack, 3), 0);
	assert_int_equal(profile_stack_add(p, stack, 2), 1);
	assert_int_equal(profile_stack_add(p, NULL, 0), 2);
	assert_int_equal(profile_stack_add(p, stack, 3), 0);
	assert_int_equal(profile_stack_add(p, stack, 0), 2);

	for (i = 0; i < n; i++)
		profile_cell(p, i % 50, i / 50 % 40, i / 2000)->calls = i;
	assert_int_equal(p->n_cells, n);
	for (i = 0; i < n; i++)
		assert_int_equal(profile_cell(p, i % 50, i / 50 % 40, i / 2000)->calls, i);
	assert_int_equal(p->n_cells, n);
	/* New counters are 0. */
	assert_int_equal(profile_cell(p, 50, 0, 0)->calls, 0);
	assert_int_equal(p->n_cells, n + 1);
	profile_destroy(p);
}

TEST(equal_samples_add_up)
{
	struct profile *p = profile_create();
	struct profile_sample sample = { .run = 1, .context = 2, .stack = 3, .count = 4 };

	profile_sample_add(p, &sample);
	profile_sample_add(p, &sample);
	sample.flags = PROFILE_SAMPLE_LATE;
	profile_sample_add(p, &sample);
	assert_int_equal(p->n_samples, 2);
	assert_int_equal(p->samples[0].count, 8);
	assert_int_equal(p->samples[1].count, 4);
	profile_destroy(p);
}

TEST(what_was_not_counted_stays_so)
{
	struct profile *p = profile_create();
	uint64_t sum = PROFILE_NOT_COUNTED;
	uint32_t run = profile_run_add(p, PROFILE_RUN_CONTROL);

	assert_int_equal(p->runs[run].kind, PROFILE_RUN_CONTROL);
	assert_true(p->runs[run].losses[PROFILE_LOSS_PROBE_MISSED] == PROFILE_NOT_COUNTED);
	assert_true(p->runs[run].samples_expected == PROFILE_NOT_COUNTED);
	assert_true(profile_cell(p, run, 0, 0)->errors == PROFILE_NOT_COUNTED);

	profile_count_add(&sum, PROFILE_NOT_COUNTED);
	assert_true(sum == PROFILE_NOT_COUNTED);
	profile_count_add(&sum, 3);
	profile_count_add(&sum, PROFILE_NOT_COUNTED);
	profile_count_add(&sum, 0);
	assert_int_equal(sum, 3);
	profile_destroy(p);
}

TEST(each_loss_has_a_name)
{
	int i, j;

	for (i = 0; i < PROFILE_N_LOSSES; i++) {
		char *one = profile_loss_text(i, 1), *many = profile_loss_text(i, 2);

		assert_null(strchr(many, '|'));
		assert_true(profile_loss_is_info(i) || strlen(one) < strlen(many));
		free(one);
		free(many);
		assert_non_null(profile_loss_key(i));
		for (j = 0; j < i; j++)
			assert_string_not_equal(profile_loss_key(i), profile_loss_key(j));
	}
	assert_string_equal(profile_loss_key(PROFILE_LOSS_RETURN_WITHOUT_ENTRY),
			    "return_without_entry");
	assert_false(profile_loss_is_info(PROFILE_LOSS_SAMPLES_NOT_RECEIVED));
	assert_true(profile_loss_is_info(PROFILE_INFO_OPEN_AT_START));
	assert_true(profile_loss_is_info(PROFILE_INFO_TASKS_LEFT));
}

TEST(buckets_are_in_order)
{
	static const uint32_t slots[] = { 50, 10, 30, 50, 0, 591, 30, 20 };
	static const struct profile_bucket want[] = { { 0, 1 },  { 10, 1 }, { 20, 1 },
						      { 30, 2 }, { 50, 2 }, { 591, 1 } };
	struct profile_stats s;
	size_t i;

	profile_stats_init(&s);
	for (i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
		profile_stats_bucket_add(&s, slots[i], 1);
	profile_stats_bucket_add(&s, 40, 0);
	assert_int_equal(s.n_buckets, 6);
	for (i = 0; i < s.n_buckets; i++) {
		assert_int_equal(s.buckets[i].slot, want[i].slot);
		assert_int_equal(s.buckets[i].count, want[i].count);
	}
	profile_stats_deinit(&s);
}

TEST(merged_stats_are_those_of_all_calls)
{
	struct profile_stats a, b, all;
	uint32_t i;

	profile_stats_init(&a);
	profile_stats_init(&b);
	profile_stats_init(&all);
	for (i = 0; i < 1000; i++) {
		uint64_t time = (uint64_t)i * i + 3; /* squares that a double adds up exactly */

		fixture_call(i % 3 ? &a : &b, time);
		fixture_call(&all, time);
	}
	a.cost = 5;
	b.cost = 6;
	b.errors = 2;
	/* The own times of B and of the sum are below 0, and are not clamped to 0. */
	a.self -= 7;
	b.self = -all.self;
	all.self = a.self + b.self;
	assert_true(all.self < 0);
	profile_stats_merge(&a, &b);
	assert_int_equal(a.calls, all.calls);
	assert_int_equal(a.errors, 2);
	assert_int_equal(a.wall, all.wall);
	assert_int_equal(a.oncpu, all.oncpu);
	assert_true(a.self == all.self);
	assert_int_equal(a.cost, 11);
	assert_true(a.sumsq == all.sumsq);
	assert_int_equal(a.min, 3);
	assert_int_equal(a.max, all.max);
	assert_int_equal(a.n_buckets, all.n_buckets);
	for (i = 0; i < a.n_buckets; i++) {
		assert_int_equal(a.buckets[i].slot, all.buckets[i].slot);
		assert_int_equal(a.buckets[i].count, all.buckets[i].count);
	}
	profile_stats_deinit(&a);
	profile_stats_deinit(&b);
	profile_stats_deinit(&all);
}

TEST(empty_stats_change_nothing)
{
	struct profile_stats a, b;

	profile_stats_init(&a);
	profile_stats_init(&b);
	profile_stats_merge(&a, &b);
	assert_int_equal(a.calls, 0);
	assert_true(a.errors == PROFILE_NOT_COUNTED);

	/* The minimum of statistics without calls, 0, is ignored. */
	fixture_call(&b, 70);
	profile_stats_merge(&a, &b);
	assert_int_equal(a.min, 70);
	profile_stats_deinit(&b);
	profile_stats_merge(&a, &b);
	assert_int_equal(a.min, 70);
	assert_int_equal(a.max, 70);
	profile_stats_deinit(&a);
}

TEST(a_range_observes_excursions_without_counted_entries)
{
	struct profile_stats a, b;

	profile_stats_init(&a);
	profile_stats_init(&b);
	assert_true(a.entries == PROFILE_NOT_COUNTED);
	fixture_entries(&a, 0, 3, 10, 12);
	assert_int_equal(profile_stats_observed(&a), 3);
	assert_true(profile_stats_quantile(&a, 1) == 12);
	fixture_entries(&b, 5, 1, 7, 7);
	profile_stats_merge(&a, &b);
	assert_int_equal(a.calls, 5);
	assert_int_equal(a.entries, 4);
	assert_int_equal(a.min, 7);
	assert_int_equal(a.max, 12);
	assert_int_equal(a.oncpu, 10 + 11 + 12 + 7);
	profile_stats_deinit(&b);

	/* An inlined function that was not entered has no minimum; an ordinary function has no entries. */
	b.entries = 0;
	profile_stats_merge(&a, &b);
	assert_int_equal(a.min, 7);
	profile_stats_merge(&b, &a);
	assert_int_equal(b.min, 7);
	assert_int_equal(b.entries, 4);
	profile_stats_deinit(&a);
	profile_stats_deinit(&b);
	fixture_call(&b, 70);
	assert_true(b.entries == PROFILE_NOT_COUNTED);
	assert_int_equal(profile_stats_observed(&b), 1);
	profile_stats_deinit(&b);
}

TEST(small_quantiles_are_exact)
{
	struct profile_stats s;
	uint64_t time;
	int i;

	profile_stats_init(&s);
	assert_true(isnan(profile_stats_quantile(&s, 0.5)));

	/* All quantiles of one call are the call's time, however wide its histogram slot is. */
	fixture_call(&s, 123456789);
	for (i = 0; i <= 10; i++)
		assert_true(profile_stats_quantile(&s, i / 10.0) == 123456789);
	profile_stats_deinit(&s);

	/* Histogram slots with a single value give exact quantiles. */
	for (time = 1; time <= 10; time++)
		fixture_call(&s, time);
	assert_true(profile_stats_quantile(&s, 0) == 1);
	assert_true(profile_stats_quantile(&s, 0.5) == 5);
	assert_true(profile_stats_quantile(&s, 0.9) == 9);
	assert_true(profile_stats_quantile(&s, 0.91) == 10);
	assert_true(profile_stats_quantile(&s, 1) == 10);
	assert_true(profile_stats_quantile(&s, -1) == 1);
	assert_true(profile_stats_quantile(&s, 2) == 10);
	assert_true(isnan(profile_stats_quantile(&s, NAN)));
	profile_stats_deinit(&s);
}

TEST(quantiles_are_true_to_a_slot_and_ascend)
{
	struct profile_stats s;
	double q, value, last = 0;
	int i;

	profile_stats_init(&s);
	fixture_calls(&s, 100001, 1000, 5000000);
	for (i = 0; i <= 1000; i++) {
		q = i / 1000.0;
		value = profile_stats_quantile(&s, q);
		assert_true(value >= last);
		assert_true(fabs(value - (1000 + q * 4999000)) <= 1000 + value / 1000);
		last = value;
	}
	assert_true(profile_stats_quantile(&s, 0) == 1000);
	assert_true(profile_stats_quantile(&s, 1) == 5000000);
	profile_stats_deinit(&s);
}

TEST(huge_times_share_a_slot_below_max)
{
	struct profile_stats s;

	profile_stats_init(&s);
	fixture_call(&s, 1ULL << 50);
	fixture_call(&s, 1ULL << 50);
	assert_true(profile_stats_quantile(&s, 0.5) == (double)(1ULL << 50));
	profile_stats_deinit(&s);
}

TEST(the_fixture_is_as_tests_expect)
{
	struct profile *p = fixture_big_fork(3, 943);

	assert_int_equal(p->n_runs, 3);
	assert_int_equal(p->n_cells, 9);
	assert_int_equal(p->n_stacks, 2);
	profile_destroy(p);
}

RUN_TESTS(NULL, NULL)
