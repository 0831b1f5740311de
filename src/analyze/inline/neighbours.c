// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/inline/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"

/* FRAME NULL: the function itself. */
static struct analyze_neighbour *find(struct analyze_neighbour_list *list,
				      const struct analyze_frame *frame)
{
	struct analyze_neighbour new = { .calls = NAN };

	if (frame) {
		new.kind = frame->kind;
		new.name = frame->name;
	}
	for (uint32_t i = 0; i < list->n_items; i++)
		if (list->items[i].kind == new.kind && !compare_text(list->items[i].name, new.name))
			return &list->items[i];
	vec_push(list, items, new);
	return &list->items[list->n_items - 1];
}

/*
 * Find the first and the last place of the function on STACK, or of the syscall behind user space's part. The first
 * frame has no caller. 0: it has none.
 */
static void places(const struct analyze_neighbours *n, const struct analyze_stack *stack,
		   uint32_t *outermost, uint32_t *innermost)
{
	*outermost = *innermost = 0;
	for (uint32_t i = 1; i < stack->n_frames; i++)
		if (!strcmp(stack->frames[i].name, n->name)) {
			*outermost = *outermost ?: i;
			*innermost = i;
		}
}

static void add_stack(struct analyze_neighbours *n, const struct analyze_stack *stack)
{
	uint32_t outermost, innermost;

	places(n, stack, &outermost, &innermost);
	if (!outermost)
		return;
	n->samples += stack->count[0];
	find(&n->callers, &stack->frames[outermost - 1])->samples += stack->count[0];
	find(&n->callees, innermost + 1 < stack->n_frames ? &stack->frames[innermost + 1] : NULL)
		->samples += stack->count[0];
}

static void add_calls(struct analyze_neighbour *neighbour, double calls)
{
	neighbour->calls = calls + (isnan(neighbour->calls) ? 0 : neighbour->calls);
}

/* STACK's last frame was called by the one before, also where the function is on the stack more than once. */
static void add_call(struct analyze_neighbours *n, const struct analyze_stack *stack)
{
	uint32_t last = stack->n_frames - 1;

	if (last > 0 && !strcmp(stack->frames[last].name, n->name))
		add_calls(find(&n->callers, &stack->frames[last - 1]), stack->count[0]);
	if (last > 1 && !strcmp(stack->frames[last - 1].name, n->name))
		add_calls(find(&n->callees, &stack->frames[last]), stack->count[0]);
}

define_compare(compare, struct analyze_neighbour,
	       compare_values(b->samples, a->samples) ?: compare_text(a->name, b->name));

static void finish(struct analyze_neighbour_list *list, double all, double period)
{
	for (uint32_t i = 0; i < list->n_items; i++) {
		list->items[i].share = list->items[i].samples / all;
		list->items[i].total = list->items[i].samples * period;
	}
	sort_array(list->items, list->n_items, sizeof(*list->items), compare);
}

/* A function has as many names as there are symbols of its address; stacks have the one of its first instruction. */
static const char *name_in_stacks(const struct profile *p, const char *function)
{
	vec_each(const struct profile_site, site, p, sites) {
		if (site->kind != PROFILE_SITE_FUNCTION || !profile_site_has_label(site, function))
			continue;
		vec_each(const struct profile_location, at, p, locations)
			if (at->addr == site->addr && at->n_frames &&
			    profile_site_is_in(site, at->module))
				return at->frames[at->n_frames - 1].name;
	}
	return function;
}

int analyze_neighbours_init(struct analyze_neighbours *n, const struct profile *p,
			    const char *function)
{
	double period = p->sample_period ? (double)p->sample_period : NAN;
	int err;

	*n = (struct analyze_neighbours){ .function = function };
	if (!function)
		return 0;
	n->name = name_in_stacks(p, function);
	err = analyze_stacks_add(&n->stacks, p, 0, 1) ?: analyze_stacks_add_calls(&n->calls, p);
	if (err)
		return err;
	for (size_t i = 0; i < n->stacks.n_rows; i++)
		add_stack(n, &n->stacks.rows[i]);
	for (size_t i = 0; i < n->calls.n_rows; i++)
		add_call(n, &n->calls.rows[i]);
	finish(&n->callers, n->samples, period);
	finish(&n->callees, n->samples, period);
	return 0;
}

void analyze_neighbours_deinit(struct analyze_neighbours *n)
{
	free(n->callers.items);
	free(n->callees.items);
	analyze_stacks_deinit(&n->stacks);
	analyze_stacks_deinit(&n->calls);
}
