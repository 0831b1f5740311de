// SPDX-License-Identifier: GPL-2.0-or-later
/* Through which addresses ranges of a function are entered and left, and what a kprobe there meets. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/flow_impl.h"

#define JUMP_LEN   5 /* of an optimized kprobe */
#define MAX_SLIDES 32 /* instructions looked at for a substitute */

struct ranges {
	const struct symbol_range *items;
	size_t n;
};

struct finder {
	const struct symbol_flow *flow;
	struct ranges ranges;
	struct symbol_site_edges *out;
};

/* A step of execution from one instruction to an address, as edges and neighbours give it. */
typedef void (*step_fn)(struct finder *f, const struct symbol_insn *from,
			const struct symbol_edge *edge, uint64_t to);

static bool within(const struct ranges *r, uint64_t addr)
{
	for (size_t i = 0; i < r->n; i++)
		if (addr >= r->items[i].start && addr < r->items[i].end)
			return true;
	return false;
}

static struct symbol_site_edge *find_site(const struct finder *f, uint64_t addr)
{
	for (uint32_t i = 0; i < f->out->n_edges; i++)
		if (f->out->edges[i].addr == addr)
			return &f->out->edges[i];
	return NULL;
}

/* Notes a role; one that is certain stands above candidates. */
static void note(struct finder *f, uint64_t addr, unsigned int roles)
{
	struct symbol_site_edge *site = find_site(f, addr);
	struct symbol_site_edge new = { .addr = addr, .roles = roles };

	if (!site) {
		vec_push(f->out, edges, new);
		return;
	}
	if (!(roles & SYMBOL_SITE_CANDIDATE))
		site->roles &= ~(unsigned int)SYMBOL_SITE_CANDIDATE;
	else if (!(site->roles & SYMBOL_SITE_CANDIDATE))
		roles &= ~(unsigned int)SYMBOL_SITE_CANDIDATE;
	/* A fault is told only where nothing else leads there. */
	if (site->roles & SYMBOL_SITE_LEAVES && !(roles & SYMBOL_SITE_FAULT))
		site->roles &= ~(unsigned int)SYMBOL_SITE_FAULT;
	else if (site->roles & SYMBOL_SITE_LEAVES && !(site->roles & SYMBOL_SITE_FAULT))
		roles &= ~(unsigned int)SYMBOL_SITE_FAULT;
	site->roles |= roles;
}

/* Calls STEP for each way that execution can take from one instruction to another. */
static void each_step(struct finder *f, step_fn step)
{
	const struct symbol_flow *flow = f->flow;

	for (uint32_t b = 0; b < flow->n_blocks; b++) {
		const struct symbol_block *bl = &flow->blocks[b];
		uint32_t last = bl->first_insn + bl->n_insns - 1;

		if (!bl->reached)
			continue;
		for (uint32_t i = bl->first_insn; i < last; i++)
			step(f, &flow->insns[i], NULL, flow->insns[i + 1].addr);
		for (uint32_t e = bl->first_edge; e < bl->first_edge + bl->n_edges; e++)
			step(f, &flow->insns[last], &flow->edges[e], flow->edges[e].target);
	}
}

/* An indirect jump that may go anywhere: each leader is a candidate. */
static void note_candidates(struct finder *f, bool from_inside)
{
	for (uint32_t b = 0; b < f->flow->n_blocks; b++) {
		const struct symbol_block *bl = &f->flow->blocks[b];
		bool inside = within(&f->ranges, bl->start);

		if (bl->reached && inside != from_inside)
			note(f, bl->start,
			     SYMBOL_SITE_CANDIDATE |
				     (inside ? SYMBOL_SITE_ENTERS : SYMBOL_SITE_LEAVES));
	}
}

static void note_exit(struct finder *f, const struct symbol_insn *from,
		      const struct symbol_edge *edge)
{
	/* A fault that continues in another function's code, or a jump into it. */
	bool named = edge->kind == SYMBOL_EDGE_FIXUP;
	bool conditional = from->kind == SYMBOL_INSN_COND || from->kind == SYMBOL_INSN_LABEL;

	if (named)
		note(f, edge->target, SYMBOL_SITE_LEAVES | SYMBOL_SITE_FAULT);
	else if (edge->kind == SYMBOL_EDGE_UNRESOLVED)
		note(f, from->addr, SYMBOL_SITE_RETURNS | SYMBOL_SITE_CONDITIONAL);
	else if (edge->kind == SYMBOL_EDGE_TAIL && flow_insn_falls(from) && !conditional)
		note(f, edge->target, SYMBOL_SITE_LEAVES); /* off the end of the code */
	else
		note(f, from->addr,
		     SYMBOL_SITE_RETURNS | (conditional ? SYMBOL_SITE_CONDITIONAL : 0));
}

static void note_step(struct finder *f, const struct symbol_insn *from,
		      const struct symbol_edge *edge, uint64_t to)
{
	bool inside = within(&f->ranges, from->addr);

	if (edge && edge->kind == SYMBOL_EDGE_UNRESOLVED)
		note_candidates(f, inside);
	if (edge && edge->to == SYMBOL_FLOW_OUT) {
		if (inside && edge->kind != SYMBOL_EDGE_STOP)
			note_exit(f, from, edge);
		return;
	}
	if (!inside && within(&f->ranges, to))
		note(f, to, SYMBOL_SITE_ENTERS);
	else if (inside && !within(&f->ranges, to))
		note(f, to,
		     SYMBOL_SITE_LEAVES |
			     (edge && edge->kind == SYMBOL_EDGE_FIXUP ? SYMBOL_SITE_FAULT : 0));
}

static void note_origin(struct finder *f, const struct symbol_insn *from,
			const struct symbol_edge *edge, uint64_t to)
{
	bool inside = within(&f->ranges, from->addr);
	struct symbol_site_edge *site;

	for (uint32_t i = 0; edge && edge->kind == SYMBOL_EDGE_UNRESOLVED && i < f->out->n_edges;
	     i++) {
		struct symbol_site_edge *any = &f->out->edges[i];
		const struct symbol_insn *insn = symbol_flow_insn_at(f->flow, any->addr);

		if (insn && insn->flags & SYMBOL_INSN_LEADER) {
			any->from_inside |= inside;
			any->from_outside |= !inside;
		}
	}
	if (edge && edge->to == SYMBOL_FLOW_OUT)
		return;
	site = find_site(f, to);
	if (!site)
		return;
	site->from_inside |= inside;
	site->from_outside |= !inside;
}

static int compare_sites(const void *a, const void *b)
{
	const struct symbol_site_edge *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

void symbol_flow_edges_of(const struct symbol_flow *flow, const struct symbol_range *ranges,
			  size_t n, symbol_blacklisted_fn blacklisted, void *arg,
			  struct symbol_site_edges *out)
{
	struct finder f = { flow, { ranges, n }, out };

	memset(out, 0, sizeof(*out));
	if (within(&f.ranges, flow->entry) && flow_find(flow, flow->entry) != UINT32_MAX)
		note(&f, flow->entry, SYMBOL_SITE_ENTERS | SYMBOL_SITE_FUNCTION);
	each_step(&f, note_step);
	each_step(&f, note_origin);
	for (uint32_t i = 0; i < out->n_edges; i++) {
		struct symbol_site_edge *e = &out->edges[i];

		if (e->roles & SYMBOL_SITE_FUNCTION)
			e->from_outside = true;
		e->place = symbol_flow_place(flow, e->addr, blacklisted, arg);
		e->optimizes = e->place == SYMBOL_PLACE_OK && symbol_flow_optimizes(flow, e->addr);
	}
	if (out->n_edges)
		qsort(out->edges, out->n_edges, sizeof(*out->edges), compare_sites);
}

void symbol_site_edges_clear(struct symbol_site_edges *edges)
{
	free(edges->edges);
	memset(edges, 0, sizeof(*edges));
}

/*
 * Probes.
 */

static const struct symbol_range *part_of(const struct symbol_flow *flow, uint64_t addr)
{
	for (uint32_t i = 0; i < flow->n_parts; i++)
		if (addr >= flow->parts[i].start && addr < flow->parts[i].end)
			return &flow->parts[i];
	return NULL;
}

/* The instruction that covers ADDR, which lies in a part. */
static const struct symbol_insn *covering(const struct symbol_flow *flow, uint64_t addr)
{
	uint32_t block = symbol_flow_block_at(flow, addr), i;

	i = flow->blocks[block].first_insn;
	while (flow->insns[i].addr + flow->insns[i].len <= addr)
		i++;
	return &flow->insns[i];
}

/* The kernel decodes from the symbol's beginning, and gives up where it cannot. */
static bool decodes_up_to(const struct symbol_flow *flow, const struct symbol_range *part,
			  uint64_t addr)
{
	if (!(flow->problems & SYMBOL_FLOW_BAD_CODE))
		return true;
	for (uint32_t i = flow_find(flow, part->start);
	     i < flow->n_insns && flow->insns[i].addr <= addr; i++)
		if (flow->insns[i].kind == SYMBOL_INSN_BAD)
			return false;
	return true;
}

static enum symbol_probe_place place_of_insn(const struct symbol_insn *insn, bool boundary)
{
	if (insn->kind == SYMBOL_INSN_LABEL)
		return SYMBOL_PLACE_JUMP_LABEL;
	if (insn->flags & SYMBOL_INSN_STATIC_CALL)
		return SYMBOL_PLACE_STATIC_CALL;
	if (insn->flags & SYMBOL_INSN_FTRACE && !boundary)
		return SYMBOL_PLACE_FTRACE;
	if (!boundary)
		return SYMBOL_PLACE_NO_BOUNDARY;
	if (insn->flags & SYMBOL_INSN_BUG)
		return SYMBOL_PLACE_BUG;
	if (insn->flags & SYMBOL_INSN_HARMFUL)
		return SYMBOL_PLACE_HARMFUL;
	return insn->flags & SYMBOL_INSN_NO_KPROBE ? SYMBOL_PLACE_INSN : SYMBOL_PLACE_OK;
}

enum symbol_probe_place symbol_flow_place(const struct symbol_flow *flow, uint64_t addr,
					  symbol_blacklisted_fn blacklisted, void *arg)
{
	const struct symbol_range *part = part_of(flow, addr);
	const struct symbol_insn *insn;
	enum symbol_probe_place place;

	if (!part)
		return SYMBOL_PLACE_OUTSIDE;
	if (!decodes_up_to(flow, part, addr))
		return SYMBOL_PLACE_NO_BOUNDARY;
	insn = covering(flow, addr);
	place = place_of_insn(insn, insn->addr == addr);
	if (place == SYMBOL_PLACE_OK && blacklisted && blacklisted(addr, arg))
		return SYMBOL_PLACE_BLACKLISTED;
	return place;
}

const char *symbol_place_text(enum symbol_probe_place place)
{
	static const char *const texts[] = {
		[SYMBOL_PLACE_OK] = "it can be probed",
		[SYMBOL_PLACE_OUTSIDE] = "it lies outside the function",
		[SYMBOL_PLACE_NO_BOUNDARY] = "no instruction begins there",
		[SYMBOL_PLACE_JUMP_LABEL] = "it is a jump label",
		[SYMBOL_PLACE_STATIC_CALL] = "it is a static call",
		[SYMBOL_PLACE_FTRACE] = "it lies within the ftrace location",
		[SYMBOL_PLACE_BUG] = "it is the trap of a BUG or WARN",
		[SYMBOL_PLACE_INSN] = "kprobes do not do this kind of instruction",
		[SYMBOL_PLACE_HARMFUL] = "the kernel would crash in emulating the instruction",
		[SYMBOL_PLACE_BLACKLISTED] = "it is on the kernel's kprobe blacklist",
	};

	return texts[place];
}

/* Does the code that kallsyms has as one symbol, PART, forbid optimized probes at ADDR? */
static bool part_forbids(const struct symbol_flow *flow, const struct symbol_range *part,
			 uint64_t addr)
{
	for (uint32_t i = flow_find(flow, part->start);
	     i < flow->n_insns && flow->insns[i].addr < part->end; i++) {
		const struct symbol_insn *insn = &flow->insns[i];

		if (insn->flags & SYMBOL_INSN_FAULTS || insn->kind == SYMBOL_INSN_JUMP_INDIRECT ||
		    insn->kind == SYMBOL_INSN_BAD)
			return true;
		/*
		 * A jump to the return thunk, which lies among those of indirect jumps. In the file all
		 * are such; most kernels replace them while they boot.
		 */
		if (insn->kind == SYMBOL_INSN_RET && insn->target &&
		    !(insn->flags & SYMBOL_INSN_FROM_FILE) &&
		    !(flow->problems & SYMBOL_FLOW_NOT_LIVE))
			return true;
		if (insn->kind != SYMBOL_INSN_CALL && insn->target > addr &&
		    insn->target <= addr + JUMP_LEN)
			return true;
	}
	return false;
}

bool symbol_flow_optimizes(const struct symbol_flow *flow, uint64_t addr)
{
	const struct symbol_range *part = part_of(flow, addr);
	uint32_t i = flow_find(flow, addr);
	size_t len = 0;

	if (!part || i == UINT32_MAX)
		return false;
	if (flow->insns[i].flags & SYMBOL_INSN_FTRACE)
		return true;
	if (part->end - addr < JUMP_LEN || part_forbids(flow, part, addr))
		return false;
	for (; len < JUMP_LEN; i++) {
		const struct symbol_insn *insn = &flow->insns[i];

		if (i >= flow->n_insns || insn->kind == SYMBOL_INSN_LABEL ||
		    insn->flags & (SYMBOL_INSN_NO_OPTIMIZE | SYMBOL_INSN_STATIC_CALL |
				   SYMBOL_INSN_FTRACE))
			return false;
		len += insn->len;
	}
	return true;
}

/*
 * Substitutes.
 */

struct slide {
	const struct symbol_flow *flow;
	struct ranges ranges;
	bool inside;
	symbol_blacklisted_fn blacklisted;
	void *arg;
	uint64_t seen[MAX_SLIDES];
	size_t n_seen, next;
	bool failed;
};

/* ADDR is to be looked at, unless it was. */
static void slide_to(struct slide *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n_seen; i++)
		if (s->seen[i] == addr)
			return;
	if (s->n_seen == MAX_SLIDES || within(&s->ranges, addr) != s->inside ||
	    flow_find(s->flow, addr) == UINT32_MAX)
		s->failed = true;
	else
		s->seen[s->n_seen++] = addr;
}

static void slide_over(struct slide *s, uint64_t addr)
{
	uint32_t i = flow_find(s->flow, addr);
	const struct symbol_block *bl = &s->flow->blocks[s->flow->insns[i].block];

	if (i + 1 < bl->first_insn + bl->n_insns) {
		slide_to(s, s->flow->insns[i + 1].addr);
		return;
	}
	for (uint32_t e = bl->first_edge; e < bl->first_edge + bl->n_edges; e++) {
		const struct symbol_edge *edge = &s->flow->edges[e];

		if (edge->to != SYMBOL_FLOW_OUT)
			slide_to(s, edge->target);
		else if (edge->kind != SYMBOL_EDGE_STOP)
			s->failed = true;
	}
}

size_t symbol_flow_substitutes(const struct symbol_flow *flow, uint64_t addr,
			       const struct symbol_range *ranges, size_t n, bool inside,
			       symbol_blacklisted_fn blacklisted, void *arg, uint64_t *out,
			       size_t max)
{
	struct slide s = { flow, { ranges, n }, inside, blacklisted, arg };
	size_t found = 0;

	slide_to(&s, addr);
	for (; s.next < s.n_seen && !s.failed; s.next++) {
		uint64_t at = s.seen[s.next];

		if (symbol_flow_place(flow, at, blacklisted, arg) != SYMBOL_PLACE_OK)
			slide_over(&s, at);
		else if (found == max)
			return 0;
		else
			out[found++] = at;
	}
	return s.failed ? 0 : found;
}
