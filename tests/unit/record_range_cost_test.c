// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Solve the equations for the costs of probes of inlined functions. Made-up costs of the parts of a probe give the readings of
 * each trial. Solving must return these costs.
 */
#include "test.h"
#include "record/cost/range_cost.h"

/* Made-up costs, in ticks. HEAD and TAIL: parts of a hit before and after the program reads the clock, by kind of probe. */
struct truth {
	int64_t head[ENGINE_RANGE_KINDS], tail[ENGINE_RANGE_KINDS];
	int64_t open_head, close_tail; /* for a probe reached by a jump */
	int64_t idle_enter, idle_leave, per_frame;
	int64_t list_head, list_tail, list_self; /* SELF: between the list's own two readings */
	int64_t block;
};

static const struct truth usual = {
	.head = { 210, 560, 540, 540, 540, 610 },
	.tail = { 210, 330, 260, 300, 280, 390 },
	.open_head = 190,
	.close_tail = 230,
	.idle_enter = 370,
	.idle_leave = 350,
	.per_frame = 6,
	.list_head = 220,
	.list_tail = 240,
	.list_self = 900,
	.block = 430,
};

static struct record_trials trials_of(const struct truth *t)
{
	const int64_t *head = t->head, *tail = t->tail;
	int64_t jump = tail[ENGINE_RANGE_OPTIMIZED] + head[ENGINE_RANGE_OPTIMIZED];
	int64_t open = t->open_head + tail[ENGINE_RANGE_OPTIMIZED];
	int64_t close = head[ENGINE_RANGE_OPTIMIZED] + t->close_tail;
	struct record_trials r = { .further = true, .returns = true, .blocks = true };

	r.more[TRIAL_PLAIN] = jump;
	r.more[TRIAL_FROM_CALL] = tail[ENGINE_RANGE_CALL_EMULATED] + head[ENGINE_RANGE_STEPPED];
	r.more[TRIAL_TO_COMPARE] = tail[ENGINE_RANGE_OPTIMIZED] + head[ENGINE_RANGE_STEPPED];
	r.more[TRIAL_TO_CALL] = tail[ENGINE_RANGE_OPTIMIZED] + head[ENGINE_RANGE_EMULATED];
	r.more[TRIAL_FROM_COMPARE] = tail[ENGINE_RANGE_STEPPED] + head[ENGINE_RANGE_EMULATED];
	r.more[TRIAL_FROM_JUMP] = tail[ENGINE_RANGE_EMULATED] + head[ENGINE_RANGE_OPTIMIZED];
	r.more[TRIAL_IDLE_LEAVE] = jump + t->idle_leave;
	r.more[TRIAL_IDLE_ENTER] = jump + t->idle_enter;
	r.more[TRIAL_INNER] = jump + t->idle_leave + t->per_frame;
	r.more[TRIAL_OUTER] = jump + open + t->idle_leave + t->per_frame + close;
	/* A list's program reads the clock when it starts, and excludes the time from then on. */
	r.listed = 1000;
	r.more[TRIAL_TO_LIST] = tail[ENGINE_RANGE_OPTIMIZED] + t->list_head;
	r.more[TRIAL_FROM_LIST] = r.listed + t->list_tail + head[ENGINE_RANGE_OPTIMIZED];
	r.more[TRIAL_FROM_RETURN] = tail[ENGINE_RANGE_JUMP_EMULATED] + head[ENGINE_RANGE_STEPPED];
	r.more[TRIAL_FROM_PREPARED] = tail[ENGINE_RANGE_PREPARED] + head[ENGINE_RANGE_EMULATED];
	r.more[TRIAL_TO_PREPARED] = tail[ENGINE_RANGE_CALL_EMULATED] + head[ENGINE_RANGE_PREPARED];
	r.more[TRIAL_AROUND] = jump + t->block;
	r.opened = t->list_self + RECORD_RANGE_PROVISIONAL;
	r.more[TRIAL_AROUND_OPEN] = jump + open + t->list_head + t->list_tail + t->list_self;
	return r;
}

static int64_t beyond(const struct truth *t, int kind)
{
	return t->head[kind] + t->tail[kind] - t->head[ENGINE_RANGE_OPTIMIZED] -
	       t->tail[ENGINE_RANGE_OPTIMIZED];
}

static struct record_range_costs solve(const struct record_trials *trials, double share)
{
	struct record_range_costs costs = { .trials = *trials };

	assert_int_equal(record_range_costs_solve(&costs, share), trials->further);
	return costs;
}

/* Check that COSTS equals TRUTH for KIND of probe, with its own head and tail. */
static void assert_kind(const struct record_range_costs *costs, const struct truth *t, int kind)
{
	const struct engine_range_cost *c = &costs->kinds[kind];
	int64_t more = beyond(t, kind);

	assert_true(costs->beyond[kind] == (double)more);
	assert_int_equal(c->open, t->open_head + t->tail[ENGINE_RANGE_OPTIMIZED] + more);
	assert_int_equal(c->open - c->open_head, t->tail[kind]);
	assert_int_equal(c->close, t->head[ENGINE_RANGE_OPTIMIZED] + t->close_tail + more);
	assert_int_equal(c->close_head, t->head[kind]);
	assert_int_equal(c->idle_enter, t->idle_enter + more);
	assert_int_equal(c->idle_leave, t->idle_leave + more);
	assert_int_equal(c->list, t->list_head + t->list_tail + more);
	assert_int_equal(c->list_head,
			 t->list_head + t->head[kind] - t->head[ENGINE_RANGE_OPTIMIZED]);
	assert_int_equal(c->per_frame, t->per_frame);
}

TEST(costs_are_those_that_were_read)
{
	struct record_trials trials = trials_of(&usual);
	struct record_range_costs costs = solve(&trials, 0);

	assert_true(costs.known);
	assert_int_equal(costs.inner, 420);
	for (int kind = 0; kind <= ENGINE_RANGE_PREPARED; kind++)
		assert_kind(&costs, &usual, kind);
	assert_true(costs.block == 430);
}

/* With a coarse clock a probe may seem to take a negative time, which is subtracted with its sign. */
TEST(costs_are_signed)
{
	struct truth odd = usual;
	struct record_trials trials;
	struct record_range_costs costs;

	odd.head[ENGINE_RANGE_EMULATED] = -700;
	odd.head[ENGINE_RANGE_CALL_EMULATED] = -700;
	odd.head[ENGINE_RANGE_JUMP_EMULATED] = -700;
	odd.tail[ENGINE_RANGE_STEPPED] = -30;
	odd.idle_enter = -5;
	odd.per_frame = -1;
	trials = trials_of(&odd);
	costs = solve(&trials, 0);
	for (int kind = 0; kind <= ENGINE_RANGE_PREPARED; kind++)
		assert_kind(&costs, &odd, kind);
	assert_true((int64_t)costs.kinds[ENGINE_RANGE_OPTIMIZED].idle_enter == -5);
	assert_true((int64_t)costs.kinds[ENGINE_RANGE_EMULATED].close < 0);
}

/* An odd sum is split into two integers that differ by one. */
TEST(halves_add_up)
{
	struct record_trials trials = trials_of(&usual);
	struct record_range_costs costs;

	trials.further = false;
	trials.more[TRIAL_PLAIN]++;
	trials.more[TRIAL_OUTER]++;
	costs = solve(&trials, 0);
	assert_int_equal(costs.kinds[ENGINE_RANGE_OPTIMIZED].open -
				 costs.kinds[ENGINE_RANGE_OPTIMIZED].open_head +
				 costs.kinds[ENGINE_RANGE_OPTIMIZED].close_head,
			 421);
	assert_int_equal(costs.kinds[ENGINE_RANGE_OPTIMIZED].open +
				 costs.kinds[ENGINE_RANGE_OPTIMIZED].close,
			 trials.more[TRIAL_OUTER] - trials.more[TRIAL_INNER]);
}

/* Without the further trials, a return is taken to cost as much as a jump, a prepared probe as much as a stepped one. */
TEST(basic_trials_do_alone)
{
	struct record_trials trials = trials_of(&usual);
	struct record_range_costs costs;

	trials.further = trials.returns = trials.blocks = false;
	costs = solve(&trials, 0);
	assert_memory_equal(&costs.kinds[ENGINE_RANGE_JUMP_EMULATED],
			    &costs.kinds[ENGINE_RANGE_EMULATED], sizeof(costs.kinds[0]));
	assert_memory_equal(&costs.kinds[ENGINE_RANGE_PREPARED], &costs.kinds[ENGINE_RANGE_STEPPED],
			    sizeof(costs.kinds[0]));
	assert_true(record_range_cost_block(&costs, ENGINE_RANGE_STEPPED) == 0);
	assert_int_equal(costs.kinds[ENGINE_RANGE_OPTIMIZED].open, 420);
	assert_int_equal(costs.kinds[ENGINE_RANGE_OPTIMIZED].close, 420);
}

/* If entering an inlined function seems to cost 0, half of the cost of entering and leaving is used instead. */
TEST(opening_is_half_if_not_known)
{
	struct record_range_costs costs = { .trials = trials_of(&usual) };

	costs.trials.more[TRIAL_AROUND_OPEN] = 0;
	assert_false(record_range_costs_solve(&costs, 0));
	assert_int_equal(costs.kinds[ENGINE_RANGE_OPTIMIZED].open, 420);
	assert_int_equal(costs.kinds[ENGINE_RANGE_OPTIMIZED].close, 420);
	assert_int_equal(costs.kinds[ENGINE_RANGE_JUMP_EMULATED].close_head, 540);
}

TEST(a_block_costs_by_its_kind)
{
	struct record_trials trials = trials_of(&usual);
	struct record_range_costs costs = solve(&trials, 0);

	assert_true(record_range_cost_block(&costs, ENGINE_RANGE_OPTIMIZED) == 430);
	assert_true(record_range_cost_block(&costs, ENGINE_RANGE_STEPPED) == 430 + 890 - 420);
}

/* Interrupts take a tenth of the time, so each cost grows by a tenth, rounded. Negative costs do, too. */
TEST(interrupts_are_added)
{
	struct truth odd = usual;
	struct record_trials trials;
	struct record_range_costs costs;

	odd.idle_enter = -40;
	trials = trials_of(&odd);
	costs = solve(&trials, 0.1);
	assert_int_equal(costs.inner, 420);
	assert_int_equal(costs.kinds[ENGINE_RANGE_OPTIMIZED].idle_leave, 385);
	assert_int_equal(costs.kinds[ENGINE_RANGE_OPTIMIZED].close_head, 231);
	assert_true((int64_t)costs.kinds[ENGINE_RANGE_OPTIMIZED].idle_enter == -43);
	assert_true(costs.beyond[ENGINE_RANGE_STEPPED] == 470 * 1.1);
	assert_true(costs.block == 430 * 1.1);
	assert_int_equal(costs.kinds[ENGINE_RANGE_OPTIMIZED].open, 440);
	assert_int_equal(costs.kinds[ENGINE_RANGE_OPTIMIZED].close, 484);
}

RUN_TESTS(NULL, NULL)
