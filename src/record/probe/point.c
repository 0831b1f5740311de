// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/probe/point.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "record/probe/links.h"
#include "record/engine/engine.h"
#include "record/engine/kprobe_event.h"
#include "record/probe/kprobe.h"
#include "record/probe/probes_impl.h"
#include "arch/arch.h"

/*
 * The optimizer handles some hundred probes at once, and waits until all tasks have passed a quiescent state. If a task is
 * running, the optimizer waits longer. So this process sleeps between its looks.
 */
#define IDLE_MS 1000 /* ms without progress after which this process gives up */
#define STEP_MS 10 /* ms between two looks at the code */

int record_point_arm(const struct record_probes *probes, struct record_point *p)
{
	p->link = -1;
	p->event = -1;
	p->text = record_engine_text(probes->engine, p->addr);
	p->kind = arch_kprobe_kind(p->text);
	p->event = record_kprobe_open(p->addr, false);
	return p->event < 0 ? p->event : 0;
}

static void forget_link(struct record_probes *probes, int link)
{
	for (uint32_t i = 0; i < probes->n_point_links; i++)
		if (probes->point_links[i] == link) {
			probes->point_links[i] = probes->point_links[--probes->n_point_links];
			return;
		}
}

void record_point_disarm(struct record_point *p)
{
	if (p->link >= 0) {
		forget_link(p->owner, p->link);
		record_detach_deferred(p->link);
	}
	if (p->event >= 0)
		record_detach_deferred(p->event);
	p->link = p->event = -1;
}

/*
 * Return whether another of ITEMS, which are sorted by address, lies in the bytes that a jump at item I would replace. If so, the
 * optimizer writes no jump.
 */
static bool is_in_the_way(const struct record_point *items, uint32_t n, uint32_t i)
{
	return i + 1 < n && items[i + 1].addr - items[i].addr < items[i].optimizes;
}

/* Update the kind of points that have become jumps. Return the number of points that may still become jumps. */
static uint32_t look(const struct record_probes *probes, struct record_point *items, uint32_t n)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct record_point *p = &items[i];

		if (!p->optimizes || p->event < 0 || p->kind == ENGINE_RANGE_OPTIMIZED)
			continue;
		if (record_optimizer_look(probes->engine, p->addr) == PROFILE_MECH_KPROBE_OPTIMIZED)
			p->kind = ENGINE_RANGE_OPTIMIZED;
		else
			left += !is_in_the_way(items, n, i);
	}
	return left;
}

/* Wait until all points that can become jumps are jumps, or until the optimizer has made no progress for IDLE_MS. */
static void await_optimizer(const struct record_probes *probes, struct record_point *items,
			    uint32_t n)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
	uint32_t left, before = UINT32_MAX;

	for (int idle = 0; idle < IDLE_MS; idle += STEP_MS) {
		left = look(probes, items, n);
		if (!left)
			break;
		if (left < before)
			idle = 0;
		before = left;
		nanosleep(&step, NULL);
	}
}

uint32_t record_points_settle(const struct record_probes *probes, struct record_point *items,
			      uint32_t n)
{
	uint32_t missing = 0;
	bool off = record_optimizer_is_off();

	if (!off)
		await_optimizer(probes, items, n);
	for (uint32_t i = 0; i < n; i++) {
		struct record_point *p = &items[i];

		p->prepared |= p->optimizes;
		/*
		 * If the optimizer is turned off, the kernel still prepares a jump for a probe where possible. The cost of such a
		 * probe differs from that of a plain breakpoint. So calibration measures such probes in place of jumps.
		 */
		if (off && p->event >= 0 && p->prepared)
			p->kind = ENGINE_RANGE_OPTIMIZED;
		/*
		 * If another probe lies in the bytes of the jump, the optimizer prepares the probe, but does not write the jump.
		 * The kernel takes one more step to reach such a probe than at a plain breakpoint.
		 */
		if (p->kind == ENGINE_RANGE_STEPPED && p->prepared)
			p->kind = ENGINE_RANGE_PREPARED;
		missing += p->event >= 0 && p->optimizes && p->kind != ENGINE_RANGE_OPTIMIZED;
	}
	return missing;
}

static uint32_t action_bits(const struct record_action *a)
{
	return ENGINE_KEY(a->site, 0) | a->flags | (uint32_t)a->op << ENGINE_RANGE_OP;
}

static int list_fill(const struct record_probes *probes, const struct record_point *p)
{
	struct engine_range_list list = { .n = p->n_actions };

	for (uint32_t i = 0; i < p->n_actions; i++)
		list.actions[i] = action_bits(&p->actions[i]);
	if (bpf_map__update_elem(probes->skel->maps.range_lists, &p->list, sizeof(p->list), &list,
				 sizeof(list), BPF_ANY))
		return -errno;
	return 0;
}

static const struct bpf_program *program(const struct kprotperf_bpf *skel,
					 const struct record_point *p)
{
	if (p->counts)
		return skel->progs.block_count;
	if (p->n_actions > 1)
		return skel->progs.range_list;
	switch (p->actions[0].op) {
	case ENGINE_RANGE_ENTER:
		return skel->progs.range_enter;
	case ENGINE_RANGE_LEAVE:
		return skel->progs.range_leave;
	case ENGINE_RANGE_COUNT:
		break;
	}
	return skel->progs.range_count;
}

uint64_t record_point_cookie(const struct record_point *p)
{
	uint64_t what = p->n_actions > 1 ? p->list :
					   ENGINE_KEY(p->actions[0].site, 0) | p->actions[0].flags;

	if (p->counts)
		return p->block;
	return what | (uint64_t)p->kind << ENGINE_RANGE_KIND |
	       (uint64_t)(p->frame & 0xffff) << ENGINE_RANGE_FRAME;
}

int record_point_link(struct record_probes *probes, struct record_point *p)
{
	int err = p->n_actions > 1 ? list_fill(probes, p) : 0;

	if (err)
		return err;
	p->link = record_kprobe_link(bpf_program__fd(program(probes->skel, p)), p->event,
				     record_point_cookie(p));
	if (p->link < 0)
		return p->link;
	p->owner = probes;
	vec_push(probes, point_links, p->link);
	/* The link keeps the event open in the kernel. */
	close(p->event);
	p->event = -1;
	return 0;
}

uint64_t record_points_misses(const struct record_probes *probes)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < probes->n_point_links; i++) {
		uint64_t one = record_link_misses(probes->point_links[i]);

		if (one == PROFILE_NOT_COUNTED)
			return one;
		sum += one;
	}
	return sum;
}
