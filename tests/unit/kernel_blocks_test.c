// SPDX-License-Identifier: GPL-2.0-or-later
/* Deduce all counts of a control-flow graph from counts of some blocks. Check against simulated executions of random graphs. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#include "test.h"
#include "base/system/clock.h"
#include "kernel/cfg/blocks.h"
#include "kernel/cfg/graph.h"
#include "kernel/image/name.h"
#include "kernel_fixture.h"

#define MAX_BLOCKS 48
#define MAX_STEPS  100000

static uint64_t seed;

static uint32_t chance(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static void add(struct kernel_graph *g, uint32_t from, uint32_t to)
{
	struct kernel_arc arc = { from, to };

	for (uint32_t i = 0; i < g->n_arcs; i++)
		if (g->arcs[i].from == from && g->arcs[i].to == to)
			return;
	vec_push(g, arcs, arc);
}

/* Return a graph of up to MAX blocks. Each block has an arc to the next one, or out of the graph. BACK: with cycles. */
static struct kernel_graph random_graph(uint32_t max, bool back)
{
	struct kernel_graph g = { .n_blocks = 1 + chance(max) };

	for (uint32_t b = 0; b < g.n_blocks; b++) {
		add(&g, b, b + 1 < g.n_blocks ? b + 1 : KERNEL_GRAPH_OUT);
		for (uint32_t more = chance(5) < 3 ? chance(3) : 0; more; more--) {
			uint32_t to = chance(g.n_blocks + 1);

			if (to == g.n_blocks)
				add(&g, b, KERNEL_GRAPH_OUT);
			else if (back || to > b)
				add(&g, b, to);
		}
	}
	return g;
}

struct run {
	int64_t calls, blocks[MAX_BLOCKS], arcs[MAX_BLOCKS * 8];
};

static void call(const struct kernel_graph *g, struct run *run)
{
	uint32_t at = g->entry;

	run->calls++;
	for (uint32_t steps = 0; at != KERNEL_GRAPH_OUT; steps++) {
		uint32_t first = 0, n = 0, arc;

		while (g->arcs[first].from != at)
			first++;
		while (first + n < g->n_arcs && g->arcs[first + n].from == at)
			n++;
		/* The first arc leads forward, so each call ends. */
		arc = first + (steps < MAX_STEPS ? chance(n) : 0);
		run->blocks[at]++;
		run->arcs[arc]++;
		at = g->arcs[arc].to;
	}
}

static void check_counts(const struct kernel_graph *g, const struct run *run,
			 const struct kernel_counts *counts, uint32_t unknown)
{
	for (uint32_t b = 0; b < g->n_blocks; b++) {
		if (counts->blocks[b] == KERNEL_COUNT_UNKNOWN)
			assert_true(unknown-- > 0);
		else
			assert_int_equal(counts->blocks[b], run->blocks[b]);
	}
	assert_int_equal(unknown, 0);
	for (uint32_t a = 0; a < g->n_arcs; a++)
		if (counts->arcs[a] != KERNEL_COUNT_UNKNOWN)
			assert_int_equal(counts->arcs[a], run->arcs[a]);
	if (counts->calls != KERNEL_COUNT_UNKNOWN)
		assert_int_equal(counts->calls, run->calls);
	assert_int_equal(counts->residual, 0);
	assert_int_equal(counts->n_negative, 0);
}

/* Deduce all counts of RUN from those of the blocks in MEASURE and, if CALLS, from the number of calls. */
static void deduce(const struct kernel_graph *g, const struct run *run, const bool *measure,
		   bool calls, struct kernel_counts *counts)
{
	int64_t measured[MAX_BLOCKS];

	for (uint32_t b = 0; b < g->n_blocks; b++)
		measured[b] = measure[b] ? run->blocks[b] : KERNEL_COUNT_UNKNOWN;
	kernel_blocks_solve(g, measured, calls ? run->calls : KERNEL_COUNT_UNKNOWN, counts);
}

static uint32_t count_unknown(const struct kernel_graph *g, const struct run *run,
			      const bool *measure, bool calls)
{
	struct kernel_counts counts;
	uint32_t n = 0;

	deduce(g, run, measure, calls, &counts);
	for (uint32_t b = 0; b < g->n_blocks; b++)
		n += counts.blocks[b] == KERNEL_COUNT_UNKNOWN;
	kernel_counts_clear(&counts);
	return n;
}

TEST(counts_follow_from_those_chosen)
{
	seed = 1;
	for (int round = 0; round < 500; round++) {
		struct kernel_graph g = random_graph(MAX_BLOCKS, true);
		uint64_t costs[MAX_BLOCKS];
		bool measure[MAX_BLOCKS], calls = chance(2);
		struct kernel_counts counts;
		struct run run = { 0 };

		for (uint32_t b = 0; b < g.n_blocks; b++)
			costs[b] = 1 + chance(100);
		for (int i = 0; i < 20; i++)
			call(&g, &run);
		assert_int_equal(kernel_blocks_choose(&g, costs, calls, measure), 0);
		deduce(&g, &run, measure, calls, &counts);
		check_counts(&g, &run, &counts, 0);
		kernel_counts_clear(&counts);
		/* Without any one of the chosen blocks, some counts are unknown. */
		for (uint32_t b = 0; b < g.n_blocks; b++) {
			if (!measure[b])
				continue;
			measure[b] = false;
			assert_true(count_unknown(&g, &run, measure, calls) > 0);
			measure[b] = true;
		}
		free(g.arcs);
	}
}

/* No other set of blocks that determines all counts costs less. */
TEST(no_choice_is_cheaper)
{
	seed = 7;
	for (int round = 0; round < 200; round++) {
		struct kernel_graph g = random_graph(8, true);
		uint64_t costs[8], chosen = 0, best = UINT64_MAX;
		bool measure[8], calls = chance(2);
		struct run run = { 0 };

		for (uint32_t b = 0; b < g.n_blocks; b++)
			costs[b] = 1 + chance(20);
		call(&g, &run);
		kernel_blocks_choose(&g, costs, calls, measure);
		for (uint32_t b = 0; b < g.n_blocks; b++)
			chosen += measure[b] ? costs[b] : 0;
		for (uint32_t set = 0; set < 1u << g.n_blocks; set++) {
			uint64_t sum = 0;

			for (uint32_t b = 0; b < g.n_blocks; b++) {
				measure[b] = set >> b & 1;
				sum += measure[b] ? costs[b] : 0;
			}
			if (sum < best && !count_unknown(&g, &run, measure, calls))
				best = sum;
		}
		assert_int_equal(chosen, best);
		free(g.arcs);
	}
}

TEST(blocks_that_cannot_be_probed)
{
	uint32_t unknowns = 0;

	seed = 3;
	for (int round = 0; round < 500; round++) {
		struct kernel_graph g = random_graph(MAX_BLOCKS, true);
		uint64_t costs[MAX_BLOCKS];
		bool measure[MAX_BLOCKS];
		struct kernel_counts counts;
		struct run run = { 0 };
		uint32_t unknown;

		for (uint32_t b = 0; b < g.n_blocks; b++)
			costs[b] = chance(3) ? 1 + chance(100) : KERNEL_COST_NEVER;
		for (int i = 0; i < 20; i++)
			call(&g, &run);
		unknown = kernel_blocks_choose(&g, costs, false, measure);
		for (uint32_t b = 0; b < g.n_blocks; b++)
			assert_false(measure[b] && costs[b] == KERNEL_COST_NEVER);
		deduce(&g, &run, measure, false, &counts);
		check_counts(&g, &run, &counts, unknown);
		kernel_counts_clear(&counts);
		unknowns += unknown;
		/* Deduced counts are correct, whichever blocks are not measured. */
		for (uint32_t b = 0; b < g.n_blocks; b++)
			measure[b] = chance(2);
		unknown = count_unknown(&g, &run, measure, true);
		deduce(&g, &run, measure, true, &counts);
		check_counts(&g, &run, &counts, unknown);
		kernel_counts_clear(&counts);
		free(g.arcs);
	}
	assert_true(unknowns > 100);
}

TEST(contradictions_are_reported)
{
	/* Block 0 leads to 1 or 2, and both lead to 3. */
	struct kernel_arc arcs[] = {
		{ 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 }, { 3, KERNEL_GRAPH_OUT }
	};
	struct kernel_graph g = { .n_blocks = 4, .arcs = arcs, .n_arcs = 5 };
	int64_t all[] = { 10, 4, 6, 10 }, lost[] = { 10, 4, 3, 10 };
	int64_t more[] = { 10, 12, KERNEL_COUNT_UNKNOWN, KERNEL_COUNT_UNKNOWN };
	struct kernel_counts counts;

	kernel_blocks_solve(&g, all, 10, &counts);
	assert_int_equal(counts.residual, 0);
	assert_int_equal(counts.arcs[1], 6);
	kernel_counts_clear(&counts);
	kernel_blocks_solve(&g, lost, 10, &counts);
	assert_int_equal(counts.residual, 3);
	kernel_counts_clear(&counts);
	kernel_blocks_solve(&g, more, KERNEL_COUNT_UNKNOWN, &counts);
	assert_int_equal(counts.blocks[2], -2);
	assert_int_equal(counts.blocks[3], 10);
	assert_int_equal(counts.calls, 10);
	assert_true(counts.n_negative > 0);
	kernel_counts_clear(&counts);
	/* Without measured counts, all counts are unknown. */
	for (int i = 0; i < 4; i++)
		more[i] = KERNEL_COUNT_UNKNOWN;
	kernel_blocks_solve(&g, more, KERNEL_COUNT_UNKNOWN, &counts);
	assert_true(counts.calls == KERNEL_COUNT_UNKNOWN && counts.arcs[4] == KERNEL_COUNT_UNKNOWN);
	kernel_counts_clear(&counts);
}

TEST(unresolved_jumps_keep_counts_true)
{
	/* Block 0 jumps to 1, to 2 or out; 1 leads to 2; 2 leads out. */
	struct kernel_arc arcs[] = { { 0, KERNEL_GRAPH_ANY }, { 1, 2 }, { 2, KERNEL_GRAPH_OUT } };
	struct kernel_graph g = { .n_blocks = 3, .arcs = arcs, .n_arcs = 3 };
	uint64_t costs[] = { 1, 1, 1 };
	int64_t counted[] = { 10, 3, 7 };
	bool measure[3];
	struct kernel_counts counts;

	/* Block 0 is executed 10 times: 3 times it jumps to block 1, 4 times to block 2, 3 times out. */
	assert_int_equal(kernel_blocks_choose(&g, costs, false, measure), 0);
	assert_true(measure[1] && measure[2]);
	kernel_blocks_solve(&g, counted, 10, &counts);
	assert_int_equal(counts.residual, 0);
	assert_int_equal(counts.arcs[1], 3);
	assert_int_equal(counts.arcs[2], 7);
	kernel_counts_clear(&counts);
}

static bool reaches(const struct kernel_graph *g, uint32_t from, uint32_t to, uint32_t without)
{
	uint64_t seen = from == without ? 0 : (uint64_t)1 << from;

	for (uint32_t round = 0; round < g->n_blocks; round++)
		for (uint32_t a = 0; a < g->n_arcs; a++)
			if (seen >> g->arcs[a].from & 1 && g->arcs[a].to < g->n_blocks &&
			    g->arcs[a].to != without)
				seen |= (uint64_t)1 << g->arcs[a].to;
	return seen >> to & 1;
}

/* Return the natural loop with HEAD, by definition, as a bit mask of blocks. 0: HEAD is no loop's head. */
static uint64_t loop_of(const struct kernel_graph *g, uint32_t head)
{
	uint64_t in = 0;

	for (uint32_t a = 0; a < g->n_arcs; a++) {
		uint32_t from = g->arcs[a].from;

		if (g->arcs[a].to != head || reaches(g, g->entry, from, head))
			continue;
		in |= (uint64_t)1 << head;
		for (uint32_t b = 0; b < g->n_blocks; b++)
			if (b != head && reaches(g, b, from, head))
				in |= (uint64_t)1 << b;
	}
	return in;
}

TEST(loops_are_those_of_the_definition)
{
	uint32_t n = 0, other = 0;

	seed = 11;
	for (int round = 0; round < 300; round++) {
		struct kernel_graph g = random_graph(14, true);
		struct kernel_loops loops;
		uint32_t expected = 0;

		kernel_loops_find(&g, &loops);
		for (uint32_t h = 0; h < g.n_blocks; h++)
			expected += loop_of(&g, h) != 0;
		assert_int_equal(loops.n_loops, expected);
		for (uint32_t l = 0; l < loops.n_loops; l++) {
			uint64_t in = loop_of(&g, loops.loops[l].head);

			assert_int_equal(loops.loops[l].n_blocks, __builtin_popcountll(in));
			/* Without irreducible cycles, loops are nested or disjoint, so kernel_loop_has() knows all blocks. */
			for (uint32_t b = 0; b < g.n_blocks && !loops.other_cycles; b++)
				assert_int_equal(kernel_loop_has(&loops, l, b), in >> b & 1);
		}
		n += loops.n_loops;
		other += loops.other_cycles;
		kernel_loops_clear(&loops);
		free(g.arcs);
	}
	assert_true(n > 300 && other > 10 && other < 290);
}

static void check_plan(const struct kernel_flow *flow, const struct kernel_block_plan *plan)
{
	const struct kernel_block *blocks = flow->blocks;

	assert_true(plan->n_probes <= plan->n_blocks);
	for (uint32_t i = 0; i < plan->n_probes; i++) {
		const struct kernel_block_probe *p = &plan->probes[i];

		assert_true(p->addr >= blocks[p->block].start && p->addr < blocks[p->block].end);
		assert_int_equal(kernel_flow_place(flow, p->addr, NULL, NULL), KERNEL_PLACE_OK);
	}
}

TEST(plans_of_all_functions)
{
	struct kernel_image *img = fixture_lab_image();
	uint64_t start = clock_ns(), addr = 0, functions = 0, blocks = 0, probes = 0, unknown = 0;
	struct kernel_code *code;

	if (!img)
		fixture_skip(FIXTURE_NO_KERNEL);
	assert_int_equal(kernel_code_create(img, NULL, &code), 0);
	while (addr < 0x1000000) {
		struct kernel_range range;
		const char *name = kernel_image_extent(img, addr, &range);
		struct kernel_block_plan plan;
		struct kernel_flow *flow;

		if (name && range.start == addr && !kernel_name_is_cold(name)) {
			assert_int_equal(kernel_flow_of(code, addr, &flow), 0);
			assert_int_equal(kernel_blocks_plan(flow, NULL, NULL, &plan), 0);
			check_plan(flow, &plan);
			functions++;
			blocks += plan.n_blocks;
			probes += plan.n_probes;
			unknown += plan.n_unknown;
			kernel_block_plan_clear(&plan);
			kernel_flow_destroy(flow);
		}
		addr = name && range.start == addr ? range.end : addr + 1;
	}
	assert_true(functions > 20000);
	print_message("# %" PRIu64 " functions, %" PRIu64 " blocks: %" PRIu64 " probes, %" PRIu64
		      " stay unknown; %.2f s\n",
		      functions, blocks, probes, unknown, (double)(clock_ns() - start) / 1e9);
	assert_true(probes < blocks * 6 / 10);
	assert_true(unknown < blocks / 100);
	kernel_code_destroy(code);
	kernel_image_destroy(img);
}

RUN_TESTS(fixture_setup, fixture_teardown)
