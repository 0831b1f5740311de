// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/cost/range_equations.h"

/* By kind: what a hit takes behind our reading of the clock, and before it. */
struct parts {
	int64_t tail[ENGINE_RANGE_KINDS], head[ENGINE_RANGE_KINDS];
};

/*
 * Only the sum of the costs of opening and closing a range matters as long as both probes are of one kind, so each
 * gets half. The difference of other kinds is measured against one of these.
 */
static struct parts solve_parts(const struct record_trials *t)
{
	const int64_t *more = t->more;
	struct parts p = {};
	int64_t *tail = p.tail, *head = p.head;

	tail[ENGINE_RANGE_OPTIMIZED] = more[TRIAL_PLAIN] / 2;
	head[ENGINE_RANGE_OPTIMIZED] = more[TRIAL_PLAIN] - tail[ENGINE_RANGE_OPTIMIZED];
	tail[ENGINE_RANGE_EMULATED] = more[TRIAL_FROM_JUMP] - head[ENGINE_RANGE_OPTIMIZED];
	head[ENGINE_RANGE_EMULATED] = more[TRIAL_TO_CALL] - tail[ENGINE_RANGE_OPTIMIZED];
	head[ENGINE_RANGE_STEPPED] = more[TRIAL_TO_COMPARE] - tail[ENGINE_RANGE_OPTIMIZED];
	tail[ENGINE_RANGE_STEPPED] = more[TRIAL_FROM_COMPARE] - head[ENGINE_RANGE_EMULATED];
	head[ENGINE_RANGE_CALL_EMULATED] = head[ENGINE_RANGE_EMULATED];
	tail[ENGINE_RANGE_CALL_EMULATED] = more[TRIAL_FROM_CALL] - head[ENGINE_RANGE_STEPPED];
	/* A return costs what a jump does. */
	head[ENGINE_RANGE_JUMP_EMULATED] = head[ENGINE_RANGE_EMULATED];
	tail[ENGINE_RANGE_JUMP_EMULATED] =
		t->returns ? more[TRIAL_FROM_RETURN] - head[ENGINE_RANGE_STEPPED] :
			     tail[ENGINE_RANGE_EMULATED];
	head[ENGINE_RANGE_PREPARED] =
		t->further ? more[TRIAL_TO_PREPARED] - tail[ENGINE_RANGE_CALL_EMULATED] :
			     head[ENGINE_RANGE_STEPPED];
	tail[ENGINE_RANGE_PREPARED] =
		t->further ? more[TRIAL_FROM_PREPARED] - head[ENGINE_RANGE_EMULATED] :
			     tail[ENGINE_RANGE_STEPPED];
	return p;
}

static __u64 with_interrupts(int64_t cost, double share)
{
	return cost + (int64_t)(cost * share + 0.5);
}

bool record_range_costs_solve(struct record_range_costs *out, double interrupts)
{
	const struct record_trials *t = &out->trials;
	const int64_t *more = t->more;
	const struct parts p = solve_parts(t);
	int64_t pair = more[TRIAL_PLAIN];
	int64_t idle_leave = more[TRIAL_IDLE_LEAVE] - pair;
	int64_t idle_enter = more[TRIAL_IDLE_ENTER] - pair;
	int64_t per_frame = more[TRIAL_INNER] - pair - idle_leave;
	int64_t both = more[TRIAL_OUTER] - pair - idle_leave - per_frame;
	int64_t close_head = p.head[ENGINE_RANGE_OPTIMIZED];
	int64_t list_head = more[TRIAL_TO_LIST] - p.tail[ENGINE_RANGE_OPTIMIZED];
	int64_t list = list_head + more[TRIAL_FROM_LIST] - close_head - t->listed;
	/* A range may be entered by a probe of that kind and left by a list, which times itself. */
	int64_t opened =
		more[TRIAL_AROUND_OPEN] - (t->opened - RECORD_RANGE_PROVISIONAL) - pair - list;
	bool known = t->further && opened > 0;
	int64_t open = known ? opened : both / 2;

	out->known = true;
	out->inner = pair;
	for (int kind = 0; kind < ENGINE_RANGE_KINDS; kind++) {
		int64_t tail = p.tail[kind], head = p.head[kind], beyond = tail + head - pair;

		out->beyond[kind] = beyond * (1 + interrupts);
		out->kinds[kind] = (struct engine_range_cost){
			.open = with_interrupts(open + beyond, interrupts),
			.open_head = with_interrupts(open + beyond - tail, interrupts),
			.close = with_interrupts(both - open + beyond, interrupts),
			.close_head = with_interrupts(head, interrupts),
			.idle_enter = with_interrupts(idle_enter + beyond, interrupts),
			.idle_leave = with_interrupts(idle_leave + beyond, interrupts),
			.list = with_interrupts(list + beyond, interrupts),
			.list_head = with_interrupts(list_head + head - close_head, interrupts),
			.per_frame = with_interrupts(per_frame, interrupts),
		};
	}
	if (t->blocks && more[TRIAL_AROUND] > pair)
		out->block = (double)(more[TRIAL_AROUND] - pair) * (1 + interrupts);
	return known;
}

void record_range_costs_add(struct record_range_costs *costs, uint64_t before)
{
	for (int kind = 0; kind < ENGINE_RANGE_KINDS; kind++) {
		bool again = kind == ENGINE_RANGE_STEPPED || kind == ENGINE_RANGE_PREPARED;
		uint64_t head = kind == ENGINE_RANGE_OPTIMIZED ? 0 : before;
		uint64_t all = again ? head + 2 * before : head;
		struct engine_range_cost *c = &costs->kinds[kind];

		c->open_head += head;
		c->close_head += head;
		c->list_head += head;
		c->open += all;
		c->close += all;
		c->list += all;
		c->idle_enter += all;
		c->idle_leave += all;
		costs->beyond[kind] += (double)all;
	}
}

double record_range_cost_block(const struct record_range_costs *costs, enum engine_range_kind kind)
{
	return costs->block > 0 ? costs->block + costs->beyond[kind] : 0;
}
