// SPDX-License-Identifier: GPL-2.0-or-later
/* Attribute a change of time to contexts and functions. For any profile, their changes add up to the whole change. */
#include <stdio.h>

#include "test.h"
#include "analyze/why/attribution.h"
#include "base/alloc.h"
#include "fixture.h"

static const struct analyze_options oncpu;

/* Set the figures of function SITE in CONTEXT of RUN: CALLS calls take TIME ticks, SELF of them outside of timed callees. */
static void cell(struct profile *p, uint32_t run, uint32_t site, const char *context,
		 uint64_t calls, uint64_t time, uint64_t self)
{
	uint32_t number = profile_context_add(p, context);
	struct profile_stats *s = profile_cell(p, run, site, number);

	s->calls = calls;
	s->errors = 0;
	s->wall = s->oncpu = calls * time;
	s->self = (int64_t)(calls * self);
}

/* Create a run of WALL ticks. clone calls allocate_slab SLABS times, each with SHUFFLE more ticks in shuffle_freelist. */
static struct profile *work(uint64_t wall, uint64_t slabs, uint64_t shuffle, bool range)
{
	struct profile *p = profile_create();
	uint32_t run = fixture_run(p, wall), slab, copy, body;

	slab = fixture_function(p, "allocate_slab", 1);
	copy = fixture_function(p, "copy_process", 2);
	cell(p, run, 0, "clone", 10, 10000 + slabs / 10 * (500 + shuffle), 3000);
	cell(p, run, copy, "clone", 10, 7000 + slabs / 10 * (500 + shuffle), 7000);
	cell(p, run, slab, "clone", slabs, 500 + shuffle, range ? 500 : 500 + shuffle);
	cell(p, run, 0, "mmap", 4, 1000, 1000);
	if (range && shuffle) {
		body = fixture_range(p, "shuffle_freelist", NULL, "allocate_slab", 1978);
		cell(p, run, body, "clone", slabs, shuffle, shuffle);
		profile_cell(p, run, body, profile_context_add(p, "clone"))->entries = slabs;
	}
	return p;
}

static const struct why_attribution_row *row(const struct why_attribution *a, const char *name,
					     double level)
{
	uint32_t i;

	for (i = 0; i < a->n_rows; i++)
		if (!strcmp(a->rows[i].name, name) && a->rows[i].level == level)
			return &a->rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

/* Check that the rows below each row add up to its change, and their shares to 1, also counting only the rows shown. */
static void check_sums(const struct why_attribution *a)
{
	uint32_t i, j;

	for (i = 0; i < a->n_rows; i++) {
		const struct why_attribution_row *whole = &a->rows[i];
		double all = 0, shown = 0, shares = 0, size = 1;
		uint32_t n = 0, n_shown = 0;

		for (j = i + 1; j < a->n_rows && a->rows[j].level > whole->level; j++) {
			const struct why_attribution_row *part = &a->rows[j];

			if (part->level > whole->level + 1)
				continue;
			if (part->part != WHY_ATTRIBUTED_OTHERS) {
				all += part->delta;
				shares += part->share;
				size += fabs(part->share);
				n++;
			}
			shown += part->hidden ? 0 : part->delta;
			n_shown += !part->hidden;
		}
		if (!n)
			continue;
		if (!(fabs(all - whole->delta) <= 1e-9 * fabs(whole->delta) + 1e-6))
			fail_msg("%s: %.12g, parts %.12g", whole->name, whole->delta, all);
		if (whole->delta != 0)
			assert_true(fabs(shares - 1) < 1e-12 * size);
		if (n_shown)
			assert_true(fabs(shown - whole->delta) <= 1e-9 * fabs(whole->delta) + 1e-6);
		if (!isnan(whole->by_calls))
			assert_true(fabs(whole->by_calls + whole->by_mean - whole->delta) <=
				    1e-12 * (fabs(whole->by_calls) + fabs(whole->delta)));
	}
}

struct compared {
	struct analyze_diff d;
	struct why why;
};

static void attribute(struct why_attribution *a, struct compared *c, const struct profile *pa,
		      const struct profile *pb)
{
	assert_int_equal(analyze_diff_init(&c->d, pa, pb, &oncpu), 0);
	c->why = (struct why){};
	if (why_can_tell(pa, pb))
		why_init(&c->why, pa, pb);
	why_attribution_init(a, &c->why, &c->d);
	check_sums(a);
}

static void release(struct why_attribution *a, struct compared *c)
{
	why_attribution_deinit(a);
	why_deinit(&c->why);
	analyze_diff_deinit(&c->d);
}

TEST(test_tree)
{
	struct profile *pa = work(500000, 100, 0, true), *pb = work(620000, 110, 1000, true);
	const struct why_attribution_row *r;
	struct why_attribution a;
	struct compared d;

	attribute(&a, &d, pa, pb);
	r = row(&a, "[command]", 0);
	assert_true(r->delta == 120000 && r == &a.rows[0]);
	assert_int_equal(r->part, WHY_ATTRIBUTED_COMMAND);
	/* 100 slabs of 500 ticks against 110 slabs of 1,500: 115,000 ticks. */
	r = row(&a, "clone", 1);
	assert_true(r->delta == 115000 && r->by_calls == 0 && r->by_mean == 115000);
	assert_true(r == &a.rows[1]);
	r = row(&a, "allocate_slab", 2);
	assert_true(r->delta == 115000 && r->share == 1);
	assert_true(r->by_calls == 10 * 500 && r->by_mean == 110 * 1000);
	r = row(&a, "shuffle_freelist", 3);
	assert_true(r->delta == 110000);
	assert_true(r->level == 3);
	assert_true(row(&a, "outside its inlined bodies", 3)->delta == 5000);
	assert_true(row(&a, "copy_process", 2)->delta == 0);
	assert_true(row(&a, "in no timed function", 2)->delta == 0);
	assert_true(row(&a, "outside sys_enter...sys_exit", 1)->delta == 5000);
	assert_true(row(&a, "mmap", 1)->delta == 0);
	release(&a, &d);

	/* CPU times are used if both recordings have them, less the cost of probes in syscalls. */
	pa->runs[0].cpu = 400000;
	pb->runs[0].cpu = 517700;
	profile_cell(pb, 0, 0, profile_context_add(pb, "mmap"))->cost = 700;
	profile_cell(pb, 0, 0, profile_context_add(pb, "mmap"))->oncpu += 700;
	attribute(&a, &d, pa, pb);
	assert_true(row(&a, "[command cpu]", 0)->delta == 117000);
	assert_true(row(&a, "outside sys_enter...sys_exit", 1)->delta == 2000);
	release(&a, &d);

	/* With exchanged recordings, signs are reversed. Only the baseline has the inlined function: its whole cost disappears. */
	attribute(&a, &d, pb, pa);
	assert_true(row(&a, "shuffle_freelist", 3)->delta == -110000);
	r = row(&a, "allocate_slab", 2);
	assert_true(r->by_calls == -10 * 1500 && r->by_mean == -100 * 1000);
	release(&a, &d);

	/* A profile compared with itself has no change, and nothing is divided by 0. */
	attribute(&a, &d, pa, pa);
	assert_true(a.rows[0].delta == 0 && isnan(row(&a, "clone", 1)->share));
	release(&a, &d);
	profile_destroy(pa);
	profile_destroy(pb);
}

/* If only one recording has a row, its whole cost counts as a change of the number of calls. */
TEST(test_one_sided)
{
	struct profile *pa = work(500000, 100, 0, false), *pb = work(500000, 100, 0, false);
	const struct why_attribution_row *r;
	struct why_attribution a;
	struct compared d;

	cell(pb, 0, 0, "brk", 7, 100, 40);
	cell(pb, 0, fixture_function(pb, "do_brk", 9), "brk", 7, 60, 60);
	attribute(&a, &d, pa, pb);
	r = row(&a, "brk", 1);
	assert_true(r->delta == 700 && r->by_calls == 700 && r->by_mean == 0);
	assert_true(row(&a, "do_brk", 2)->delta == 420);
	assert_true(row(&a, "do_brk", 2)[-1].delta == 280 || row(&a, "do_brk", 2)[1].delta == 280);
	release(&a, &d);

	/* Neither recording has a run. */
	profile_destroy(pb);
	pb = profile_create();
	attribute(&a, &d, pb, pb);
	assert_int_equal(a.n_rows, 0);
	release(&a, &d);
	/* One recording has a run. */
	attribute(&a, &d, pb, pa);
	assert_int_equal(a.n_rows, 0);
	release(&a, &d);
	profile_destroy(pa);
	profile_destroy(pb);
}

/* A function that the other kernel inlined twice has one row, under the function's name. */
TEST(test_partner)
{
	struct profile *pa = work(500000, 100, 0, false), *pb = work(500000, 100, 0, false);
	uint32_t function = fixture_function(pa, "new_slab", 5), body, i;
	const struct why_attribution_row *r;
	const struct analyze_diff_row *f = NULL;
	struct why_attribution a;
	struct compared d;

	cell(pa, 0, function, "clone", 10, 300, 300);
	body = fixture_range(pb, "new_slab", NULL, "allocate_slab", 100);
	cell(pb, 0, body, "clone", 6, 310, 310);
	body = fixture_range(pb, "new_slab", NULL, "allocate_slab", 200);
	cell(pb, 0, body, "clone", 5, 330, 330);
	attribute(&a, &d, pa, pb);
	for (i = 0; i < d.d.functions.n_rows; i++)
		if (!strcmp(d.d.functions.rows[i].name, "new_slab") &&
		    !strcmp(d.d.functions.rows[i].context, "clone"))
			f = &d.d.functions.rows[i];
	assert_non_null(f);
	assert_true(f->sides[1].calls == 11 && f->sides[1].total == 6 * 310 + 5 * 330);
	assert_true(f->delta_total == 510 && fabs(f->delta - (3510.0 / 11 - 300)) < 1e-9);
	assert_int_equal(f->note, ANALYZE_NOTE_BODIES_HARDENED);
	r = row(&a, "new_slab", 2);
	assert_true(r->delta == 510 && r->by_calls == 300 && r->by_mean == 210);
	/* The inlined functions have no rows of their own in the function around them. */
	for (i = 0; i < a.n_rows; i++)
		assert_true(a.rows[i].part != WHY_ATTRIBUTED_BODY);
	release(&a, &d);
	attribute(&a, &d, pb, pa);
	assert_true(row(&a, "new_slab", 2)->delta == -510);
	release(&a, &d);
	profile_destroy(pa);
	profile_destroy(pb);
}

/* Timed functions inlined into an untimed function have rows below it. Their time is not part of "in no timed function". */
TEST(test_range_alone)
{
	struct profile *p[2] = { work(500000, 100, 0, false), work(600000, 100, 0, false) };
	const struct why_attribution_row *r;
	struct why_attribution a;
	struct compared d;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		struct profile *side = p[i];
		uint32_t body = fixture_range(side, "kernel_init_pages", NULL, "post_alloc_hook",
					      2),
			 inner = fixture_range(side, "clear_page", "kernel_init_pages",
					       "post_alloc_hook", 9);

		cell(side, 0, 0, "clone", 10, 15000 + 1000 * i, 3000 + 50 * i);
		cell(side, 0, body, "clone", 10, 500 + 950 * i, 500 + 150 * i);
		cell(side, 0, inner, "clone", 10, 800 * i, 800 * i);
	}
	attribute(&a, &d, p[0], p[1]);
	r = row(&a, "post_alloc_hook", 2);
	assert_true(r->delta == 9500 && r->share == 0.95);
	assert_true(row(&a, "clear_page", 3)->delta == 8000);
	r = row(&a, "kernel_init_pages", 3);
	assert_int_equal(r->part, WHY_ATTRIBUTED_BODY);
	assert_true(r->delta == 1500);
	assert_true(fabs(row(&a, "in no timed function", 2)->share - 0.05) < 1e-9);
	release(&a, &d);
	profile_destroy(p[0]);
	profile_destroy(p[1]);
}

/* The sums hold for any figures: many syscalls and functions with pseudo-random costs, some below 0. */
TEST(test_any)
{
	struct profile *p[2];
	struct why_attribution a;
	struct compared d;
	uint32_t seed = 1, side, round, i, shown = 0;

	for (round = 0; round < 50; round++) {
		for (side = 0; side < 2; side++) {
			uint32_t run, site;

			p[side] = profile_create();
			run = fixture_run(p[side], (seed = seed * 1103515245 + 12345) >> 8);
			for (i = 0; i < 60; i++) {
				char name[16];

				seed = seed * 1103515245 + 12345;
				snprintf(name, sizeof(name), "call%u", seed >> 27);
				cell(p[side], run, 0, name, seed % 7 + 1, seed >> 12, seed >> 13);
				snprintf(name, sizeof(name), "call%u", (seed >> 22) % 32);
				site = i < 20 ? fixture_function(p[side], i % 2 ? "f" : "g", i) :
						1 + seed % 20;
				cell(p[side], run, site, name, seed % 5 + 1, seed >> 15,
				     (seed >> 16) - 10000);
			}
		}
		attribute(&a, &d, p[0], p[1]);
		for (i = 0, shown = 0; i < a.n_rows; i++)
			shown += !a.rows[i].hidden;
		assert_true(shown < a.n_rows && shown < 80);
		release(&a, &d);
		profile_destroy(p[0]);
		profile_destroy(p[1]);
	}
}

RUN_TESTS(NULL, NULL)
