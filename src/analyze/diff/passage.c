// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/diff/passage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sorted.h"

/* Shares this close to the largest are taken for the same cost seen from further inside. */
#define INNERMOST_SHARE 0.9

/* All stacks with one frame in them. */
struct through {
	struct analyze_step step;
	double place, weight; /* mean place in the stacks, by their changes, once all are added */
	size_t last; /* stack that was added: recursion counts once */
};

struct throughs {
	vec_of(struct through, items);
	struct hash_index index;
};

static bool is_frame(const void *ctx, uint32_t item, const void *key)
{
	const struct analyze_step *step = &((const struct throughs *)ctx)->items[item].step;
	const struct analyze_frame *frame = key;

	return step->kind == frame->kind && !strcmp(step->name, frame->name);
}

static struct through *find(struct throughs *all, const struct analyze_frame *frame)
{
	uint32_t item = hash_find_or_add(&all->index, hash_string(frame->name) + frame->kind,
					 is_frame, all, frame, all->n_items);

	if (item == all->n_items)
		vec_push(all, items,
			 ((struct through){ .step = { .kind = frame->kind, .name = frame->name },
					    .last = SIZE_MAX }));
	return &all->items[item];
}

static void add_stack(struct throughs *all, const struct analyze_stack *stack, size_t number,
		      const struct analyze_sampled sides[2])
{
	double change = fabs(stack->count[1] * sides[1].tick - stack->count[0] * sides[0].tick);

	uint32_t n = analyze_stack_sure(stack);

	for (uint32_t i = 1; i < n; i++) {
		struct through *t;

		if (stack->frames[i].kind == ANALYZE_FRAME_OTHER)
			continue;
		t = find(all, &stack->frames[i]);
		if (t->last == number)
			continue;
		t->last = number;
		t->step.totals[0] += stack->count[0];
		t->step.totals[1] += stack->count[1];
		t->place += change * i;
		t->weight += change;
	}
}

define_compare(depth_compare, struct through,
	       compare_values(a->place, b->place) ?: compare_text(a->step.name, b->step.name));

/* The time of K of the samples of SIDE, of all N_SHARES frames together as sure as an interval is. */
static struct analyze_estimated time_of(const struct analyze_passage *passage, int side, double k,
					double n_shares)
{
	const struct analyze_sampled *s = &passage->sampled[side];
	struct analyze_estimated e = { k * s->tick, k * s->tick, k * s->tick };

	if (passage->exact)
		return e;
	e = analyze_binomial_of(k, s->samples, n_shares);
	return analyze_estimated_scale(&e, s->samples * s->tick);
}

static void find_steps(struct analyze_passage *passage, struct throughs *all, double change)
{
	for (uint32_t i = 0; i < all->n_items; i++)
		if (all->items[i].weight > 0)
			all->items[i].place /= all->items[i].weight;
	sort_array(all->items, all->n_items, sizeof(*all->items), depth_compare);
	for (uint32_t i = 0; i < all->n_items; i++) {
		struct analyze_step *s = &all->items[i].step;
		struct analyze_estimated e[2];

		for (int side = 0; side < 2; side++) {
			e[side] = time_of(passage, side, s->totals[side], all->n_items);
			s->totals[side] = e[side].value;
		}
		s->delta = analyze_estimated_difference(&e[0], &e[1]);
		s->share = s->delta.value / change;
		if (s->share >= ANALYZE_PASSAGE_SHARE && s->delta.low * s->delta.high > 0)
			vec_push(passage, steps, *s);
	}
}

/* What a sample of SIDE's recording P stands for in a run; false: nothing is known of that. */
static bool set_tick(struct analyze_passage *passage, int side, const struct profile *p,
		     double total)
{
	struct analyze_sampled *s = &passage->sampled[side];

	for (size_t i = 0; i < passage->stacks.n_rows; i++)
		s->samples += passage->stacks.rows[i].count[side];
	s->tick = passage->exact ? 1.0 / profile_probed_runs(p) : total / s->samples;
	return isfinite(s->tick);
}

static void add_context(struct analyze_passage *passage)
{
	struct throughs all = {};
	double change = 0;

	for (size_t i = 0; i < passage->stacks.n_rows; i++)
		add_stack(&all, &passage->stacks.rows[i], i, passage->sampled);
	for (int side = 0; side < 2; side++)
		change += (side ? 1 : -1) * passage->sampled[side].samples *
			  passage->sampled[side].tick;
	if (change != 0)
		find_steps(passage, &all, change);
	free(all.items);
	hash_deinit(&all.index);
}

int analyze_passage_init(struct analyze_passage *passage, const struct profile *a,
			 const struct profile *b, const char *context, const double totals[2])
{
	int err;

	*passage = (struct analyze_passage){ .exact = profile_is_exact(a) };
	if (profile_sample_event(a) || profile_sample_event(b) ||
	    passage->exact != profile_is_exact(b) || !profile_probed_runs(a) ||
	    !profile_probed_runs(b))
		return 0;
	err = analyze_stacks_add(&passage->stacks, a, 0, 1, context);
	err = err ?: analyze_stacks_add(&passage->stacks, b, 1, 1, context);
	if (err)
		return err;
	if (set_tick(passage, 0, a, totals[0]) && set_tick(passage, 1, b, totals[1])) {
		passage->context = context;
		add_context(passage);
	}
	return 0;
}

/* Of the steps with nearly all that any has the innermost; n_steps where there are none. */
static uint32_t innermost(const struct analyze_passage *passage)
{
	double most = 0;
	uint32_t at = passage->n_steps;

	for (uint32_t i = 0; i < passage->n_steps; i++)
		most = fmax(most, fmin(passage->steps[i].share, 1));
	for (uint32_t i = 0; i < passage->n_steps; i++)
		if (passage->steps[i].share >= INNERMOST_SHARE * most)
			at = i;
	return at;
}

struct analyze_passage_end analyze_passage_end(const struct analyze_passage *passage)
{
	uint32_t at = innermost(passage), n = at < ANALYZE_WAY ? at : ANALYZE_WAY;
	const struct analyze_step *s = &passage->steps[at];
	struct analyze_passage_end end = {};

	if (at == passage->n_steps)
		return end;
	end.step = s;
	end.error = fabs((s->delta.high - s->delta.low) / 2 * s->share / s->delta.value);
	for (uint32_t i = at + 1; i-- > 0 && !end.to_time;)
		if (passage->steps[i].kind == ANALYZE_FRAME_KERNEL)
			end.to_time = passage->steps[i].name;
	for (uint32_t i = 0; i < n; i++)
		end.by_way[i] = passage->steps[at - n + i].name;
	return end;
}

void analyze_passage_deinit(struct analyze_passage *passage)
{
	free(passage->steps);
	analyze_stacks_deinit(&passage->stacks);
}
