// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/range_plan.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/sorted.h"
#include "kernel/code/flow_function.h"
#include "kernel/image/name.h"

/* Maximum number of addresses to probe instead of one address that cannot be probed. */
#define MAX_SUBSTITUTES 8

/* An action for one inlined function at one address. */
struct step {
	uint64_t addr; /* absolute kernel address */
	uint32_t range; /* index of the inlined function */
	enum engine_range_op op;
	uint32_t flags;
	uint32_t frame;
	uint32_t optimizes;
};

struct planner {
	struct record_ranges *ranges;
	struct record_symbols *symbols;
	const struct record_image *in; /* image of the function that contains the current range */
	uint64_t flow_addr; /* address of the containing function */
	struct kernel_flow *flow; /* flow graph of the containing function */
	int flow_err;
	vec_of(struct step, steps);
};

static bool is_blacklisted(uint64_t addr, void *arg)
{
	const struct planner *pl = arg;

	return record_symbols_is_blacklisted(pl->symbols, pl->in->base + addr);
}

static enum kernel_probe_place place(struct planner *pl, uint64_t addr)
{
	return kernel_flow_place(pl->flow, addr, is_blacklisted, pl);
}

/* Return the flow graph of the function that contains range I. If there is none, mark range I as not timed and return NULL. */
static const struct kernel_flow *flow_of(struct planner *pl, uint32_t i)
{
	const struct record_range *r = &pl->ranges->items[i];
	unsigned int problems;

	if (!pl->flow || pl->in != r->in || pl->flow_addr != r->into_addr) {
		kernel_flow_destroy(pl->flow);
		pl->flow = NULL;
		pl->in = r->in;
		pl->flow_addr = r->into_addr;
		pl->flow_err = kernel_flow_of(r->in->code, r->into_addr, &pl->flow);
	}
	if (pl->flow_err) {
		record_range_give_up(pl->ranges, i, "cannot read the code of '%s': %s", r->into,
				     log_strerror(pl->flow_err));
		return NULL;
	}
	problems = pl->flow->problems;
	if (problems & KERNEL_FLOW_NOT_LIVE) {
		record_range_give_up(pl->ranges, i, KERNEL_FLOW_NOT_LIVE_TEXT);
		return NULL;
	}
	if (problems & (KERNEL_FLOW_BAD_CODE | KERNEL_FLOW_MISALIGNED | KERNEL_FLOW_CUT)) {
		record_range_give_up(pl->ranges, i, "the code of '%s' cannot be decoded", r->into);
		return NULL;
	}
	return pl->flow;
}

/* Return whether R's function has the address that the module's file says. The kernel may load functions in another order. */
static bool is_in_place(const struct planner *pl, const struct record_range *r)
{
	const struct kernel_sym *const *named;
	size_t n;

	named = kernel_kallsyms_named(pl->symbols->ks, r->symbol, &n);
	while (n--)
		if (named[n]->addr == r->in->base + r->into_addr)
			return true;
	return !r->in->module;
}

static bool is_probed_at_all(struct planner *pl, uint32_t i)
{
	const struct record_range *r = &pl->ranges->items[i];
	const struct kernel_sym *sym;
	enum kernel_safety safety;
	const char *reason;

	safety = kernel_name_safety(r->symbol, &reason);
	if (safety == KERNEL_REFUSE) {
		record_range_give_up(pl->ranges, i, "'%s' must not be probed: %s", r->into, reason);
		return false;
	}
	if (safety == KERNEL_SKIP_IN_GLOB && !r->named) {
		record_range_give_up(pl->ranges, i,
				     "'%s' is skipped unless named explicitly (INLINED@%s): %s",
				     r->into, r->into, reason);
		return false;
	}
	if (!is_in_place(pl, r)) {
		record_range_give_up(pl->ranges, i,
				     "the kernel's code of '%s' differs from that in %s", r->into,
				     kernel_image_path(r->in->image));
		return false;
	}
	sym = kernel_kallsyms_covering(pl->symbols->ks, r->in->base + r->into_addr, NULL);
	reason = sym ? record_symbols_why_patched(pl->symbols, sym) : NULL;
	if (reason) {
		record_range_give_up(pl->ranges, i, "%s", reason);
		return false;
	}
	/* A kernel without CONFIG_KPROBE_EVENTS_ON_NOTRACE refuses probes in functions without ftrace location. */
	if (sym && record_symbols_is_notrace(pl->symbols, sym)) {
		record_range_give_up(
			pl->ranges, i,
			"'%s' has no ftrace location, and this kernel refuses probes on such "
			"functions",
			r->into);
		return false;
	}
	return true;
}

static bool is_inside(const struct kernel_body *body, uint64_t addr)
{
	for (size_t i = 0; i < body->n_ranges; i++)
		if (addr >= body->ranges[i].start && addr < body->ranges[i].end)
			return true;
	return false;
}

/* Return the first address behind the ftrace location and the endbr of the function at ADDR. */
static uint64_t behind_entry(const struct planner *pl, uint64_t addr)
{
	const struct kernel_insn *insn;

	while ((insn = kernel_flow_insn_at(pl->flow, addr)) != NULL &&
	       (insn->flags & KERNEL_INSN_FTRACE || insn->kind == KERNEL_INSN_NOP))
		addr += insn->len;
	return addr;
}

/* Add a step for range I. If its stack frame is unknown, mark range I as not timed and return false. */
static bool add_step(struct planner *pl, uint32_t i, uint64_t addr, enum engine_range_op op,
		     uint32_t flags)
{
	const struct record_image *in = pl->ranges->items[i].in;
	struct step step = { .addr = in->base + addr, .range = i, .op = op, .flags = flags };
	struct kernel_frame_base base;
	int err = kernel_image_frame_base(in->image, addr, &base);

	if (err || base.offset < 0 || base.offset % 8 || base.offset / 8 >= ENGINE_RANGE_FRAME_FP) {
		record_range_give_up(pl->ranges, i,
				     "its function's stack frame at +0x%lx is unknown",
				     (unsigned long)(addr - pl->ranges->items[i].into_addr));
		return false;
	}
	step.frame = base.offset / 8 | (base.from_fp ? ENGINE_RANGE_FRAME_FP : 0);
	step.optimizes = kernel_flow_optimizes(pl->flow, addr);
	vec_push(pl, steps, step);
	return true;
}

/* Add a step at ADDR. If no probe can be placed there, add steps at other addresses that are passed instead. */
static bool add_steps(struct planner *pl, uint32_t i, const struct kernel_body *body, uint64_t addr,
		      enum engine_range_op op, uint32_t flags, bool inside)
{
	enum kernel_probe_place at = place(pl, addr);
	uint64_t instead[MAX_SUBSTITUTES];
	size_t n = 0;

	if (at == KERNEL_PLACE_OK)
		return add_step(pl, i, addr, op, flags);
	n = kernel_flow_substitutes(pl->flow, addr, body->ranges, body->n_ranges, inside,
				    is_blacklisted, pl, instead, MAX_SUBSTITUTES);
	if (!n) {
		record_range_give_up(pl->ranges, i, "+0x%lx cannot be probed: %s",
				     (unsigned long)(addr - pl->ranges->items[i].into_addr),
				     kernel_place_text(at));
		return false;
	}
	/* Control may reach these addresses also without passing ADDR. */
	flags &= ~ENGINE_RANGE_STRICT;
	for (size_t k = 0; k < n; k++)
		if (!add_step(pl, i, instead[k], op, flags))
			return false;
	return true;
}

static bool add_return(struct planner *pl, uint32_t i, const struct kernel_site_edge *e)
{
	enum kernel_probe_place at = place(pl, e->addr);

	if (!(e->roles & KERNEL_SITE_CONDITIONAL) && at == KERNEL_PLACE_OK)
		return add_step(pl, i, e->addr, ENGINE_RANGE_LEAVE, 0);
	record_range_give_up(
		pl->ranges, i, "it leaves the function at +0x%lx, which cannot be probed: %s",
		(unsigned long)(e->addr - pl->ranges->items[i].into_addr),
		at == KERNEL_PLACE_OK ? "it is a conditional jump" : kernel_place_text(at));
	return false;
}

static bool add_enter(struct planner *pl, uint32_t i, const struct kernel_body *body,
		      const struct kernel_site_edge *e, bool *counted)
{
	uint64_t addr = e->roles & KERNEL_SITE_FUNCTION ? behind_entry(pl, e->addr) : e->addr;
	uint32_t flags = 0;

	if (!is_inside(body, addr))
		return true; /* the entry code of the function is not part of the inlined call */
	if (e->addr == body->entry) {
		flags |= ENGINE_RANGE_CALL;
		*counted = true;
	}
	if (!e->from_inside && addr == e->addr && !(e->roles & KERNEL_SITE_CANDIDATE))
		flags |= ENGINE_RANGE_STRICT;
	return add_steps(pl, i, body, addr, ENGINE_RANGE_ENTER, flags, true);
}

static bool add_edge(struct planner *pl, uint32_t i, const struct kernel_body *body,
		     const struct kernel_site_edge *e, bool *counted)
{
	uint32_t flags = 0;

	if (e->roles & KERNEL_SITE_RETURNS)
		return add_return(pl, i, e);
	if (e->roles & KERNEL_SITE_ENTERS)
		return add_enter(pl, i, body, e, counted);
	if (!(e->roles & KERNEL_SITE_LEAVES))
		return true;
	if (!e->from_outside && !(e->roles & KERNEL_SITE_CANDIDATE))
		flags |= ENGINE_RANGE_STRICT;
	return add_steps(pl, i, body, e->addr, ENGINE_RANGE_LEAVE, flags, false);
}

/* Add a probe that counts calls at the inlined function's entry, because no probe that sees control enter is there. */
static bool add_count(struct planner *pl, uint32_t i, const struct kernel_body *body)
{
	const struct kernel_insn *insn = kernel_flow_insn_at(pl->flow, body->entry);

	if (insn && insn->flags & KERNEL_INSN_REACHED && is_inside(body, body->entry))
		return add_steps(pl, i, body, body->entry, ENGINE_RANGE_COUNT, 0, true);
	/* Control never reaches the entry that DWARF gives. So count a call whenever control enters the inlined function. */
	for (uint32_t k = 0; k < pl->n_steps; k++)
		if (pl->steps[k].range == i && pl->steps[k].op == ENGINE_RANGE_ENTER)
			pl->steps[k].flags |= ENGINE_RANGE_CALL;
	return true;
}

/* Plan the steps for range I. If that fails, mark range I as not timed. */
static void plan_range(struct planner *pl, uint32_t i)
{
	struct kernel_site_edges edges = {};
	uint32_t before = pl->n_steps, entered = 0;
	struct kernel_body body;
	bool counted = false, ok = true;

	if (pl->ranges->items[i].why_not || !is_probed_at_all(pl, i) || !flow_of(pl, i) ||
	    kernel_index_body(pl->ranges->items[i].in->index, pl->ranges->items[i].body, &body))
		return;
	kernel_flow_edges_of(pl->flow, body.ranges, body.n_ranges, is_blacklisted, pl, &edges);
	for (uint32_t k = 0; k < edges.n_edges && ok; k++) {
		ok = add_edge(pl, i, &body, &edges.edges[k], &counted);
		entered += (edges.edges[k].roles & KERNEL_SITE_ENTERS) != 0;
	}
	if (ok && !entered) {
		record_range_give_up(pl->ranges, i,
				     "no edge leads into it: its code is never reached");
		ok = false;
	}
	if (ok && !counted)
		ok = add_count(pl, i, &body);
	if (ok && pl->n_steps - before > RECORD_RANGE_MAX_POINTS) {
		record_range_give_up(pl->ranges, i, "it needs %u probes, more than %u",
				     pl->n_steps - before, RECORD_RANGE_MAX_POINTS);
		ok = false;
	}
	if (!ok)
		pl->n_steps = before;
	kernel_site_edges_clear(&edges);
}

static const struct record_range *sort_ranges; /* array of ranges that by_order() needs */

/*
 * Order steps by address. At the same address, the order is: leave inlined functions, inner ones first; enter inlined functions,
 * outer ones first; count calls. Of two inlined functions of the same size, the lower number is the outer one.
 */
static int by_order(const void *a, const void *b)
{
	static const int rank[] = {
		[ENGINE_RANGE_LEAVE] = 0, [ENGINE_RANGE_ENTER] = 1, [ENGINE_RANGE_COUNT] = 2
	};
	const struct step *x = a, *y = b;
	const struct record_range *rx = &sort_ranges[x->range], *ry = &sort_ranges[y->range];
	int order = compare_values(x->addr, y->addr) ?: compare_values(rank[x->op], rank[y->op]),
	    inner;

	if (order)
		return order;
	inner = compare_values(rx->size, ry->size) ?: -compare_values(rx->body, ry->body);
	return x->op == ENGINE_RANGE_LEAVE ? inner : -inner;
}

static void add_to_point(struct planner *pl, struct record_point *p, const struct step *step)
{
	struct record_range *r = &pl->ranges->items[step->range];

	for (uint32_t k = 0; k < p->n_actions; k++)
		if (p->actions[k].site == pl->ranges->first_site + step->range) {
			p->actions[k].flags |= step->flags & ENGINE_RANGE_CALL;
			p->actions[k].flags &= step->flags | ~ENGINE_RANGE_STRICT;
			return;
		}
	if (p->n_actions == ENGINE_RANGE_ACTIONS) {
		record_range_give_up(pl->ranges, step->range,
				     "more than %u bodies begin or end at +0x%lx",
				     ENGINE_RANGE_ACTIONS,
				     (unsigned long)(step->addr - r->in->base - r->into_addr));
		return;
	}
	p->actions[p->n_actions++] = (struct record_action){
		.site = pl->ranges->first_site + step->range,
		.op = step->op,
		.flags = step->flags,
	};
}

static void make_points(struct planner *pl)
{
	struct record_ranges *ranges = pl->ranges;

	sort_ranges = ranges->items;
	sort_array(pl->steps, pl->n_steps, sizeof(*pl->steps), by_order);
	vec_each(const struct step, step, pl, steps) {
		struct record_point p = { .addr = step->addr,
					  .frame = step->frame,
					  .optimizes = step->optimizes,
					  .event = -1,
					  .link = -1 };

		if (!ranges->n_points || ranges->points[ranges->n_points - 1].addr != p.addr)
			vec_push(ranges, points, p);
		add_to_point(pl, &ranges->points[ranges->n_points - 1], step);
	}
	record_ranges_prune(ranges, NULL);
	for (uint32_t k = 0; k < ranges->n_points; k++)
		if (ranges->points[k].n_actions > 1)
			ranges->points[k].list = ranges->n_lists++;
}

define_compare(by_function, struct record_range,
	       compare_values(a->in->base, b->in->base)           ?:
		       compare_values(a->into_addr, b->into_addr) ?:
								    compare_values(a->body, b->body));

/* Note how many probes range I needs if no other range shares them. Steps from FIRST_STEP on are those of range I. */
static void note_probes(struct planner *pl, uint32_t i, uint32_t first_step)
{
	struct record_range *r = &pl->ranges->items[i];

	r->n_probes = pl->n_steps - first_step;
	r->n_breakpoints = 0;
	for (uint32_t k = first_step; k < pl->n_steps; k++)
		r->n_breakpoints += !pl->steps[k].optimizes;
}

static void plan_all(struct planner *pl)
{
	struct record_ranges *ranges = pl->ranges;

	/* Sort the inlined functions by containing function, so that each flow graph is made only once. */
	sort_array(ranges->items, ranges->n_items, sizeof(*ranges->items), by_function);
	for (uint32_t i = 0; i < ranges->n_items; i++) {
		struct record_image *in = ranges->items[i].in;
		int err = record_image_code(pl->symbols, in);
		uint32_t first_step = pl->n_steps;

		if (err)
			record_range_give_up(ranges, i, "cannot read the kernel's code: %s",
					     err != -ENODATA ? log_strerror(err) :
					     in->why_not     ?:
							       "there is no vmlinux");
		else
			plan_range(pl, i);
		note_probes(pl, i, first_step);
	}
}

static void plan(struct record_ranges *ranges, struct record_symbols *symbols, bool points)
{
	struct planner pl = { .ranges = ranges, .symbols = symbols };

	plan_all(&pl);
	if (points)
		make_points(&pl);
	kernel_flow_destroy(pl.flow);
	free(pl.steps);
}

void record_ranges_plan(struct record_ranges *ranges, struct record_symbols *symbols)
{
	plan(ranges, symbols, true);
}

void record_ranges_survey(struct record_ranges *ranges, struct record_symbols *symbols)
{
	plan(ranges, symbols, false);
}

const struct record_range *record_ranges_find(const struct record_ranges *ranges,
					      struct record_image *in,
					      const struct kernel_body *body)
{
	struct record_range key = { .in = in, .into_addr = body->function.addr, .body = body->id };

	return search_array(&key, ranges->items, ranges->n_items, sizeof(key), by_function);
}
