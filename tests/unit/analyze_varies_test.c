// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the made-up variable that explains made-up latencies. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "test.h"
#include "analyze/varies/varies.h"
#include "fixture.h"

static uint64_t seed;

static uint32_t chance(uint32_t n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)((seed >> 33) % n);
}

/* Return roughly normal noise of deviation 1. */
static double noise(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += chance(1 << 20) / (double)(1 << 20);
	return sum;
}

/* Create a profile of the function f with variables NAMES. Names that begin with "flags" are bit masks. */
static struct profile *start(uint32_t n, const char *const *names)
{
	struct profile *p = profile_create();
	uint32_t site;

	seed = 1;
	p->clock = PROFILE_CLOCK_INSN;
	fixture_run(p, 1000000);
	profile_context_add(p, "read");
	site = fixture_function(p, "f", 0x1000);
	for (uint32_t i = 0; i < n; i++)
		profile_variable_add(p, &(struct profile_variable){
						.site = site,
						.name = names[i],
						.bytes = 4,
						.kind = strstr(names[i], "name") ?
								PROFILE_VARIABLE_NAME :
								PROFILE_VARIABLE_ARGUMENT,
						.is_signed = !strcmp(names[i], "delta"),
						.is_flags = !strncmp(names[i], "flags", 5) });
	return p;
}

#define START(...)                                                            \
	start(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(const char *), \
	      (const char *[]){ __VA_ARGS__ })

static uint32_t context; /* context of the calls that are added */

static void add_calls(struct profile *p, double time, uint64_t calls, const uint64_t *values,
		      uint32_t n)
{
	uint64_t t = (uint64_t)fmax(0, round(time));
	struct profile_capture c = { .site = 1,
				     .context = context,
				     .calls = calls,
				     .time = (int64_t)(t * calls),
				     .sumsq = (double)calls * (double)t * (double)t,
				     .min = t,
				     .max = t };

	memcpy(c.values, values, n * sizeof(*values));
	profile_capture_add(p, &c);
}

#define CALL(p, time, ...)                                       \
	add_calls(p, time, 1, (const uint64_t[]){ __VA_ARGS__ }, \
		  sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.12g instead of %.12g", value, expected);
}

static void assert_condition(const struct varies_part *part, const char *variable,
			     enum varies_op op, uint64_t value)
{
	assert_string_equal(part->variable->name, variable);
	assert_int_equal(part->op, op);
	assert_true(part->value == value);
}

/*
 * Several variables explain the time equally well. In any order of variables, the selected one is a name, else an argument, else
 * the variable reached through the fewest pointers.
 */
TEST(test_known)
{
	static const char *const all[][3] = { { "s->oo.x", "n", "s->name" },
					      { "s->oo.x", "s->size", "n" },
					      { "s->cpu_slab->page", "s->oo.x", "s->size" } };
	static const char *const known[] = { "s->name", "n", "s->size" };

	for (int k = 0; k < 3; k++) {
		struct profile *p = start(3, all[k]);
		uint64_t names[2];
		struct varies v;

		for (int i = 0; i < 2; i++)
			names[i] = profile_name_add(p, i ? "b" : "a");
		for (int i = 0; i < 3000; i++) {
			uint32_t is = !chance(4);
			uint64_t values[3];

			for (int j = 0; j < 3; j++)
				values[j] = strstr(all[k][j], "name") ? names[is] : 100 + is;
			add_calls(p, 500 + 100 * is + 100 * noise(), 1, values, 3);
		}
		assert_int_equal(varies_init(&v, p, "f"), 0);
		assert_int_equal(v.n_selected, 1);
		assert_string_equal(v.ranks[0].variable->name, known[k]);
		assert_true(v.ranks[1].alone >= 0.95 * v.ranks[0].alone);
		varies_deinit(&v);
		profile_destroy(p);
	}
}

/* The setting crng_init determines the time. The other variables do not matter. */
TEST(test_category)
{
	struct profile *p = START("cpu", "crng_init", "s");
	struct varies v;

	for (int i = 0; i < 3000; i++) {
		uint32_t init = chance(3);

		CALL(p, (init ? 930 : 11077) + 20 * noise(), chance(4), init,
		     0xffff888000000000 + chance(1000));
	}
	assert_int_equal(varies_init(&v, p, "f"), 0);
	assert_int_equal(v.n_selected, 1);
	assert_string_equal(v.ranks[0].variable->name, "crng_init");
	assert_true(v.ranks[0].alone > 0.99 && v.ranks[0].given_others > 0.99);
	near(v.ranks[0].p, 1.0 / (VARIES_PERMUTATIONS + 1), 1e-9);
	assert_true(v.ranks[1].p > 0.05 && v.ranks[2].p > 0.05);
	assert_true(v.ranks[1].alone < 0.01 && isnan(v.ranks[1].given_others));
	assert_int_equal(v.n_parts, 3);
	assert_condition(&v.parts[1], "crng_init", VARIES_AT_MOST, 0);
	near(v.parts[1].mean, 11077, 3);
	near(v.parts[2].mean, 930, 3);
	near(v.parts[1].calls + v.parts[2].calls, 3000, 0);
	near(v.parts[0].explained + v.parts[1].unexplained + v.parts[2].unexplained, 1, 1e-9);
	varies_deinit(&v);
	profile_destroy(p);
}

/* Find the slope of a line. The second line's figures are those of R's lm(), printed by analyze_varies_test.R. */
TEST(test_line)
{
	struct profile *p = START("s->objects", "cpu", "delta");
	struct varies v;

	for (int i = 0; i < 2000; i++) {
		uint32_t objects = 8 + chance(30);

		CALL(p, 20.2 * objects + 96 + 10 * noise(), objects, chance(2),
		     (uint64_t)((int64_t)chance(9) - 4));
	}
	assert_int_equal(varies_init(&v, p, "f"), 0);
	assert_int_equal(v.n_selected, 1);
	assert_int_equal(v.n_parts, 1);
	assert_string_equal(v.parts[0].law.variable->name, "s->objects");
	near(v.parts[0].law.slope, 20.2, 0.01 * 20.2);
	near(v.parts[0].law.constant, 96, 5);
	assert_true(v.ranks[0].law.slope == v.parts[0].law.slope);
	varies_deinit(&v);
	profile_destroy(p);

	p = START("delta");
	for (int64_t i = -20; i < 20; i++)
		CALL(p, (double)(1000 + 7 * i + i * i % 11), (uint64_t)i);
	assert_int_equal(varies_init(&v, p, "f"), 0);
	near(v.parts[0].law.slope, 7.00093808630394, 1e-9);
	near(v.parts[0].law.constant, 1004.250469043152, 1e-7);
	near(v.parts[0].law.slope_interval.low, 6.921040045999, 1e-9);
	near(v.parts[0].explained, 0.9987937729867333, 1e-12);
	varies_deinit(&v);
	profile_destroy(p);
}

TEST(test_flag)
{
	struct profile *p = START("flags", "n");
	struct varies v;

	for (int i = 0; i < 2000; i++) {
		uint32_t flags = chance(4096);

		CALL(p, (flags & 0x100 ? 900 : 400) + 20 * noise(), flags, chance(5));
	}
	assert_int_equal(varies_init(&v, p, "f"), 0);
	assert_int_equal(v.n_selected, 1);
	assert_int_equal(v.n_parts, 3);
	assert_condition(&v.parts[1], "flags", VARIES_BIT, 0x100);
	near(v.parts[1].mean, 900, 4);
	assert_condition(&v.parts[2], "flags", VARIES_NO_BIT, 0x100);
	varies_deinit(&v);
	profile_destroy(p);
}

/* Names have no order and no distances, whatever their values. Each slow name is a separate condition. */
TEST(test_names)
{
	struct profile *p = START("s->name", "n");
	uint64_t caches[12];
	struct varies v;

	for (uint32_t i = 0; i < 12; i++) {
		char name[16];

		snprintf(name, sizeof(name), "kmalloc-%u", 8u << i);
		caches[i] = profile_name_add(p, name);
	}
	for (int i = 0; i < 3000; i++) {
		uint32_t cache = chance(12);

		CALL(p,
		     (cache == 7 ? 1900 :
		      cache == 2 ? 900 :
				   400) +
			     20 * noise(),
		     caches[cache], chance(5));
	}
	assert_int_equal(varies_init(&v, p, "f"), 0);
	assert_int_equal(v.n_selected, 1);
	assert_true(v.ranks[0].alone > 0.99);
	assert_null(v.ranks[0].law.variable);
	assert_int_equal(v.n_parts, 5);
	assert_condition(&v.parts[1], "s->name", VARIES_EQUAL, caches[7]);
	assert_condition(&v.parts[2], "s->name", VARIES_NOT_EQUAL, caches[7]);
	assert_condition(&v.parts[3], "s->name", VARIES_EQUAL, caches[2]);
	near(v.parts[4].mean, 400, 4);
	assert_string_equal(profile_name_of(p, v.parts[1].value), "kmalloc-1024");
	varies_deinit(&v);
	profile_destroy(p);
}

/*
 * The context is selected unless a variable explains as much of the time. An argument that explains as much, or that is named
 * "context", comes first.
 */
TEST(test_context)
{
	static const char *const seconds[] = { "n", "from_clone", "context" };

	for (int i = 0; i < 3; i++) {
		struct profile *p = START("cpu", seconds[i]), *q = START("cpu");
		struct varies_shifts s;
		struct varies v;

		profile_context_add(p, "clone");
		profile_context_add(q, "clone");
		for (int j = 0; j < 2000; j++) {
			uint32_t clone = chance(4) == 0;

			context = clone;
			CALL(p, (clone ? 1900 : 400) + 20 * noise(), chance(4), i == 1 ? clone : 0);
			context = 1;
			CALL(q, 1900 + 20 * noise(), chance(4));
		}
		context = 0;
		assert_int_equal(varies_init(&v, p, "f"), 0);
		assert_int_equal(v.n_ranks, i == 2 ? 2 : 3);
		assert_int_equal(v.n_selected, i < 2);
		if (i < 2)
			assert_true(v.ranks[0].alone > 0.95);
		if (i == 0) {
			assert_ptr_equal(v.ranks[0].variable, &varies_context);
			assert_condition(&v.parts[1], "context", VARIES_EQUAL,
					 profile_name_value("clone"));
			assert_string_equal(profile_name_of(p, v.parts[1].value), "clone");
			near(v.parts[1].mean, 1900, 5);
			varies_shifts_init(&s, p, q);
			assert_string_equal(s.rows[1].variable, "context");
			near(s.rows[1].by_values, 1125, 40);
			near(s.rows[1].by_cost, 0, 5);
			varies_shifts_deinit(&s);
		} else if (i == 1) {
			assert_string_equal(v.ranks[0].variable->name, "from_clone");
			assert_string_equal(v.ranks[1].variable->name, "context");
		}
		varies_deinit(&v);
		profile_destroy(p);
		profile_destroy(q);
	}
}

/* The time is linear in s->objects, with a constant for each value of crng_init. s->size explains as much as s->objects. */
TEST(test_two)
{
	struct profile *p = START("crng_init", "s->objects", "s->size", "cpu");
	struct varies v;

	for (int i = 0; i < 4000; i++) {
		uint32_t init = chance(2), objects = 8 + chance(24);

		CALL(p, (init ? 96 : 2096) + 20 * objects + 5 * noise(), init, objects,
		     4096 - 16 * objects, chance(2));
	}
	assert_int_equal(varies_init(&v, p, "f"), 0);
	assert_int_equal(v.n_selected, 2);
	assert_string_equal(v.ranks[0].variable->name, "crng_init");
	assert_string_equal(v.ranks[1].variable->name, "s->objects");
	near(v.ranks[0].alone, 0.98, 0.01);
	assert_true(v.ranks[1].alone < 0.03);
	near(v.ranks[1].given_others, 0.02, 0.005);
	assert_true(v.explained > 0.999);
	assert_int_equal(v.n_parts, 3);
	assert_condition(&v.parts[1], "crng_init", VARIES_EQUAL, 0);
	near(v.parts[1].law.slope, 20, 0.2);
	near(v.parts[2].law.slope, 20, 0.2);
	near(v.parts[2].law.constant, 96, 5);
	varies_deinit(&v);
	profile_destroy(p);
}

/*
 * Beside a variable with effect, variables without effect are selected only by chance: they are random per call, or per row of
 * calls (permuted values). At 1 %, 2 of 200 seeds are expected; more than 10 have a probability of 10^-5.
 */
TEST(test_shuffled)
{
	uint32_t selected = 0, low = 0, wrong = 0, noisy = 0;
	struct varies v;

	for (uint32_t round = 0; round < 200; round++) {
		struct profile *p = START("n", "of_call", "of_row");

		seed = round;
		for (int i = 0; i < 300; i++) {
			uint32_t n = chance(30), of_row = chance(6);

			for (int j = 0; j < 3; j++)
				CALL(p, 100 + 20 * n + 10 * noise(), n, chance(6), of_row);
		}
		assert_int_equal(varies_init(&v, p, "f"), 0);
		wrong += strcmp(v.ranks[0].variable->name, "n") != 0;
		selected += v.n_selected > 1;
		low += v.ranks[1].p < 0.05 || v.ranks[2].p < 0.05;
		varies_deinit(&v);
		profile_destroy(p);
		p = START("n", "flags", "cpu");
		seed = 1000 + round;
		for (int i = 0; i < 500; i++)
			CALL(p, 600 + (chance(50) ? 10 : 300) * noise(), chance(1000), chance(16),
			     chance(2));
		assert_int_equal(varies_init(&v, p, "f"), 0);
		noisy += v.n_selected > 0;
		varies_deinit(&v);
		profile_destroy(p);
	}
	print_message("# of 200 seeds: p < 0.05 in %u, selected in %u, of noise alone in %u\n", low,
		      selected, noisy);
	assert_int_equal(wrong, 0);
	assert_true(low <= 20);
	assert_true(selected <= 10 && noisy <= 10);
}

/* Nothing explains a constant latency, or a latency with few calls. */
TEST(test_nothing)
{
	struct profile *p = START("n");
	struct varies v;

	for (int i = 0; i < 20; i++)
		CALL(p, 100 * i, i);
	assert_int_equal(varies_init(&v, p, "f"), 0);
	assert_true(isnan(v.explained) && !v.n_selected && v.calls == 20);
	varies_deinit(&v);
	for (int i = 0; i < 200; i++)
		CALL(p, 100, i);
	assert_int_equal(varies_init(&v, p, NULL), 0);
	varies_deinit(&v);
	profile_destroy(p);
	p = START("n");
	for (int i = 0; i < 200; i++)
		CALL(p, 100, i);
	assert_int_equal(varies_init(&v, p, "f"), 0);
	assert_true(isnan(v.explained) && !v.n_parts);
	varies_deinit(&v);
	assert_int_equal(varies_init(&v, p, "g"), -ENOENT);
	profile_destroy(p);
}

/* Each sampled row represents several lost calls. A condition may be that a value was not captured. */
TEST(test_sampled)
{
	struct profile *p = START("n", "p->size");
	struct varies v;

	for (uint32_t i = 0; i < 1000; i++) {
		bool absent = i % 4 == 0;
		uint64_t time = absent ? 1000 + i % 7 : 100 + i % 7;

		profile_capture_add(
			p, &(struct profile_capture){ .site = 1,
						      .sampled = i >= 800,
						      .absent = absent ? 2 : 0,
						      .calls = 1,
						      .time = (int64_t)time,
						      .sumsq = (double)time * (double)time,
						      .min = time,
						      .max = time,
						      .values = { i, absent ? 0 : i % 50 } });
	}
	/* Losses of other functions do not matter. */
	p->runs[0].losses[PROFILE_LOSS_CAPTURES_FULL] = 9000;
	profile_cell(p, 0, 1, 0)->calls = 2800;
	assert_int_equal(varies_init(&v, p, "f"), 0);
	assert_true(v.calls == 800 + 2000 && v.lost == 2000 && v.sampled == 200);
	assert_string_equal(v.ranks[0].variable->name, "p->size");
	assert_int_equal(v.parts[1].op, VARIES_UNKNOWN);
	near(v.parts[1].calls, 200 + 500, 0);
	varies_deinit(&v);
	profile_destroy(p);
}

static struct profile *side(uint32_t from, double slope, double constant)
{
	struct profile *p = START("n", "cpu");

	seed = from + (uint64_t)slope;
	for (int i = 0; i < 2000; i++) {
		uint32_t n = from + chance(30);

		CALL(p, constant + slope * n + 5 * noise(), n, chance(2));
	}
	return p;
}

/* Check the parts of the mean's change: VALUES by other values of n, at a slope of 20; COST at equal values. Destroy B. */
static void assert_shift(struct profile *a, struct profile *b, double values, double cost)
{
	struct varies_shifts s;

	varies_shifts_init(&s, a, b);
	assert_int_equal(s.n_rows, 2);
	assert_null(s.rows[0].variable);
	assert_string_equal(s.rows[1].variable, "n");
	for (uint32_t i = 0; i < s.n_rows; i++) {
		near(s.rows[i].by_values, values, 12);
		near(s.rows[i].by_cost, cost, 5);
		near(s.rows[i].by_values + s.rows[i].by_cost, s.rows[i].delta, 1e-9);
	}
	varies_shifts_deinit(&s);
	profile_destroy(b);
}

/* The recordings differ by the values of n, by the cost at equal values, or by both. */
TEST(test_shift)
{
	struct profile *a = side(10, 20, 100), *settings[2];
	struct varies_shifts s;

	assert_shift(a, side(14, 20, 100), 80, 0);
	assert_shift(a, side(10, 20, 200), 0, 100);
	assert_shift(a, side(14, 20, 200), 80, 100);
	varies_shifts_init(&s, a, a);
	assert_int_equal(s.n_rows, 0);
	varies_shifts_deinit(&s);
	profile_destroy(a);
	/* Each recording has another value of crng_init. */
	for (uint32_t i = 0; i < 2; i++) {
		settings[i] = START("crng_init", "cpu");
		profile_env_set(settings[i], PROFILE_ENV_BUILD_ID, "aa");
		for (int j = 0; j < 1000; j++)
			CALL(settings[i], i ? 900 + 5 * noise() : 11000 + 5 * noise(), i,
			     chance(2));
	}
	varies_shifts_init(&s, settings[0], settings[1]);
	assert_int_equal(s.n_rows, 2);
	near(s.rows[1].by_values, -10100, 2);
	near(s.rows[1].by_cost, 0, 1e-6);
	assert_true(s.rows[1].sides[0].value == 0 && s.rows[1].sides[1].value == 1);
	varies_shifts_deinit(&s);
	/* Between two kernels, the effect of the setting cannot be distinguished from a change of the code. */
	profile_env_set(settings[1], PROFILE_ENV_BUILD_ID, "bb");
	varies_shifts_init(&s, settings[0], settings[1]);
	assert_int_equal(s.n_rows, 1);
	near(s.rows[0].by_cost, -10100, 2);
	varies_shifts_deinit(&s);
	profile_destroy(settings[0]);
	profile_destroy(settings[1]);
}

static uint64_t steps(uint32_t n)
{
	struct profile *p = START("n", "size", "flags", "ready");
	struct varies v;
	uint64_t taken;

	for (uint32_t i = 0; i < n; i++)
		CALL(p, 100 + 20 * i + 9 * noise(), i, chance(1 << 30), chance(256), chance(2));
	assert_int_equal(varies_init(&v, p, "f"), 0);
	assert_int_equal(v.n_rows, n);
	taken = v.steps;
	varies_deinit(&v);
	profile_destroy(p);
	return taken;
}

TEST(test_steps)
{
	uint64_t few = steps(4096), many = steps(16384);

	print_message("# 4,096 rows: %.1f million steps; 16,384: %.1f\n", (double)few / 1e6,
		      (double)many / 1e6);
	assert_true(many < 16384ull * 16384);
	assert_true(many < 5 * few);
}

/*
 * The difference of two members, a range's end and start, explains the time. Members of other objects or of other sizes are not
 * paired.
 */
TEST(test_difference)
{
	struct profile *p = START("v->start", "v->end", "o->end", "n");
	struct varies_shifts none;
	struct varies v;

	for (uint32_t i = 0; i < 4; i++)
		p->variables[i].bytes = i < 3 ? 8 : 4;
	for (int i = 0; i < 1000; i++) {
		uint64_t start = 4096ull * chance(1 << 30), pages = 1 + chance(16);

		CALL(p, 61 * (double)pages + 200 + noise(), start, start + 4096 * pages,
		     start + 4096 * chance(16), chance(3));
	}
	assert_int_equal(varies_init(&v, p, "f"), 0);
	assert_int_equal(v.n_ranks, 5);
	assert_int_equal(v.n_selected, 1);
	assert_string_equal(v.ranks[0].variable->name, "v->end - v->start");
	near(v.parts[0].law.slope * 4096, 61, 0.1);
	assert_true(v.ranks[0].alone > 0.99);
	varies_deinit(&v);
	varies_shifts_init(&none, p, p);
	assert_int_equal(none.n_rows, 0);
	varies_shifts_deinit(&none);
	profile_destroy(p);
}

/* Several members may be the end of the range that begins at v->start. The two wrong ones come before v->end. */
TEST(test_differences)
{
	struct profile *p = START("v->a", "v->start", "v->b", "v->end");
	struct varies v;

	for (int i = 0; i < 1000; i++) {
		uint64_t start = 4096ull * chance(1 << 20), pages = 1 + chance(16);

		CALL(p, 61 * (double)pages + 200 + noise(), start + (1ull << 40) + chance(1 << 20),
		     start, start + (1ull << 50) + chance(1 << 20), start + 4096 * pages);
	}
	for (int i = 0; i < 4; i++)
		p->variables[i].bytes = 8;
	assert_int_equal(varies_init(&v, p, "f"), 0);
	assert_int_equal(v.n_ranks, 5);
	assert_string_equal(v.ranks[0].variable->name, "v->end - v->start");
	near(v.parts[0].law.slope * 4096, 61, 0.1);
	varies_deinit(&v);
	profile_destroy(p);
}

RUN_TESTS(NULL, NULL)
