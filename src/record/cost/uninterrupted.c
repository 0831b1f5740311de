// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/cost/uninterrupted.h"

/* Sums over the shards of a cell. */
struct sums {
	double calls, time, child, excluded, uninterrupted, uninterrupted_self,
		uninterrupted_excluded;
};

static void add(struct sums *s, const struct engine_cell *c)
{
	s->calls += (double)(c->calls - c->unreturned);
	s->time += (double)(c->wall - c->offcpu);
	s->child += (double)(int64_t)c->child;
	s->excluded += (double)(c->excluded - c->offcpu);
	s->uninterrupted += (double)c->uninterrupted;
	s->uninterrupted_self += (double)(int64_t)c->uninterrupted_self;
	s->uninterrupted_excluded += (double)c->uninterrupted_excluded;
}

int64_t record_uninterrupted_excess(const struct engine_cell *cell, uint32_t n, uint64_t inner,
				    double share)
{
	struct sums s = {};
	double uninterrupted, own, probes, interrupts, was, excess;

	for (uint32_t i = 0; i < n; i++)
		add(&s, &cell[i]);
	if (s.uninterrupted <= s.calls / 2)
		return 0;
	/* What was excluded in uninterrupted calls has a share of interrupts that they had none of. */
	uninterrupted = s.uninterrupted_self +
			(s.uninterrupted_excluded - s.uninterrupted_excluded / (1 + share)) -
			s.uninterrupted * (double)inner / (1 + share);
	own = uninterrupted / s.uninterrupted * s.calls;
	probes = (s.excluded + s.calls * (double)inner) / (1 + share);
	interrupts = s.time - s.child - probes - own;
	was = s.time - s.child - s.excluded - s.calls * (double)inner;
	if (own < 0 || own + probes <= 0)
		return 0;
	excess = was - own - interrupts * own / (own + probes);
	/*
	 * Calls longer than the clock's period are never uninterrupted. Where a function has such, rare as they may be, its
	 * uninterrupted calls tell nothing of its slow path, which would be taken for interrupts. These take a hundredth of
	 * the time as a rule, so where they seem to be most of what was read, it is that.
	 */
	return excess > was / 2 ? 0 : (int64_t)excess;
}
