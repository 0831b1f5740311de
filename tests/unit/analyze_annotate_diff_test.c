// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compare the annotations of a function on two kernels: lines and inlined functions that are the same, that moved, or that one
 * kernel lacks.
 */
#include <math.h>

#include "test.h"
#include "analyze/code/annotate.h"
#include "base/alloc.h"

static struct analyze_place place;

/* Return an annotation with N samples, MEAN ticks per call and 2 * MEAN ticks per run. MEAN 0: the function was not timed. */
static struct analyze_annotation side(double n, double mean)
{
	return (struct analyze_annotation){ .places = &place,
					    .n_places = 1,
					    .samples = n,
					    .tick = mean / n,
					    .tick_is_of_call = mean > 0,
					    .tick_of_run = 2 * mean / n };
}

static void add_line(struct analyze_annotation *a, const char *path, uint32_t line, double self,
		     double below)
{
	struct analyze_line l = { .path = path,
				  .file = "a.c",
				  .line = line,
				  .n_insns = 2,
				  .hits = { .self = self, .callees = below } };

	vec_push(a, lines, l);
}

static void add_body(struct analyze_annotation *a, const char *path, double self)
{
	struct analyze_code_body b = { .path = path, .n_insns = 3, .hits = { .self = self } };

	vec_push(a, bodies, b);
}

static const struct analyze_annotate_diff_row *row(const struct analyze_annotate_diff_rows *rows,
						   const char *path, uint32_t line)
{
	const struct analyze_annotate_diff_row *found = NULL;

	for (uint32_t i = 0; i < rows->n_rows; i++) {
		const struct analyze_annotate_diff_row *r = &rows->rows[i];

		if ((!path != !r->path) || (path && strcmp(path, r->path)) ||
		    (r->sides[1].line != line && r->sides[0].line != line))
			continue;
		assert_null(found);
		found = r;
	}
	assert_non_null(found);
	return found;
}

static void done(struct analyze_annotate_diff *d, struct analyze_annotation *a,
		 struct analyze_annotation *b)
{
	analyze_annotate_diff_deinit(d);
	free(a->lines);
	free(a->bodies);
	free(b->lines);
	free(b->bodies);
}

TEST(lines_by_body_and_number)
{
	struct analyze_annotation a = side(100, 1000), b = side(200, 3000);
	const struct analyze_annotate_diff_row *r;
	struct analyze_annotate_diff d;

	add_line(&a, NULL, 10, 40, 10);
	add_line(&a, "f", 10, 50, 0);
	add_line(&b, NULL, 10, 100, 0);
	add_line(&b, "f", 10, 0, 0);
	add_line(&b, "f < g", 10, 60, 40);
	analyze_annotate_diff_init(&d, &a, &b, NULL, NULL);
	assert_true(d.is_of_call);
	assert_int_equal(d.lines.n_rows, 3);
	/* Baseline: 50 of 100 samples, mean 1,000. Hardened: 100 of 200 samples, mean 3,000. */
	r = row(&d.lines, NULL, 10);
	assert_float_equal(r->sides[0].cost.value, 500, 1e-9);
	assert_float_equal(r->sides[1].cost.value, 1500, 1e-9);
	assert_float_equal(r->delta.value, 1000, 1e-9);
	assert_float_equal(r->sides[0].share, 0.5, 1e-9);
	assert_true(r->delta.low > 0 && r->delta.low < 1000 && r->delta.high > 1000);
	/* The interval of code without samples ends above 0. Absent code costs exactly 0. */
	r = row(&d.lines, "f", 10);
	assert_float_equal(r->sides[1].cost.value, 0, 1e-9);
	assert_true(r->sides[1].cost.high > 0);
	r = row(&d.lines, "f < g", 10);
	assert_int_equal(r->sides[0].n_insns, 0);
	assert_float_equal(r->sides[0].cost.high, 0, 1e-9);
	assert_float_equal(r->delta.value, 1500, 1e-9);
	done(&d, &a, &b);
}

static const char *text(unsigned int on, const char *file, uint32_t line, void *arg)
{
	(void)file;
	(void)arg;
	/* The hardened kernel's source has five more lines before these lines. */
	switch (on ? line - 5 : line) {
	case 10:
		return "first(x);";
	case 11:
		return "}";
	case 12:
		return "second(y);";
	default:
		return NULL;
	}
}

static const char *text_or_new(unsigned int on, const char *file, uint32_t line, void *arg)
{
	return text(on, file, line, arg) ?: "third(z);";
}

TEST(lines_that_moved)
{
	struct analyze_annotation a = side(100, 1000), b = side(100, 1000);
	const struct analyze_annotate_diff_row *r;
	struct analyze_annotate_diff d;

	add_line(&a, NULL, 10, 30, 0);
	add_line(&a, NULL, 11, 20, 0);
	add_line(&a, "f", 12, 50, 0);
	add_line(&b, NULL, 15, 60, 0);
	add_line(&b, NULL, 16, 40, 0);
	add_line(&b, NULL, 17, 0, 0);
	analyze_annotate_diff_init(&d, &a, &b, text, NULL);
	r = row(&d.lines, NULL, 15);
	assert_int_equal(r->sides[0].line, 10);
	assert_float_equal(r->delta.value, 300, 1e-9);
	/* A line that is only a bracket is matched by its order. The same text in another inlined function is not matched. */
	assert_int_equal(row(&d.lines, NULL, 16)->sides[0].line, 11);
	assert_int_equal(row(&d.lines, "f", 12)->sides[1].n_insns, 0);
	assert_int_equal(d.lines.n_rows, 4);
	done(&d, &a, &b);
}

/* Lines with the same number but other text are different lines. A bracket elsewhere is not the same line. */
TEST(lines_with_one_number_are_two)
{
	struct analyze_annotation a = side(100, 1000), b = side(100, 1000);
	struct analyze_annotate_diff d;

	add_line(&a, NULL, 11, 20, 0);
	add_line(&a, NULL, 12, 50, 0);
	add_line(&a, NULL, 15, 30, 0);
	add_line(&b, NULL, 15, 60, 0);
	add_line(&b, NULL, 17, 40, 0);
	analyze_annotate_diff_init(&d, &a, &b, text_or_new, NULL);
	assert_int_equal(d.lines.n_rows, 4);
	assert_int_equal(row(&d.lines, NULL, 17)->sides[0].line, 12);
	assert_int_equal(row(&d.lines, NULL, 11)->sides[1].n_insns, 0);
	done(&d, &a, &b);
}

/* If one recording has no calls, the costs of both are per run. A kernel without the function does not change the unit. */
TEST(what_costs_are_of)
{
	struct analyze_annotation a = side(100, 0), b = side(100, 1000), none = { 0 };
	struct analyze_annotate_diff d;

	a.tick_of_run = 7;
	add_line(&a, NULL, 10, 100, 0);
	add_line(&b, NULL, 10, 100, 0);
	analyze_annotate_diff_init(&d, &a, &b, NULL, NULL);
	assert_false(d.is_of_call);
	assert_float_equal(d.lines.rows[0].sides[0].cost.value, 700, 1e-9);
	assert_float_equal(d.lines.rows[0].sides[1].cost.value, 2000, 1e-9);
	analyze_annotate_diff_deinit(&d);
	analyze_annotate_diff_init(&d, &none, &b, NULL, NULL);
	assert_true(d.is_of_call);
	assert_float_equal(d.lines.rows[0].delta.value, 1000, 1e-9);
	analyze_annotate_diff_deinit(&d);
	/* The cost of code is unknown without samples. */
	a.samples = 0;
	a.tick_is_of_call = true;
	analyze_annotate_diff_init(&d, &a, &b, NULL, NULL);
	assert_true(isnan(d.lines.rows[0].sides[0].cost.value));
	assert_true(isnan(d.lines.rows[0].delta.value));
	done(&d, &a, &b);
}

TEST(bodies_of_one_path_are_one)
{
	struct analyze_annotation a = side(100, 1000), b = side(100, 1000);
	struct analyze_annotate_diff d;

	add_body(&a, "f", 30);
	add_body(&b, "f", 20);
	add_body(&b, "f", 30);
	add_body(&b, "g", 10);
	analyze_annotate_diff_init(&d, &a, &b, NULL, NULL);
	assert_int_equal(d.bodies.n_rows, 2);
	assert_float_equal(d.bodies.rows[0].delta.value, 200, 1e-9);
	assert_string_equal(d.bodies.rows[1].path, "g");
	assert_float_equal(d.bodies.rows[1].delta.value, 100, 1e-9);
	done(&d, &a, &b);
}

RUN_TESTS(NULL, NULL)
