// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the addresses at which execution enters and leaves ranges of a function, and whether a kprobe can be placed there. */
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/code/flow_impl.h"

#define MAX_SLIDES 32 /* maximum number of instructions that kernel_flow_substitutes() examines */

struct ranges {
	const struct kernel_range *items;
	size_t n;
};

struct finder {
	const struct kernel_flow *flow;
	struct ranges ranges;
	struct kernel_site_edges *out;
};

/* Called for each step that execution can take, from the instruction FROM to the address TO. EDGE is NULL within a block. */
typedef void (*step_fn)(struct finder *f, const struct kernel_insn *from,
			const struct kernel_edge *edge, uint64_t to);

static bool within(const struct ranges *r, uint64_t addr)
{
	for (size_t i = 0; i < r->n; i++)
		if (addr >= r->items[i].start && addr < r->items[i].end)
			return true;
	return false;
}

static struct kernel_site_edge *find_site(const struct finder *f, uint64_t addr)
{
	for (uint32_t i = 0; i < f->out->n_edges; i++)
		if (f->out->edges[i].addr == addr)
			return &f->out->edges[i];
	return NULL;
}

/* Add ROLES to the roles of ADDR. ADDR keeps KERNEL_SITE_CANDIDATE only if ROLES has this flag in each call for ADDR. */
static void note(struct finder *f, uint64_t addr, unsigned int roles)
{
	struct kernel_site_edge *site = find_site(f, addr);
	struct kernel_site_edge new = { .addr = addr, .roles = roles };

	if (!site) {
		vec_push(f->out, edges, new);
		return;
	}
	if (!(roles & KERNEL_SITE_CANDIDATE))
		site->roles &= ~(unsigned int)KERNEL_SITE_CANDIDATE;
	else if (!(site->roles & KERNEL_SITE_CANDIDATE))
		roles &= ~(unsigned int)KERNEL_SITE_CANDIDATE;
	/* ADDR keeps KERNEL_SITE_FAULT only if each step out of the ranges to ADDR is a fault. */
	if (site->roles & KERNEL_SITE_LEAVES && !(roles & KERNEL_SITE_FAULT))
		site->roles &= ~(unsigned int)KERNEL_SITE_FAULT;
	else if (site->roles & KERNEL_SITE_LEAVES && !(site->roles & KERNEL_SITE_FAULT))
		roles &= ~(unsigned int)KERNEL_SITE_FAULT;
	site->roles |= roles;
}

/* Call STEP for each step that execution can take from one instruction to another. */
static void each_step(struct finder *f, step_fn step)
{
	const struct kernel_flow *flow = f->flow;

	vec_each(const struct kernel_block, bl, flow, blocks) {
		uint32_t last = bl->first_insn + bl->n_insns - 1;

		if (!bl->reached)
			continue;
		for (uint32_t i = bl->first_insn; i < last; i++)
			step(f, &flow->insns[i], NULL, flow->insns[i + 1].addr);
		for (uint32_t e = bl->first_edge; e < bl->first_edge + bl->n_edges; e++)
			step(f, &flow->insns[last], &flow->edges[e], flow->edges[e].target);
	}
}

/* Add all possible targets of an unresolved jump: blocks outside of the ranges if the jump is inside, else blocks inside. */
static void note_candidates(struct finder *f, bool from_inside)
{
	vec_each(const struct kernel_block, bl, f->flow, blocks) {
		bool inside = within(&f->ranges, bl->start);

		if (bl->reached && inside != from_inside)
			note(f, bl->start,
			     KERNEL_SITE_CANDIDATE |
				     (inside ? KERNEL_SITE_ENTERS : KERNEL_SITE_LEAVES));
	}
}

static void note_exit(struct finder *f, const struct kernel_insn *from,
		      const struct kernel_edge *edge)
{
	/* By the fixup of a fault, execution leaves the function for a known address, in the code of another function. */
	bool named = edge->kind == KERNEL_EDGE_FIXUP;
	bool conditional = from->kind == KERNEL_INSN_COND || from->kind == KERNEL_INSN_LABEL;

	if (named)
		note(f, edge->target, KERNEL_SITE_LEAVES | KERNEL_SITE_FAULT);
	else if (edge->kind == KERNEL_EDGE_UNRESOLVED)
		note(f, from->addr, KERNEL_SITE_RETURNS | KERNEL_SITE_CONDITIONAL);
	else if (edge->kind == KERNEL_EDGE_TAIL && flow_insn_falls(from) && !conditional)
		note(f, edge->target, KERNEL_SITE_LEAVES); /* falls through into other code */
	else
		note(f, from->addr,
		     KERNEL_SITE_RETURNS | (conditional ? KERNEL_SITE_CONDITIONAL : 0));
}

static void note_step(struct finder *f, const struct kernel_insn *from,
		      const struct kernel_edge *edge, uint64_t to)
{
	bool inside = within(&f->ranges, from->addr);

	if (edge && edge->kind == KERNEL_EDGE_UNRESOLVED)
		note_candidates(f, inside);
	if (edge && edge->to == KERNEL_FLOW_OUT) {
		if (inside && edge->kind != KERNEL_EDGE_STOP)
			note_exit(f, from, edge);
		return;
	}
	if (!inside && within(&f->ranges, to))
		note(f, to, KERNEL_SITE_ENTERS);
	else if (inside && !within(&f->ranges, to))
		note(f, to,
		     KERNEL_SITE_LEAVES |
			     (edge && edge->kind == KERNEL_EDGE_FIXUP ? KERNEL_SITE_FAULT : 0));
}

static void note_origin(struct finder *f, const struct kernel_insn *from,
			const struct kernel_edge *edge, uint64_t to)
{
	bool inside = within(&f->ranges, from->addr);
	struct kernel_site_edge *site;

	for (uint32_t i = 0; edge && edge->kind == KERNEL_EDGE_UNRESOLVED && i < f->out->n_edges;
	     i++) {
		struct kernel_site_edge *any = &f->out->edges[i];
		const struct kernel_insn *insn = kernel_flow_insn_at(f->flow, any->addr);

		if (insn && insn->flags & KERNEL_INSN_LEADER) {
			any->from_inside |= inside;
			any->from_outside |= !inside;
		}
	}
	if (edge && edge->to == KERNEL_FLOW_OUT)
		return;
	site = find_site(f, to);
	if (!site)
		return;
	site->from_inside |= inside;
	site->from_outside |= !inside;
}

void kernel_flow_edges_of(const struct kernel_flow *flow, const struct kernel_range *ranges,
			  size_t n, kernel_blacklisted_fn blacklisted, void *arg,
			  struct kernel_site_edges *out)
{
	struct finder f = { flow, { ranges, n }, out };

	memset(out, 0, sizeof(*out));
	if (within(&f.ranges, flow->entry) && flow_find(flow, flow->entry) != FLOW_NONE)
		note(&f, flow->entry, KERNEL_SITE_ENTERS | KERNEL_SITE_FUNCTION);
	each_step(&f, note_step);
	each_step(&f, note_origin);
	vec_each(struct kernel_site_edge, e, out, edges) {
		if (e->roles & KERNEL_SITE_FUNCTION)
			e->from_outside = true;
		e->place = kernel_flow_place(flow, e->addr, blacklisted, arg);
		e->optimizes = e->place == KERNEL_PLACE_OK && kernel_flow_optimizes(flow, e->addr);
	}
	sort_array(out->edges, out->n_edges, sizeof(*out->edges), compare_u64);
}

void kernel_site_edges_clear(struct kernel_site_edges *edges)
{
	free(edges->edges);
	memset(edges, 0, sizeof(*edges));
}

/*
 * Return whether the kernel can decode the code up to ADDR from the start of PART, for which kallsyms has one symbol. The kernel
 * refuses a kprobe after an instruction that it cannot decode.
 */
static bool decodes_up_to(const struct kernel_flow *flow, const struct kernel_range *part,
			  uint64_t addr)
{
	if (!(flow->problems & KERNEL_FLOW_BAD_CODE))
		return true;
	for (uint32_t i = flow_find(flow, part->start);
	     i < flow->n_insns && flow->insns[i].addr <= addr; i++)
		if (flow->insns[i].kind == KERNEL_INSN_BAD)
			return false;
	return true;
}

static enum kernel_probe_place place_of_insn(const struct kernel_insn *insn, bool boundary)
{
	if (insn->kind == KERNEL_INSN_LABEL)
		return KERNEL_PLACE_JUMP_LABEL;
	if (insn->flags & KERNEL_INSN_STATIC_CALL)
		return KERNEL_PLACE_STATIC_CALL;
	if (insn->flags & KERNEL_INSN_FTRACE && !boundary)
		return KERNEL_PLACE_FTRACE;
	if (!boundary)
		return KERNEL_PLACE_NO_BOUNDARY;
	if (insn->flags & KERNEL_INSN_BUG)
		return KERNEL_PLACE_BUG;
	if (insn->flags & KERNEL_INSN_HARMFUL)
		return KERNEL_PLACE_HARMFUL;
	return insn->flags & KERNEL_INSN_NO_KPROBE ? KERNEL_PLACE_INSN : KERNEL_PLACE_OK;
}

enum kernel_probe_place kernel_flow_place(const struct kernel_flow *flow, uint64_t addr,
					  kernel_blacklisted_fn blacklisted, void *arg)
{
	const struct kernel_range *part = flow_part_of(flow, addr);
	const struct kernel_insn *insn;
	enum kernel_probe_place place;

	if (!part)
		return KERNEL_PLACE_OUTSIDE;
	if (!decodes_up_to(flow, part, addr))
		return KERNEL_PLACE_NO_BOUNDARY;
	insn = &flow->insns[flow_find_covering(flow, addr)];
	place = place_of_insn(insn, insn->addr == addr);
	if (place == KERNEL_PLACE_OK && blacklisted && blacklisted(addr, arg))
		return KERNEL_PLACE_BLACKLISTED;
	return place;
}

const char *kernel_place_text(enum kernel_probe_place place)
{
	static const char *const texts[] = {
		[KERNEL_PLACE_OK] = "it can be probed",
		[KERNEL_PLACE_OUTSIDE] = "it is outside the function",
		[KERNEL_PLACE_NO_BOUNDARY] = "no instruction starts there",
		[KERNEL_PLACE_JUMP_LABEL] = "it is a jump label",
		[KERNEL_PLACE_STATIC_CALL] = "it is a static call",
		[KERNEL_PLACE_FTRACE] = "it is inside the ftrace location",
		[KERNEL_PLACE_BUG] = "it is the trap of a BUG or WARN",
		[KERNEL_PLACE_INSN] = "kprobes do not support this instruction",
		[KERNEL_PLACE_HARMFUL] = "the kernel would crash when emulating the instruction",
		[KERNEL_PLACE_BLACKLISTED] = "it is on the kernel's kprobe blacklist",
	};

	return texts[place];
}

/* Return whether an instruction in PART, for which kallsyms has one symbol, keeps the kernel from optimizing a probe at ADDR. */
static bool part_forbids(const struct kernel_flow *flow, const struct kernel_range *part,
			 uint64_t addr)
{
	for (uint32_t i = flow_find(flow, part->start);
	     i < flow->n_insns && flow->insns[i].addr < part->end; i++) {
		const struct kernel_insn *insn = &flow->insns[i];

		if (insn->flags & KERNEL_INSN_FAULTS || insn->kind == KERNEL_INSN_JUMP_INDIRECT ||
		    insn->kind == KERNEL_INSN_BAD)
			return true;
		/*
		 * To the kernel's optimizer, a jump to the return thunk looks like an indirect jump, because of the thunk's
		 * address. The file is full of such jumps, but most kernels replace them when they boot.
		 */
		if (insn->kind == KERNEL_INSN_RET && insn->target &&
		    !(insn->flags & KERNEL_INSN_FROM_FILE) &&
		    !(flow->problems & KERNEL_FLOW_NOT_LIVE))
			return true;
		if (insn->kind != KERNEL_INSN_CALL && insn->target > addr &&
		    insn->target <= addr + ARCH_JUMP_LEN)
			return true;
	}
	return false;
}

uint32_t kernel_flow_optimizes(const struct kernel_flow *flow, uint64_t addr)
{
	const struct kernel_range *part = flow_part_of(flow, addr);
	uint32_t i = flow_find(flow, addr);
	uint32_t len = 0;

	if (!part || i == FLOW_NONE)
		return 0;
	if (flow->insns[i].flags & KERNEL_INSN_FTRACE)
		return ARCH_JUMP_LEN;
	if (part->end - addr < ARCH_JUMP_LEN || part_forbids(flow, part, addr))
		return 0;
	for (; len < ARCH_JUMP_LEN; i++) {
		const struct kernel_insn *insn = &flow->insns[i];

		if (i >= flow->n_insns || insn->kind == KERNEL_INSN_LABEL ||
		    insn->flags & (KERNEL_INSN_NO_OPTIMIZE | KERNEL_INSN_STATIC_CALL |
				   KERNEL_INSN_FTRACE))
			return 0;
		len += insn->len;
	}
	return len;
}

struct slide {
	const struct kernel_flow *flow;
	struct ranges ranges;
	bool inside;
	uint64_t seen[MAX_SLIDES];
	size_t n_seen, next;
	bool failed;
};

/* Add ADDR to the addresses to examine. FAILED: they are too many, or ADDR is on the wrong side or inside an instruction. */
static void slide_to(struct slide *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n_seen; i++)
		if (s->seen[i] == addr)
			return;
	if (s->n_seen == MAX_SLIDES || within(&s->ranges, addr) != s->inside ||
	    flow_find(s->flow, addr) == FLOW_NONE)
		s->failed = true;
	else
		s->seen[s->n_seen++] = addr;
}

static void slide_over(struct slide *s, uint64_t addr)
{
	uint32_t i = flow_find(s->flow, addr);
	const struct kernel_block *bl = &s->flow->blocks[s->flow->insns[i].block];

	if (i + 1 < bl->first_insn + bl->n_insns) {
		slide_to(s, s->flow->insns[i + 1].addr);
		return;
	}
	for (uint32_t e = bl->first_edge; e < bl->first_edge + bl->n_edges; e++) {
		const struct kernel_edge *edge = &s->flow->edges[e];

		if (edge->to != KERNEL_FLOW_OUT)
			slide_to(s, edge->target);
		else if (edge->kind != KERNEL_EDGE_STOP)
			s->failed = true;
	}
}

size_t kernel_flow_substitutes(const struct kernel_flow *flow, uint64_t addr,
			       const struct kernel_range *ranges, size_t n, bool inside,
			       kernel_blacklisted_fn blacklisted, void *arg, uint64_t *out,
			       size_t max)
{
	struct slide s = { flow, { ranges, n }, inside };
	size_t found = 0;

	slide_to(&s, addr);
	for (; s.next < s.n_seen && !s.failed; s.next++) {
		uint64_t at = s.seen[s.next];

		if (kernel_flow_place(flow, at, blacklisted, arg) != KERNEL_PLACE_OK)
			slide_over(&s, at);
		else if (found == max)
			return 0;
		else
			out[found++] = at;
	}
	return s.failed ? 0 : found;
}
