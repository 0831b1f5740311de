// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/inline/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"

static bool is_function(const struct analyze_frame *frame, const char *name)
{
	return frame->kind != ANALYZE_FRAME_OTHER && !strcmp(frame->name, name);
}

/* FRAME NULL: the function itself. */
static void add(struct analyze_neighbour_list *list, const struct analyze_frame *frame,
		double samples)
{
	struct analyze_neighbour new = { .samples = samples };
	uint32_t i;

	if (frame) {
		new.kind = frame->kind;
		new.name = frame->name;
	}
	for (i = 0; i < list->n_items; i++)
		if (list->items[i].kind == new.kind && !compare_text(list->items[i].name, new.name))
			break;
	if (i < list->n_items)
		list->items[i].samples += samples;
	else
		vec_push(list, items, new);
}

static void add_stack(struct analyze_neighbours *n, const struct analyze_stack *stack)
{
	uint32_t outermost = 0, innermost = 0;

	/* The first frame is the context. */
	for (uint32_t i = 1; i < stack->n_frames; i++)
		if (is_function(&stack->frames[i], n->function)) {
			outermost = outermost ?: i;
			innermost = i;
		}
	if (!outermost)
		return;
	n->samples += stack->count[0];
	add(&n->callers, &stack->frames[outermost - 1], stack->count[0]);
	add(&n->callees, innermost + 1 < stack->n_frames ? &stack->frames[innermost + 1] : NULL,
	    stack->count[0]);
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

int analyze_neighbours_init(struct analyze_neighbours *n, const struct profile *p,
			    const char *function)
{
	double period = p->sample_period ? (double)p->sample_period : NAN;
	int err;

	*n = (struct analyze_neighbours){ .function = function };
	if (!function)
		return 0;
	err = analyze_stacks_add(&n->stacks, p, 0, 1, NULL);
	if (err)
		return err;
	for (size_t i = 0; i < n->stacks.n_rows; i++)
		add_stack(n, &n->stacks.rows[i]);
	finish(&n->callers, n->samples, period);
	finish(&n->callees, n->samples, period);
	return 0;
}

void analyze_neighbours_deinit(struct analyze_neighbours *n)
{
	free(n->callers.items);
	free(n->callees.items);
	analyze_stacks_deinit(&n->stacks);
}
