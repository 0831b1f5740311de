// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/diff/passage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sorted.h"

/* All stacks with one frame in them. */
struct through {
	struct analyze_step step;
	double place, weight; /* mean place in the stacks, by their changes, once all are added */
	size_t last; /* stack that was added: recursion counts once */
};

struct throughs {
	struct through *items;
	uint32_t n_items, cap_items;
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
	uint32_t hash = hash_string(frame->name) + frame->kind;
	uint32_t item = hash_find(&all->index, hash, is_frame, all, frame);
	struct through new = { .step = { .kind = frame->kind, .name = frame->name },
			       .last = SIZE_MAX };

	if (item == HASH_NONE) {
		item = all->n_items;
		hash_add(&all->index, hash, item);
		vec_push(all, items, new);
	}
	return &all->items[item];
}

static void add_stack(struct throughs *all, const struct analyze_stack *stack, size_t number)
{
	double change = fabs(stack->count[1] - stack->count[0]);

	for (uint32_t i = 1; i < stack->n_frames; i++) {
		struct through *t = find(all, &stack->frames[i]);

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

static double runs_of(const struct profile *p)
{
	double n = 0;

	for (uint32_t i = 0; i < p->n_runs; i++)
		n += p->runs[i].kind == PROFILE_RUN_PROBED;
	return n;
}

static void find_steps(struct analyze_passage *passage, struct throughs *all, double change)
{
	for (uint32_t i = 0; i < all->n_items; i++)
		if (all->items[i].weight > 0)
			all->items[i].place /= all->items[i].weight;
	sort_array(all->items, all->n_items, sizeof(*all->items), depth_compare);
	for (uint32_t i = 0; i < all->n_items; i++) {
		struct analyze_step *s = &all->items[i].step;

		s->delta = s->totals[1] - s->totals[0];
		s->share = s->delta / change;
		if (s->share >= ANALYZE_PASSAGE_SHARE)
			vec_push(passage, steps, *s);
	}
}

int analyze_passage_init(struct analyze_passage *passage, const struct profile *a,
			 const struct profile *b, const char *context)
{
	struct throughs all = {};
	double change = 0;
	int err;

	*passage = (struct analyze_passage){};
	if (!context || !profile_is_exact(a) || !profile_is_exact(b) || runs_of(a) < 1 ||
	    runs_of(b) < 1)
		return 0;
	err = analyze_stacks_add(&passage->stacks, a, 0, 1 / runs_of(a));
	err = err ?: analyze_stacks_add(&passage->stacks, b, 1, 1 / runs_of(b));
	if (err)
		return err;
	passage->context = context;
	for (size_t i = 0; i < passage->stacks.n_rows; i++) {
		const struct analyze_stack *stack = &passage->stacks.rows[i];

		if (strcmp(stack->frames[0].name, context) != 0)
			continue;
		change += stack->count[1] - stack->count[0];
		add_stack(&all, stack, i);
	}
	if (change != 0)
		find_steps(passage, &all, change);
	free(all.items);
	hash_deinit(&all.index);
	return 0;
}

void analyze_passage_lead(const struct analyze_passage *passage, struct analyze_conclusion *c)
{
	uint32_t at = 0, n;

	if (c->where != ANALYZE_WHERE_FUNCTION)
		return;
	while (at < passage->n_steps && strcmp(passage->steps[at].name, c->function) != 0)
		at++;
	if (at == passage->n_steps)
		return;
	n = at < ANALYZE_WAY ? at : ANALYZE_WAY;
	for (uint32_t i = 0; i < n; i++)
		c->by_way[i] = passage->steps[at - n + i].name;
}

void analyze_passage_deinit(struct analyze_passage *passage)
{
	free(passage->steps);
	analyze_stacks_deinit(&passage->stacks);
}
