// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/range_attach.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "record/closer.h"
#include "record/engine.h"
#include "record/workload.h"

void record_ranges_add_sites(const struct record_ranges *ranges, struct profile *p)
{
	for (uint32_t i = 0; i < ranges->n_items; i++) {
		const struct record_range *r = &ranges->items[i];
		struct profile_site site = {
			.name = r->name,
			.symbol = r->symbol,
			.into = r->into,
			.chain = r->chain,
			.estimated = r->why_not,
			.kind = PROFILE_SITE_RANGE,
			.mech = r->why_not ? PROFILE_MECH_NONE : PROFILE_MECH_RANGE,
			.addr = r->entry,
			.file = r->file,
			.line = r->line,
		};

		profile_site_add(p, &site);
	}
}

/* All that were to be timed by P are not, since the kernel refuses it with ERR. */
static void refuse(struct record_ranges *ranges, const struct record_point *p, uint64_t offset,
		   int err)
{
	for (uint32_t k = 0; k < p->n_actions; k++)
		record_range_give_up(ranges, p->actions[k].site - ranges->first_site,
				     "the kernel refuses the probe at _stext+0x%lx: %s",
				     (unsigned long)offset, log_strerror(err));
}

int record_ranges_arm(struct record_ranges *ranges, struct record_engine *e, uint64_t stext)
{
	struct record_points *points = record_engine_points(e);

	for (uint32_t i = 0; i < ranges->n_points; i++) {
		struct record_point *p = &ranges->points[i];
		int err;

		log_progress("placing %u of %u probes of ranges", i + 1, ranges->n_points);
		if (record_workload_interrupted())
			return -EINTR;
		err = record_point_arm(points, p);
		if (err)
			refuse(ranges, p, p->addr - stext, err);
	}
	log_progress_end();
	record_ranges_prune(ranges);
	return 0;
}

static void link_all(struct record_ranges *ranges, struct record_points *points, uint64_t stext)
{
	for (uint32_t i = 0; i < ranges->n_points; i++) {
		struct record_point *p = &ranges->points[i];
		int err = record_point_link(points, p);

		if (err)
			refuse(ranges, p, p->addr - stext, err);
	}
}

static void say_point(const struct record_ranges *ranges, const struct record_point *p,
		      uint64_t stext)
{
	static const char *const ops[] = { [ENGINE_RANGE_ENTER] = "enters",
					   [ENGINE_RANGE_LEAVE] = "leaves",
					   [ENGINE_RANGE_COUNT] = "counts" };
	static const char *const kinds[] = { [ENGINE_RANGE_OPTIMIZED] = "jump",
					     [ENGINE_RANGE_STEPPED] = "breakpoint",
					     [ENGINE_RANGE_EMULATED] = "breakpoint, emulated",
					     [ENGINE_RANGE_CALL_EMULATED] = "breakpoint, emulated",
					     [ENGINE_RANGE_JUMP_EMULATED] = "breakpoint, emulated",
					     [ENGINE_RANGE_PREPARED] =
						     "breakpoint, prepared for a jump" };

	for (uint32_t k = 0; k < p->n_actions; k++) {
		const struct record_action *a = &p->actions[k];
		const struct record_range *r = &ranges->items[a->site - ranges->first_site];

		log_verbose(2, "%s+0x%lx %s '%s'%s%s (%s, +%u +%u)", r->into,
			    (unsigned long)(p->addr - stext - r->into_addr), ops[a->op], r->name,
			    a->flags & ENGINE_RANGE_CALL ? ", a call" : "",
			    a->flags & ENGINE_RANGE_STRICT ? ", always" : "", kinds[p->kind],
			    p->extra, p->extra_tail);
	}
}

static void say_attached(const struct record_ranges *ranges, uint64_t start)
{
	uint32_t kinds[ENGINE_RANGE_KINDS] = {};

	for (uint32_t i = 0; i < ranges->n_points; i++)
		kinds[ranges->points[i].kind]++;
	log_verbose(1,
		    "%u probes of ranges: %u by a jump, %u by a breakpoint; settling them took "
		    "%.1f ms",
		    ranges->n_points, kinds[ENGINE_RANGE_OPTIMIZED],
		    ranges->n_points - kinds[ENGINE_RANGE_OPTIMIZED], (clock_ns() - start) / 1e6);
}

void record_ranges_attach(struct record_ranges *ranges, struct record_engine *e, struct profile *p,
			  uint64_t stext)
{
	struct record_points *points = record_engine_points(e);
	uint64_t start = clock_ns();
	uint32_t left;

	left = record_points_settle(points, ranges->points, ranges->n_points);
	if (left)
		log_verbose(1,
			    "%u probes of ranges that the kernel's optimizer might take stay "
			    "breakpoints",
			    left);
	if (p->clock == PROFILE_CLOCK_INSN)
		record_points_find_extra(points, ranges->points, ranges->n_points);
	link_all(ranges, points, stext);
	record_ranges_prune(ranges);
	for (uint32_t i = 0; i < ranges->n_items; i++) {
		struct profile_site *site = &p->sites[ranges->first_site + i];

		if (!ranges->items[i].why_not)
			continue;
		site->mech = PROFILE_MECH_NONE;
		site->estimated = profile_intern(p, ranges->items[i].why_not);
	}
	for (uint32_t i = 0; i < ranges->n_points; i++)
		say_point(ranges, &ranges->points[i], stext);
	say_attached(ranges, start);
}

void record_ranges_detach(struct record_ranges *ranges)
{
	for (uint32_t i = 0; i < ranges->n_points; i++)
		record_point_disarm(&ranges->points[i]);
	log_progress("detaching %u probes of ranges", ranges->n_points);
	record_closer_wait();
	log_progress_end();
}
