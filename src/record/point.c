// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/point.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kprotperf.skel.h"
#include "record/closer.h"
#include "record/detour.h"
#include "record/kprobe.h"
#include "record/kprobe_table.h"
#include "record/misses.h"
#include "symbol/decode.h"
#include "symbol/kcore.h"

/*
 * The optimizer takes some hundred at once and then waits for all tasks to pass a quiet state. If it finds one
 * running it looks again only later: that one should not be this, from looking all the time.
 */
#define IDLE_MS 1000 /* without progress; that is how long it waits at most */
#define STEP_MS 10 /* between two looks */

#define OP_INT3 0xcc

struct record_points {
	struct kprotperf_bpf *skel;
	int reader;
	struct symbol_kcore *kcore; /* NULL: not to be had, and the kernel's table stays unknown */
	struct decoder *decoder;
	struct record_kprobe_table table;
	int *links; /* of points that have them */
	uint32_t n_links, cap_links;
};

struct record_points *record_points_create(struct kprotperf_bpf *skel)
{
	struct record_points *points = alloc_new(struct record_points);

	points->skel = skel;
	points->reader = -1;
	return points;
}

int record_points_use_table(struct record_points *points, const struct btf *btf, const char *kcore,
			    const char *kallsyms)
{
	int err = 0;

	if (points->table.lists)
		return 0;
	if (!points->kcore)
		err = symbol_kcore_open(kcore, &points->kcore);
	if (!points->decoder)
		points->decoder = decoder_create();
	if (!err && !points->decoder)
		err = -ENOTSUP;
	return err ?: record_kprobe_table_open(&points->table, points->kcore, btf, kallsyms);
}

void record_points_destroy(struct record_points *points)
{
	if (!points)
		return;
	if (points->reader >= 0)
		close(points->reader);
	record_kprobe_table_clear(&points->table);
	symbol_kcore_destroy(points->kcore);
	decoder_destroy(points->decoder);
	free(points->links);
	free(points);
}

/*
 * Instead of executing it elsewhere the kernel does itself what calls, jumps, returns, and what turns interrupts
 * on and off would do.
 */
enum engine_range_kind record_point_breakpoint(uint32_t text)
{
	uint8_t op, next;

	for (int i = 0; i < 3; i++, text >>= 8) {
		op = text;
		/* Prefixes: operand size, segments, repeat, REX. */
		if (op != 0x66 && op != 0x2e && op != 0x3e && op != 0xf2 && op != 0xf3 &&
		    (op & 0xf0) != 0x40)
			break;
	}
	op = text;
	next = text >> 8;
	switch (op) {
	case 0xe8:
		return ENGINE_RANGE_CALL_EMULATED;
	case 0xe9: /* jump */
	case 0xeb:
	case 0xc2: /* return */
	case 0xc3:
		return ENGINE_RANGE_JUMP_EMULATED;
	case 0xfa: /* interrupts off, on: it happens to take as many instructions as a call */
	case 0xfb:
		return ENGINE_RANGE_CALL_EMULATED;
	case 0x9c: /* the flags: as many as a conditional jump, about */
	case 0x9d:
		return ENGINE_RANGE_EMULATED;
	case 0xff:
		if ((next & 0x38) == 0x10) /* call */
			return ENGINE_RANGE_CALL_EMULATED;
		return (next & 0x38) == 0x20 ? ENGINE_RANGE_JUMP_EMULATED : ENGINE_RANGE_STEPPED;
	case 0x0f: /* conditional jump */
		return (next & 0xf0) == 0x80 ? ENGINE_RANGE_EMULATED : ENGINE_RANGE_STEPPED;
	default:
		return (op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0 ? ENGINE_RANGE_EMULATED :
								    ENGINE_RANGE_STEPPED;
	}
}

int record_point_arm(struct record_points *points, struct record_point *p)
{
	p->link = -1;
	p->event = -1;
	if (points->reader < 0)
		points->reader = record_detour_open();
	if (points->reader < 0)
		return points->reader;
	p->kind = record_point_breakpoint(record_detour_text(points->reader, p->addr));
	p->event = record_kprobe_open(p->addr, false);
	return p->event < 0 ? p->event : 0;
}

static void forget_link(struct record_points *points, int link)
{
	for (uint32_t i = 0; i < points->n_links; i++)
		if (points->links[i] == link) {
			points->links[i] = points->links[--points->n_links];
			return;
		}
}

void record_point_disarm(struct record_point *p)
{
	if (p->link >= 0) {
		forget_link(p->owner, p->link);
		record_closer_add(p->link);
	}
	if (p->event >= 0)
		record_closer_add(p->event);
	p->link = p->event = -1;
}

static bool is_optimized(const struct record_points *points, const struct record_point *p)
{
	return record_detour_look_with(points->reader, p->addr) == PROFILE_MECH_KPROBE_OPTIMIZED;
}

/* Which of ITEMS the optimizer is to take: the kernel says so, else it is foretold. For free(). */
static bool *find_queued(const struct record_points *points, const struct record_point *items,
			 uint32_t n)
{
	uint64_t *addrs = alloc_array(n, sizeof(*addrs));
	bool *queued = alloc_array(n, sizeof(*queued));

	for (uint32_t i = 0; i < n; i++) {
		const struct record_kprobe *k =
			record_kprobe_table_at(&points->table, items[i].addr);

		addrs[i] = items[i].addr;
		queued[i] = k && k->queued;
	}
	if (!points->table.n_items && record_kprobe_queued(addrs, n, queued))
		for (uint32_t i = 0; i < n; i++)
			queued[i] = items[i].optimizes;
	free(addrs);
	return queued;
}

/*
 * With the optimizer turned off. What it would take is prepared for that all the same, and so costs other
 * than breakpoints that it would not; calibration measures it in place of jumps.
 */
static void take_as_optimized(const struct record_points *points, struct record_point *items,
			      uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct record_kprobe *k =
			record_kprobe_table_at(&points->table, items[i].addr);

		if (items[i].event >= 0 && (k ? k->prepared : items[i].optimizes))
			items[i].kind = ENGINE_RANGE_OPTIMIZED;
	}
}

/*
 * Those that the optimizer prepared and then left alone, because another probe is within the five bytes that
 * the jump would take. The kernel reaches such a probe by one step more.
 */
static void find_prepared(const struct record_points *points, struct record_point *items,
			  uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct record_kprobe *k =
			record_kprobe_table_at(&points->table, items[i].addr);

		if (items[i].kind == ENGINE_RANGE_STEPPED && k && k->prepared && !k->queued)
			items[i].kind = ENGINE_RANGE_PREPARED;
	}
}

/* Looks at those QUEUED that are not jumps yet. How many remain so. */
static uint32_t look(const struct record_points *points, struct record_point *items, uint32_t n,
		     const bool *queued)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct record_point *p = &items[i];

		if (!queued[i] || p->event < 0 || p->kind == ENGINE_RANGE_OPTIMIZED)
			continue;
		if (is_optimized(points, p)) {
			p->kind = ENGINE_RANGE_OPTIMIZED;
		} else {
			left++;
		}
	}
	return left;
}

/* Until those that it is to take are jumps, or the optimizer seems to take no more of them. */
static void await_optimizer(const struct record_points *points, struct record_point *items,
			    uint32_t n)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
	bool *queued = find_queued(points, items, n);
	uint32_t left, before = UINT32_MAX;

	for (int idle = 0; idle < IDLE_MS; idle += STEP_MS) {
		left = look(points, items, n, queued);
		if (!left)
			break;
		if (left < before)
			idle = 0;
		before = left;
		nanosleep(&step, NULL);
	}
	free(queued);
}

uint32_t record_points_settle(struct record_points *points, struct record_point *items, uint32_t n)
{
	uint32_t missing = 0;

	record_kprobe_table_read(&points->table);
	if (record_detour_is_off())
		take_as_optimized(points, items, n);
	else
		await_optimizer(points, items, n);
	find_prepared(points, items, n);
	for (uint32_t i = 0; i < n; i++)
		missing += items[i].event >= 0 && items[i].optimizes &&
			   items[i].kind != ENGINE_RANGE_OPTIMIZED;
	return missing;
}

/* How many others are looked at when that for the breakpoint of each is looked for, where no table tells. */
static void foretell_hops(const struct record_point *items, uint32_t n, uint32_t *hops)
{
	uint64_t *addrs = alloc_array(n, sizeof(*addrs));

	for (uint32_t i = 0; i < n; i++)
		addrs[i] = items[i].addr;
	record_kprobe_hops(addrs, n, hops);
	free(addrs);
}

/* A breakpoint, behind which the instruction is executed elsewhere: what is not emulated, nor is a jump there. */
static bool is_stepped(const struct record_point *p)
{
	return p->kind == ENGINE_RANGE_OPTIMIZED || p->kind == ENGINE_RANGE_STEPPED ||
	       p->kind == ENGINE_RANGE_PREPARED;
}

/* The breakpoint behind the kernel's copy of the instruction at ADDR; 0: there is none. */
static uint64_t second_breakpoint(const struct record_points *points, uint64_t addr)
{
	const struct record_kprobe *k = record_kprobe_table_at(&points->table, addr);
	uint8_t text[DECODE_MAX_LEN + 1];
	struct decoded insn;

	if (!k || !k->copy || symbol_kcore_read(points->kcore, k->copy, text, sizeof(text)) ||
	    !decode(points->decoder, text, DECODE_MAX_LEN, k->copy, &insn))
		return 0;
	return text[insn.len] == OP_INT3 ? k->copy + insn.len : 0;
}

/* What the second breakpoint of P costs by where it is. */
static uint32_t find_extra_tail(const struct record_points *points, const struct record_point *p)
{
	uint64_t at = second_breakpoint(points, p->addr);
	uint32_t others = at ? record_kprobe_table_before(&points->table, at) : 0;

	/* An empty list takes one instruction more than the end of another. */
	return others ? others * RECORD_KPROBE_HOP_INSNS - 1 : 0;
}

void record_points_find_extra(struct record_points *points, struct record_point *items, uint32_t n)
{
	bool all_break = record_detour_is_off();
	uint32_t *hops = alloc_array(n, sizeof(*hops)), far = 0;
	int err;

	/* What is being taken away is not to be counted. */
	record_closer_wait();
	err = record_kprobe_table_read(&points->table);
	foretell_hops(items, n, hops);
	for (uint32_t i = 0; i < n; i++) {
		struct record_point *p = &items[i];

		p->extra = p->extra_tail = 0;
		/* The jump leads to what is this probe's own: nothing is looked up. */
		if (p->kind == ENGINE_RANGE_OPTIMIZED && !all_break)
			continue;
		if (!err)
			hops[i] = record_kprobe_table_before(&points->table, p->addr);
		if (!err && is_stepped(p))
			p->extra_tail = find_extra_tail(points, p);
		p->extra = hops[i] * RECORD_KPROBE_HOP_INSNS;
		far += !p->counts && (p->extra > ENGINE_RANGE_EXTRA_MAX ||
				      p->extra_tail > ENGINE_RANGE_EXTRA_MAX);
	}
	free(hops);
	if (far)
		log_warn(
			"%u of %u probes of ranges come behind more than %u others in the kernel's "
			"lists: they cost more than is subtracted; time fewer at once",
			far, n, ENGINE_RANGE_EXTRA_MAX / RECORD_KPROBE_HOP_INSNS);
}

static uint32_t action_bits(const struct record_action *a)
{
	return ENGINE_KEY(a->site, 0) | a->flags | (uint32_t)a->op << ENGINE_RANGE_OP;
}

static int list_enter(const struct record_points *points, const struct record_point *p)
{
	struct engine_range_list list = { .n = p->n_actions };

	for (uint32_t i = 0; i < p->n_actions; i++)
		list.actions[i] = action_bits(&p->actions[i]);
	if (bpf_map__update_elem(points->skel->maps.range_lists, &p->list, sizeof(p->list), &list,
				 sizeof(list), BPF_ANY))
		return -errno;
	return 0;
}

static const struct bpf_program *program(const struct record_points *points,
					 const struct record_point *p)
{
	if (p->counts)
		return points->skel->progs.block_count;
	if (p->n_actions > 1)
		return points->skel->progs.range_several;
	switch (p->actions[0].op) {
	case ENGINE_RANGE_ENTER:
		return points->skel->progs.range_enter;
	case ENGINE_RANGE_LEAVE:
		return points->skel->progs.range_leave;
	case ENGINE_RANGE_COUNT:
		break;
	}
	return points->skel->progs.range_count;
}

static uint32_t extra_bits(uint32_t extra)
{
	return extra < ENGINE_RANGE_EXTRA_MAX ? extra : ENGINE_RANGE_EXTRA_MAX;
}

uint64_t record_point_cookie(const struct record_point *p)
{
	uint64_t what = p->n_actions > 1 ? p->list :
					   ENGINE_KEY(p->actions[0].site, 0) | p->actions[0].flags;

	if (p->counts)
		return p->block;
	return what | (uint64_t)p->kind << ENGINE_RANGE_KIND |
	       (uint64_t)(p->frame & 0xffff) << ENGINE_RANGE_FRAME |
	       (uint64_t)extra_bits(p->extra) << ENGINE_RANGE_EXTRA |
	       (uint64_t)extra_bits(p->extra_tail) << ENGINE_RANGE_TAIL;
}

int record_point_link(struct record_points *points, struct record_point *p)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = record_point_cookie(p));
	int err = p->n_actions > 1 ? list_enter(points, p) : 0;

	if (err)
		return err;
	p->link = bpf_link_create(bpf_program__fd(program(points, p)), p->event, BPF_PERF_EVENT,
				  &opts);
	if (p->link < 0)
		return -errno;
	p->owner = points;
	vec_push(points, links, p->link);
	if (ioctl(p->event, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	/* The link keeps the event. */
	close(p->event);
	p->event = -1;
	return 0;
}

uint64_t record_points_misses(const struct record_points *points)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < points->n_links; i++) {
		uint64_t one = record_link_misses(points->links[i]);

		if (one == PROFILE_NOT_COUNTED)
			return one;
		sum += one;
	}
	return sum;
}
