// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tree of recordings by probes: contexts, the functions timed in them, and the bodies timed in those, each with the
 * time in which no other that was timed is below it. So a context's own time is what is in no timed function.
 */
#include <string.h>

#include "analyze/figures/calibration.h"
#include "base/alloc.h"
#include "tree/fill.h"

/* The node of the site that CELL is of; TREE_NONE: it has no time. */
static uint32_t node_of(struct tree *t, const struct profile *p, const struct profile_cell *cell,
			int side)
{
	const struct profile_site *site = &p->sites[cell->site];
	uint32_t node = tree_find_or_add(
		t, &(struct tree_key){ TREE_ROOT, p->contexts[cell->context].name });

	if (!cell->site)
		return node;
	if (site->into)
		node = tree_find_or_add(t, &(struct tree_key){ node, site->into });
	node = tree_find_or_add(t, &(struct tree_key){ node, site->name });
	t->nodes[node].inlined[side] |= site->into != NULL;
	return node;
}

void tree_fill_probed(struct tree *t, int side)
{
	const struct profile *p = t->p[side];
	scoped(analyze_calibration_deinit) struct analyze_calibration calibration;

	analyze_calibration_init(&calibration, p, ANALYZE_OF_TIME);
	vec_each(const struct profile_cell, cell, p, cells) {
		uint32_t column = tree_column(t, side, cell->run);
		struct tree_value *value;

		if (column == TREE_NONE)
			continue;
		value = tree_value_of(t, node_of(t, p, cell, side), column);
		value->insns += (double)(int64_t)cell->stats.self;
		value->error += analyze_calibration_uncertainty(&calibration, p, cell);
		value->times += (double)cell->stats.calls;
		value->seen = true;
	}
}
