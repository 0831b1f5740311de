// SPDX-License-Identifier: GPL-2.0-or-later
/* Executions of instructions: from exact recordings, and of functions whose blocks were counted. */
#include <math.h>

#include "base/sorted.h"
#include "profile/conditions.h"
#include "tree/fill.h"

define_compare(by_instruction, struct tree_times,
	       compare_values(a->node, b->node)                 ?:
		       compare_values(a->location, b->location) ?:
		       compare_values(a->column, b->column));

static void times_add(void *to, void *from)
{
	((struct tree_times *)to)->times += ((struct tree_times *)from)->times;
}

size_t tree_times_unite(struct tree_times *all, size_t n)
{
	return unite_array(all, n, sizeof(*all), by_instruction, times_add);
}

double tree_times_per_run(const struct tree *t, int side, const struct tree_times *times, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += times[i].times;
	return sum / t->n_runs[side];
}

/* Add the loop with its head at HEAD, if there is one, to its node and to the bodies around it. */
static void add_loop(struct tree *t, int side, const struct tree_times *head, double times)
{
	const struct profile *p = t->p[side];
	const struct profile_location *l = &p->locations[head->location];
	struct tree_loop loop = { head->node, side, times,
				  profile_condition_of(p, head->location) };

	for (uint32_t k = 0; k < l->n_frames && loop.node && loop.condition; k++) {
		vec_push(t, loops, loop);
		loop.node = t->nodes[loop.node].parent;
	}
}

void tree_times_add(struct tree *t, int side, const struct tree_times *all, size_t n)
{
	for_each_run(i, j, n, tree_times_same(&all[i], &all[j])) {
		for (size_t k = i; k < j; k++) {
			struct tree_value *line =
				tree_line_value(t, all[k].node, all[k].frame, all[k].column);

			line->times = fmax(line->times, all[k].times);
		}
		add_loop(t, side, &all[i], tree_times_per_run(t, side, &all[i], j - i));
	}
}
