// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fill a tree from recordings by probes: contexts, the functions timed in them, and the bodies timed in those. Each has its
 * own time, without timed callees and bodies, so a context's own time is spent in no timed function.
 */
#include <math.h>
#include <string.h>

#include "analyze/figures/table.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "tree/fill.h"

struct found {
	bool partial; /* a function of this name was detached on either side: its time is its context's */
	bool called; /* a body that the other side times as a function */
};

define_compare(by_name, struct profile_site, strcmp(a->name, b->name));

/* Return for each of SIDE's sites what both sides' sites of its name say; for free(). */
static struct found *look_up(const struct tree *t, int side)
{
	const struct profile *p = t->p[side];
	struct found *found = alloc_array(p->n_sites, sizeof(*found));

	for (int i = 0; i < 2; i++) {
		struct pointers sites = pointers_sort(t->p[i]->sites, t->p[i]->n_sites,
						      sizeof(*t->p[i]->sites), by_name);

		for (uint32_t k = 0; k < p->n_sites; k++) {
			size_t n;
			const void *const *same = pointers_find(&sites, &p->sites[k], &n);

			for (size_t j = 0; j < n; j++) {
				const struct profile_site *other = same[j];

				found[k].partial |= other->detached;
				found[k].called |= i != side && p->sites[k].into && !other->into;
			}
		}
		free(sites.items);
	}
	return found;
}

/*
 * Return the node of CELL's site; that of its context if a function of its name was detached. A body that the other side calls is where that
 * function is.
 */
static uint32_t node_of(struct tree *t, const struct profile *p, const struct profile_cell *cell,
			int side, const struct found *found)
{
	const struct profile_site *site = &p->sites[cell->site];
	uint32_t node = tree_find_or_add(
		t, &(struct tree_key){ TREE_ROOT, p->contexts[cell->context].name });

	if (!cell->site || found->partial || t->n_nodes >= t->max_nodes)
		return node;
	if (site->into && !found->called)
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
	scoped_free struct found *found = look_up(t, side);

	analyze_calibration_init(&calibration, p, ANALYZE_OF_TIME);
	vec_each(const struct profile_cell, cell, p, cells) {
		uint32_t column = tree_column(t, side, cell->run);
		struct tree_value *value;

		if (column == TREE_NONE)
			continue;
		value = tree_value_of(t, node_of(t, p, cell, side, &found[cell->site]), column);
		value->insns += (double)(int64_t)cell->stats.self;
		value->error +=
			analyze_calibration_uncertainty(&calibration, p, cell) + chance(t, cell);
		value->times += found[cell->site].partial ? 0 : (double)cell->stats.calls;
		value->seen = true;
	}
}
