// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/quiet.h"

/* Sums over the shards of a cell. */
struct sums {
	double calls, time, child, aside, quiet, quiet_self, quiet_aside;
};

static void add(struct sums *s, const struct engine_cell *c)
{
	s->calls += (double)(c->calls - c->unreturned);
	s->time += (double)(c->wall - c->offcpu);
	s->child += (double)(int64_t)c->child;
	s->aside += (double)(c->aside - c->offcpu);
	s->quiet += (double)c->quiet;
	s->quiet_self += (double)(int64_t)c->quiet_self;
	s->quiet_aside += (double)c->quiet_aside;
}

int64_t record_quiet_excess(const struct engine_cell *cell, uint32_t n, uint64_t inner,
			    double share)
{
	struct sums s = {};
	double quiet, own, probes, interrupts, was, excess;

	for (uint32_t i = 0; i < n; i++)
		add(&s, &cell[i]);
	if (s.quiet <= s.calls / 2)
		return 0;
	/* What was set aside in quiet calls has a share of interrupts that they had none of. */
	quiet = s.quiet_self + (s.quiet_aside - s.quiet_aside / (1 + share)) -
		s.quiet * (double)inner / (1 + share);
	own = quiet / s.quiet * s.calls;
	probes = (s.aside + s.calls * (double)inner) / (1 + share);
	interrupts = s.time - s.child - probes - own;
	was = s.time - s.child - s.aside - s.calls * (double)inner;
	if (own < 0 || own + probes <= 0)
		return 0;
	excess = was - own - interrupts * own / (own + probes);
	/*
	 * Calls longer than the clock's period are never quiet. Where a function has such, rare as they may be, its
	 * quiet calls tell nothing of its slow path, which would be taken for interrupts. These take a hundredth of
	 * the time as a rule, so where they seem to be most of what was read, it is that.
	 */
	return excess > was / 2 ? 0 : (int64_t)excess;
}
