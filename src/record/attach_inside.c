// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes inside of functions: those of ranges, which enter and leave bodies, and those of blocks, which count.
 */
#include "record/attach.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "base/system/clock.h"
#include "base/system/interrupt.h"
#include "base/log.h"
#include "record/cost/calibrate.h"
#include "record/engine/engine.h"
#include "record/probe/links.h"
#include "record/probe/point.h"
#include "record/probe/probes.h"

/* The kernel refuses P with ERR. */
typedef void (*refuse_fn)(struct record_attachment *a, const struct record_point *p, int err);

/* All bodies that were to be timed by P are not. */
static void refuse_range(struct record_attachment *a, const struct record_point *p, int err)
{
	struct record_ranges *ranges = &a->plan->ranges;

	for (uint32_t k = 0; k < p->n_actions; k++) {
		uint32_t i = p->actions[k].site - ranges->first_site;
		const struct record_range *r = &ranges->items[i];

		record_range_give_up(ranges, i, "the kernel refuses the probe at +0x%lx: %s",
				     (unsigned long)(p->addr - r->in->base - r->into_addr),
				     log_strerror(err));
	}
}

/* Its block's count stays unknown, which is no error. */
static void refuse_block(struct record_attachment *a, const struct record_point *p, int err)
{
	uint64_t offset = 0;
	const struct kernel_sym *sym =
		kernel_kallsyms_covering(a->plan->symbols.ks, p->addr, &offset);

	log_verbose(1, "the kernel refuses the block probe at %s+0x%lx: %s", sym ? sym->name : "?",
		    (unsigned long)offset, log_strerror(err));
}

/* Puts the N probes of WHAT into the kernel. -EINTR where the user asked for an end. */
static int arm(struct record_attachment *a, struct record_point *items, uint32_t n,
	       const char *what, refuse_fn refuse)
{
	struct record_points *points = record_probes_points(a->probes);

	for (uint32_t i = 0; i < n; i++) {
		int err;

		log_progress("placing probes of %s: %u of %u", what, i + 1, n);
		if (interrupt_signal())
			return -EINTR;
		err = record_point_arm(points, &items[i]);
		if (err)
			refuse(a, &items[i], err);
	}
	log_progress_end();
	return 0;
}

/* Finds how the kernel reaches the N probes of WHAT, and what that costs. */
static void settle(const struct record_attachment *a, struct record_point *items, uint32_t n,
		   const char *what)
{
	struct record_points *points = record_probes_points(a->probes);
	uint64_t start = clock_ns();
	uint32_t left = record_points_settle(points, items, n), jumps = 0;

	if (left)
		log_verbose(1,
			    "%u probes of %s remain breakpoints although the kernel's optimizer "
			    "could replace them",
			    left, what);
	for (uint32_t i = 0; i < n; i++)
		jumps += items[i].kind == ENGINE_RANGE_OPTIMIZED;
	log_verbose(1,
		    "%u probes of %s: %u use a jump, %u a breakpoint; this took %.1f ms to settle",
		    n, what, jumps, n - jumps, (clock_ns() - start) / 1e6);
}

static void say_point(const struct record_ranges *ranges, const struct record_point *p)
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

	vec_each(const struct record_action, a, p, actions) {
		const struct record_range *r = &ranges->items[a->site - ranges->first_site];

		log_verbose(2, "%s+0x%lx %s '%s'%s%s (%s)", r->into,
			    (unsigned long)(p->addr - r->in->base - r->into_addr), ops[a->op],
			    r->name, a->flags & ENGINE_RANGE_CALL ? ", a call" : "",
			    a->flags & ENGINE_RANGE_STRICT ? ", always" : "", kinds[p->kind]);
	}
}

static void attach_ranges(struct record_attachment *a)
{
	struct record_points *points = record_probes_points(a->probes);
	struct record_ranges *ranges = &a->plan->ranges;

	settle(a, ranges->points, ranges->n_points, "ranges");
	for (uint32_t i = 0; i < ranges->n_points; i++) {
		int err = record_point_link(points, &ranges->points[i]);

		if (err)
			refuse_range(a, &ranges->points[i], err);
	}
	record_ranges_prune(ranges, record_point_disarm);
	for (uint32_t i = 0; i < ranges->n_items; i++) {
		struct profile_site *site = &a->p->sites[ranges->first_site + i];

		if (!ranges->items[i].why_not)
			continue;
		site->mech = PROFILE_UNTIMED;
		site->estimated = profile_intern(a->p, ranges->items[i].why_not);
	}
	for (uint32_t i = 0; i < ranges->n_points; i++)
		say_point(ranges, &ranges->points[i]);
}

/* Tells the engine what probe I, of the function F, is to do, and lets it begin. */
static int link_block(struct record_blocks *blocks, struct record_probes *probes,
		      const struct record_block_function *f, uint32_t i,
		      const struct record_range_costs *costs)
{
	struct record_point *p = &blocks->points[i];
	double cost = record_range_cost_block(costs, p->kind);
	struct engine_block block = {
		.key = ENGINE_KEY(f->site, 0),
		.cost = (uint32_t)cost,
		.fraction = (uint32_t)((cost - (uint32_t)cost) * (1 << ENGINE_BLOCK_FRACTION)),
		.per_frame = costs->kinds[ENGINE_RANGE_OPTIMIZED].per_frame,
	};

	blocks->hit_costs[i] = cost;
	if (p->event < 0)
		return -ENOENT;
	return record_engine_set_block(record_probes_engine(probes), i, &block) ?:
		       record_point_link(record_probes_points(probes), p);
}

/* Attach the probes of blocks; those that cannot be linked are detached again. */
static void attach_blocks(struct record_attachment *a)
{
	struct record_blocks *blocks = &a->plan->blocks;
	uint32_t refused = 0;

	free(blocks->hit_costs);
	blocks->hit_costs = alloc_array(blocks->n_points, sizeof(*blocks->hit_costs));
	settle(a, blocks->points, blocks->n_points, "blocks");
	vec_each(const struct record_block_function, f, blocks, items) {
		for (uint32_t k = f->first_point; k < f->first_point + f->plan.n_probes; k++) {
			if (!link_block(blocks, a->probes, f, k, &a->calibration->ranges))
				continue;
			record_point_disarm(&blocks->points[k]);
			refused++;
		}
	}
	if (refused)
		log_note("the kernel refuses %u of %u block %s: some counts are unknown (-v "
			 "lists them)",
			 refused, blocks->n_points, plural(blocks->n_points, "probe", "probes"));
}

int record_attach_inside(struct record_attachment *a)
{
	int err = arm(a, a->plan->ranges.points, a->plan->ranges.n_points, "ranges", refuse_range);

	if (!err)
		record_ranges_prune(&a->plan->ranges, record_point_disarm);
	err = err   ?:
		      arm(a, a->plan->blocks.points, a->plan->blocks.n_points, "blocks",
			  refuse_block);
	if (err)
		return err;
	if (a->plan->ranges.n_points)
		attach_ranges(a);
	if (a->plan->blocks.n_points)
		attach_blocks(a);
	return 0;
}

static void detach(struct record_point *items, uint32_t n, const char *what)
{
	for (uint32_t i = 0; i < n; i++) {
		log_progress("detaching probes of %s: %u of %u", what, i + 1, n);
		record_point_disarm(&items[i]);
	}
}

void record_detach_inside(struct record_ranges *ranges, struct record_blocks *blocks)
{
	detach(ranges->points, ranges->n_points, "ranges");
	detach(blocks->points, blocks->n_points, "blocks");
	record_detach_wait();
	log_progress_end();
}
