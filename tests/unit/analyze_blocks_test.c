// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Analyze block counts of a made-up function: instructions, loops, iterations, and changes between two kernels.
 *
 *	0  entry ---> 1  loop's head, inlined <-+
 *	|             2  rest of the loop ------+--> 4  end
 *	+-----------> 3  calls slow() -------------> 4
 *	              5  padding
 */
#include <math.h>

#include "test.h"
#include "analyze/blocks/blocks.h"
#include "analyze/figures/calibration.h"
#include "analyze/why/why.h"
#include "base/alloc.h"
#include "fixture.h"

#define N_BLOCKS 6
#define ENTRY    0x1000

static const uint32_t insns[N_BLOCKS] = { 4, 3, 2, 5, 2, 1 };

/* Numbers of calls in one context: FEW with 4 iterations, MANY with 40, SLOW on the slow path. */
struct calls {
	uint32_t few, many, slow;
	uint64_t slow_time;
};

static void add_block_list(struct profile *p, struct profile_blocks *blocks)
{
	static const struct profile_arc arcs[] = {
		{ 0, 1 }, { 0, 3 }, { 1, 2 }, { 2, 1 }, { 2, 4 }, { 3, 4 }, { 4, PROFILE_ARC_OUT }
	};

	for (uint32_t b = 0; b < N_BLOCKS; b++) {
		uint64_t addr = ENTRY + 16 * b;
		struct profile_block block = {
			.addr = addr, .bytes = 16, .insns = insns[b], .reached = b < 5
		};

		block.location = profile_location_add(p, addr, NULL);
		if (b == 1 || b == 2)
			profile_location_frame_add(p, block.location,
						   &(struct profile_frame){ .name = "shuffle",
									    .file = "slub.c",
									    .line = 20,
									    .inlined = true });
		profile_location_frame_add(p, block.location,
					   &(struct profile_frame){ .name = "refill",
								    .file = "slub.c",
								    .line = b == 2 ? 91 : 90 + b });
		vec_push(blocks, items, block);
	}
	blocks->items[3].callee = "slow";
	for (uint32_t a = 0; a < sizeof(arcs) / sizeof(arcs[0]); a++)
		vec_push(blocks, arcs, arcs[a]);
}

static void add_calls(struct profile *p, uint32_t site, uint32_t place, const char *name,
		      const struct calls *c)
{
	uint32_t context = profile_context_add(p, name), trips = 4 * c->few + 40 * c->many;
	struct profile_block_counts *counts = profile_block_counts(p, 0, place, context);
	struct profile_stats *stats;

	counts->calls = c->few + c->many + c->slow;
	counts->counts[0] = counts->counts[4] = counts->calls;
	counts->counts[1] = counts->counts[2] = trips;
	counts->counts[3] = c->slow;
	stats = profile_cell(p, 0, site, context);
	fixture_calls(stats, c->few + c->many, 50, 50);
	fixture_calls(stats, c->slow, c->slow_time, c->slow_time);
}

static struct profile *kernel(const struct calls *clone, const struct calls *mmap)
{
	struct profile *p = profile_create();
	struct profile_blocks blocks = { 0 };
	uint32_t site, place;

	p->clock = PROFILE_CLOCK_INSN;
	fixture_run(p, 1000000);
	site = fixture_function(p, "refill", ENTRY);
	blocks.site = site;
	add_block_list(p, &blocks);
	place = profile_blocks_add(p, &blocks);
	add_calls(p, site, place, "clone", clone);
	if (mmap)
		add_calls(p, site, place, "mmap", mmap);
	return p;
}

static const struct analyze_block *block(const struct analyze_blocks *b, const char *context,
					 double offset)
{
	for (uint32_t i = 0; i < b->n_rows; i++)
		if (!strcmp(b->rows[i].context, context) && b->rows[i].offset == offset)
			return &b->rows[i];
	return NULL;
}

TEST(instructions_of_blocks)
{
	const struct calls clone = { 60, 20, 20, 1000 }, mmap = { 0, 0, 100, 1000 };
	struct profile *p = kernel(&clone, &mmap);
	struct analyze_block *hottest;
	struct analyze_blocks b;

	analyze_blocks_init(&b, p);
	assert_int_equal(b.n_functions, 3);
	assert_string_equal(b.functions[0].context, "*");
	assert_true(b.functions[0].calls == 200);
	assert_true(b.functions[0].blocks == 5); /* the padding is left out */
	assert_null(block(&b, "*", 80));
	/* clone executes 100 x (4 + 2) instructions at both ends, 1,040 x 5 in the loop, 20 x 5 on the slow path. */
	assert_string_equal(b.functions[1].context, "clone");
	assert_float_equal(b.functions[1].insns_per_call, 59, 1e-9);
	assert_float_equal(b.functions[0].insns_per_call, (5900 + 100 * 11) / 200.0, 1e-9);
	assert_float_equal(block(&b, "clone", 16)->per_call, 10.4, 1e-9);
	assert_float_equal(block(&b, "*", 16)->executions, 1040, 1e-9);
	assert_float_equal(block(&b, "clone", 16)->share, 31.2 / 59, 1e-9);
	assert_string_equal(block(&b, "*", 16)->location, "slub.c:20");
	assert_string_equal(block(&b, "*", 16)->body, "shuffle");
	assert_string_equal(block(&b, "*", 16)->place, "+0x10");
	assert_null(block(&b, "*", 0)->body);
	hottest = analyze_blocks_hottest(&b, &b.functions[1]);
	assert_true(hottest[0].offset == 16 && hottest[1].offset == 32);
	free(hottest);
	analyze_blocks_deinit(&b);
	/* A block that one context has not counted is left out of the sum. */
	p->block_counts[1].counts[1] = PROFILE_NOT_COUNTED;
	analyze_blocks_init(&b, p);
	assert_true(b.functions[0].unknown == 1 && b.functions[1].unknown == 0);
	assert_true(isnan(block(&b, "*", 16)->per_call));
	assert_float_equal(b.functions[0].insns_per_call, (5900 + 1100 - 3120) / 200.0, 1e-9);
	analyze_blocks_deinit(&b);
	/* A function whose probes were not attached is "not counted". */
	p->sites[p->blocks[0].site].mech = PROFILE_UNTIMED;
	p->n_block_counts = 0;
	analyze_blocks_init(&b, p);
	assert_int_equal(b.n_functions, 1);
	assert_string_equal(b.functions[0].caveat, "not counted");
	assert_true(isnan(b.functions[0].calls) && isnan(b.functions[0].insns_per_call));
	assert_true(isnan(block(&b, "*", 16)->executions));
	analyze_blocks_deinit(&b);
	profile_destroy(p);
}

TEST(loops_of_contexts)
{
	const struct calls clone = { 60, 20, 20, 1000 }, mmap = { 10, 0, 0, 0 };
	struct profile *p = kernel(&clone, &mmap);
	struct analyze_loops loops;
	const struct analyze_loop *l;

	analyze_loops_init(&loops, p);
	assert_int_equal(loops.n_rows, 3);
	assert_string_equal(loops.rows[0].context, "*");
	assert_float_equal(loops.rows[0].trips, 1080 / 110.0, 1e-9);
	l = &loops.rows[1];
	assert_string_equal(l->context, "clone");
	assert_string_equal(l->location, "slub.c:20");
	assert_string_equal(l->body, "shuffle");
	assert_float_equal(l->trips, 10.4, 1e-9);
	assert_float_equal(l->insns_per_iteration, 5, 1e-9);
	assert_float_equal(l->insns_per_call, 52, 1e-9);
	analyze_loops_deinit(&loops);
	/* A loop whose head was not counted has no row. */
	p->block_counts[0].counts[1] = PROFILE_NOT_COUNTED;
	analyze_loops_init(&loops, p);
	assert_int_equal(loops.n_rows, 1);
	assert_string_equal(loops.rows[0].context, "mmap");
	analyze_loops_deinit(&loops);
	profile_destroy(p);
}

/* A function whose blocks are counted by probes has no time, since the probes distort it. The emulator's counts distort no time. */
TEST(times_of_counted_functions)
{
	const struct calls clone = { 60, 20, 20, 1000 };
	struct profile *p = kernel(&clone, NULL);
	const struct analyze_options options = { .time = ANALYZE_TIME_ONCPU };
	struct analyze_table table;

	analyze_table_init(&table, p, &options);
	assert_true(table.functions.rows[0].figures.calls == 100);
	assert_true(isnan(table.functions.rows[0].figures.mean));
	assert_true(isnan(table.functions.rows[0].figures.totals[ANALYZE_TIME_SELF]));
	assert_string_equal(table.functions.rows[0].label, "refill [blocks counted]");
	analyze_table_deinit(&table);
	profile_env_set(p, PROFILE_ENV_ENGINE, PROFILE_ENGINE_EXACT);
	analyze_table_init(&table, p, &options);
	assert_true(table.functions.rows[0].figures.mean == 0.8 * 50 + 0.2 * 1000);
	analyze_table_deinit(&table);
	profile_destroy(p);
}

/* Check that NAME itself executes WAS instructions per run in the baseline, and IS in the hardened recording. */
static void check_own(const struct tree_pair *t, const char *name, double was, double is)
{
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (strcmp(t->nodes[i].name, name) != 0)
			continue;
		assert_true(t->nodes[i].self[0] == was && t->nodes[i].self[1] == is);
		return;
	}
	fail_msg("no node %s", name);
}

/* Check the lines of A and B that differ: the lines of the loop, and the line that calls slow(). */
static void check_lines(const struct tree_pair *t)
{
	scoped(tree_line_changes_deinit) struct tree_line_changes lines = {};

	tree_line_changes_init(&lines, t, TREE_ROOT, why_is_of_command);
	assert_int_equal(lines.n_items, 2);
	assert_string_equal(lines.items[0].name, "shuffle");
	assert_int_equal(lines.items[0].number, 20);
	assert_true(lines.items[0].insns[0] == 1600 && lines.items[0].insns[1] == 8000);
	assert_true(lines.items[0].times[0] == 320 && lines.items[0].times[1] == 1600);
	assert_string_equal(lines.items[1].name, "refill");
	assert_int_equal(lines.items[1].number, 93);
	assert_true(lines.items[1].times[0] == 20 && lines.items[1].times[1] == 60);
}

/* The instructions of counted functions and of functions inlined into them are known. Lines have numbers of executions. */
TEST(changes_of_counted_functions)
{
	const struct calls before = { 80, 0, 20, 1000 }, after = { 0, 40, 60, 2000 };
	struct profile *a = kernel(&before, NULL), *b = kernel(&after, NULL);
	struct why why;

	why_init(&why, a, b);
	check_own(&why.pair, "shuffle", 1600, 8000);
	check_own(&why.pair, "refill", 700, 900);
	/* The rest of clone's measured time, which the probes of blocks distort, is attributed to clone itself. */
	check_own(&why.pair, "clone", 80 * 50 + 20 * 1000 - 2300, 40 * 50 + 60 * 2000 - 8900);
	check_lines(&why.pair);
	why_deinit(&why);
	/* With a clock in ns, counted instructions are not times. */
	a->clock = b->clock = PROFILE_CLOCK_NS;
	why_init(&why, a, b);
	check_own(&why.pair, "shuffle", 0, 0);
	check_own(&why.pair, "refill", 0, 0);
	check_own(&why.pair, "clone", 80 * 50 + 20 * 1000, 40 * 50 + 60 * 2000);
	check_lines(&why.pair);
	why_deinit(&why);
	profile_destroy(a);
	profile_destroy(b);
}

/* Functions inlined into a counted function explain parts of its change. */
TEST(counted_function_as_cause)
{
	const struct calls none = { 0, 0, 20, 1000 }, some = { 20, 0, 20, 1000 };
	struct profile *a = kernel(&none, NULL), *b = kernel(&some, NULL);
	const struct why_cause *cause = NULL;
	struct why why;

	why_init(&why, a, b);
	vec_each(const struct why_cause, c, &why.command.causes, items)
		cause = !strcmp(c->name, "refill") ? c : cause;
	assert_non_null(cause);
	/* 80 iterations of 5 instructions, and 6 more instructions in each of 20 more calls. */
	assert_true(cause->delta == 80 * 5 + 20 * 6);
	why_deinit(&why);
	profile_destroy(a);
	profile_destroy(b);
}

/* The costs of block probes and of captured values are measured as sums, so their rows need no calibration. */
TEST(costs_that_are_sums)
{
	const struct calls clone = { 80, 0, 20, 1000 };
	struct profile *p = kernel(&clone, NULL);
	const struct analyze_cost *row;
	struct analyze_costs costs;

	analyze_costs_init(&costs, p);
	assert_null(analyze_cost_find(&costs, "block"));
	analyze_costs_deinit(&costs);
	p->runs[0].losses[PROFILE_INFO_BLOCK_HITS] = 340;
	p->runs[0].losses[PROFILE_INFO_BLOCK_COST] = 136000;
	analyze_costs_init(&costs, p);
	row = analyze_cost_find(&costs, "block");
	assert_true(row->functions == 1 && row->calls == 340 && row->full == 400);
	assert_true(row->total == 136000);
	assert_false(analyze_cost_is_unknown(row));
	assert_null(analyze_cost_find(&costs, "capture"));
	analyze_costs_deinit(&costs);
	for (int i = 0; i < 2; i++)
		profile_variable_add(p, &(struct profile_variable){
						.site = 1, .name = i ? "n" : "flags", .bytes = 8 });
	p->runs[0].losses[PROFILE_INFO_CAPTURES] = 20;
	p->runs[0].losses[PROFILE_INFO_CAPTURE_COST] = 5000;
	analyze_costs_init(&costs, p);
	row = analyze_cost_find(&costs, "capture");
	assert_true(row->functions == 1 && row->calls == 20 && row->full == 250);
	assert_true(row->total == 5000);
	assert_false(analyze_cost_is_unknown(row));
	analyze_costs_deinit(&costs);
	profile_destroy(p);
}

RUN_TESTS(NULL, NULL)
