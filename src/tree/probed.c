// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fill a tree from recordings by probes: contexts, the functions timed in them, and the bodies timed in those. Each has its
 * own time, without timed callees and bodies, so a context's own time is spent in no timed function.
 */
#include <math.h>
#include <string.h>

#include "analyze/figures/table.h"
#include "base/alloc.h"
#include "tree/fill.h"

/* Return whether a function of SITE's name was detached on either side: then its time is its context's. */
static bool is_partial(const struct tree *t, const struct profile_site *site)
{
	for (int side = 0; side < 2; side++)
		vec_each(const struct profile_site, other, t->p[side], sites)
			if (other->detached && !strcmp(other->name, site->name))
				return true;
	return false;
}

/* Return for each of SIDE's sites whether it is partial; for free(). */
static bool *find_partial(const struct tree *t, int side)
{
	const struct profile *p = t->p[side];
	bool *partial = alloc_array(p->n_sites, sizeof(*partial)), any = false;

	for (int i = 0; i < 2; i++)
		vec_each(const struct profile_site, site, t->p[i], sites)
			any |= site->detached;
	for (uint32_t i = 0; i < p->n_sites && any; i++)
		partial[i] = is_partial(t, &p->sites[i]);
	return partial;
}

/* Return the node of CELL's site; that of its context if the site is PARTIAL. */
static uint32_t node_of(struct tree *t, const struct profile *p, const struct profile_cell *cell,
			int side, const bool *partial)
{
	const struct profile_site *site = &p->sites[cell->site];
	uint32_t node = tree_find_or_add(
		t, &(struct tree_key){ TREE_ROOT, p->contexts[cell->context].name });

	if (!cell->site || partial[cell->site] || t->n_nodes >= t->max_nodes)
		return node;
	if (site->into)
		node = tree_find_or_add(t, &(struct tree_key){ node, site->into });
	node = tree_find_or_add(t, &(struct tree_key){ node, site->name });
	t->nodes[node].inlined[side] |= site->into != NULL;
	return node;
}

/*
 * Return what CELL's own time varies by because its calls differ, a standard deviation. Where runs show that, it is none of
 * what is known besides. The execve() that starts tar or thr-create differs by up to 6 % between two boots of one kernel.
 */
static double chance(const struct tree *t, const struct profile_cell *cell)
{
	const struct analyze_options options = { .time = ANALYZE_TIME_ONCPU };
	double self = fabs((double)(int64_t)cell->stats.self);
	struct analyze_figures f;

	if (t->has_runs)
		return 0;
	if (cell->stats.calls == 1)
		return LITTLE * self;
	analyze_figures_form(&f, &cell->stats, &options);
	return !isnan(f.spread) && f.total > 0 ? sqrt(f.calls) * f.spread * self / f.total : 0;
}

void tree_fill_probed(struct tree *t, int side)
{
	const struct profile *p = t->p[side];
	scoped(analyze_calibration_deinit) struct analyze_calibration calibration;
	scoped_free bool *partial = find_partial(t, side);

	analyze_calibration_init(&calibration, p, ANALYZE_OF_TIME);
	vec_each(const struct profile_cell, cell, p, cells) {
		uint32_t column = tree_column(t, side, cell->run);
		struct tree_value *value;

		if (column == TREE_NONE)
			continue;
		value = tree_value_of(t, node_of(t, p, cell, side, partial), column);
		value->insns += (double)(int64_t)cell->stats.self;
		value->error +=
			analyze_calibration_uncertainty(&calibration, p, cell) + chance(t, cell);
		value->times += partial[cell->site] ? 0 : (double)cell->stats.calls;
		value->seen = true;
	}
}
