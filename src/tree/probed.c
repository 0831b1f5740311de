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

/* Sites of one name. */
struct named {
	const char *name;
	bool detached, function; /* one of them is */
};

struct names {
	vec_of(struct named, items); /* by name */
};

define_compare(by_name, struct named, strcmp(a->name, b->name));

static void named_add(void *to, void *from)
{
	((struct named *)to)->detached |= ((struct named *)from)->detached;
	((struct named *)to)->function |= ((struct named *)from)->function;
}

static struct names names_of(const struct profile *p)
{
	struct names names = {};

	vec_each(const struct profile_site, site, p, sites)
		vec_push(&names, items,
			 ((struct named){ site->name, site->detached, !site->into }));
	vec_unite(&names, items, by_name, named_add);
	return names;
}

/* The other sites of a site's name. */
struct found {
	bool partial; /* one was detached on either side: all their time is the context's */
	bool called; /* the site is a body, and the other side times a function */
};

/* Return what is to be known of each of SIDE's sites, for free(). */
static struct found *look_up(const struct tree *t, int side)
{
	const struct profile *p = t->p[side];
	struct found *found = alloc_array(p->n_sites, sizeof(*found));

	for (int i = 0; i < 2; i++) {
		struct names names = names_of(t->p[i]);

		for (uint32_t k = 0; k < p->n_sites; k++) {
			const struct named key = { .name = p->sites[k].name };
			const struct named *same = search_array(&key, names.items, names.n_items,
								sizeof(key), by_name);

			found[k].partial |= same && same->detached;
			found[k].called |= same && same->function && i != side && p->sites[k].into;
		}
		free(names.items);
	}
	return found;
}

/* Return the node of CELL's site; a PARTIAL one is in that of its context, and a CALLED one where the function is. */
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
