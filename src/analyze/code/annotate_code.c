// SPDX-License-Identifier: GPL-2.0-or-later
/* A place's instructions, the bodies that they are part of, and how often each was executed. */
#include <math.h>

#include "analyze/code/annotate_impl.h"
#include "analyze/figures/chain.h"
#include "analyze/blocks/blocks.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* The body with the id ID among those of PLACE; ANALYZE_NO_BODY: none, or the place's own. */
static uint32_t body_find(const struct analyze_annotation *a, const struct analyze_place *place,
			  uint32_t id)
{
	for (uint32_t i = 0; i < place->n_bodies; i++)
		if (a->bodies[place->first_body + i].body.id == id)
			return place->first_body + i;
	return ANALYZE_NO_BODY;
}

/* Return whether the body is within PLACE. That is known of its parent, since outer bodies have lower numbers. */
static bool body_is_within(const struct analyze_annotation *a, const struct analyze_place *place,
			   const struct kernel_body *body)
{
	if (!place->is_inlined)
		return true;
	return body->parent == place->body.id ||
	       (body->parent != KERNEL_NONE &&
		body_find(a, place, body->parent) != ANALYZE_NO_BODY);
}

static void name_body(struct analyze_annotation *a, struct analyze_code_body *b)
{
	b->depth = 1;
	if (b->parent != ANALYZE_NO_BODY) {
		b->chain = a->bodies[b->parent].path;
		b->depth = a->bodies[b->parent].depth + 1;
	}
	b->path = alloc_keep(&a->texts, analyze_chain_add(b->body.name, b->chain));
	if (b->body.call_file)
		b->called = alloc_keep(&a->texts,
				       alloc_printf("%s:%u", b->body.call_file, b->body.call_line));
}

static void add_bodies(struct making *m, uint32_t number)
{
	struct analyze_annotation *a = m->a;
	struct analyze_place *place = &a->places[number];

	place->first_body = a->n_bodies;
	for (uint32_t i = 0; i < place->function.n_bodies; i++) {
		struct analyze_code_body b = { .place = number };

		if (kernel_index_body(m->idx, place->function.first_body + i, &b.body) ||
		    !body_is_within(a, place, &b.body))
			continue;
		b.parent = b.body.parent == KERNEL_NONE ? ANALYZE_NO_BODY :
							  body_find(a, place, b.body.parent);
		name_body(a, &b);
		if (b.depth > ANNOTATE_MAX_DEPTH)
			continue;
		vec_push(a, bodies, b);
		place->n_bodies++;
	}
}

/* Padding between pieces of code is none of the function's. */
static bool is_padding(const struct kernel_insn *insn)
{
	return !(insn->flags & KERNEL_INSN_REACHED) &&
	       (insn->kind == KERNEL_INSN_NOP || insn->kind == KERNEL_INSN_TRAP ||
		insn->kind == KERNEL_INSN_BAD);
}

/* Counts of the blocks of one function, in the contexts asked for. */
struct counted {
	const struct profile_blocks *blocks; /* NULL: there are none */
	uint64_t *counts;
	double calls;
	double elsewhere; /* executions of what is in none of the blocks */
};

static uint32_t context_find(const struct making *m)
{
	for (uint32_t i = 0; m->o->context && i < m->p->n_contexts; i++)
		if (!strcmp(m->p->contexts[i].name, m->o->context))
			return i;
	return ANALYZE_IN_ALL_CONTEXTS;
}

static void counted_init(struct counted *c, const struct making *m,
			 const struct analyze_place *place)
{
	struct analyze_counted counted;

	memset(c, 0, sizeof(*c));
	c->calls = NAN;
	c->elsewhere = profile_is_exact(m->p) ? 0 : NAN;
	for (uint32_t i = 0; i < m->p->n_blocks && !c->blocks; i++) {
		const struct profile_site *site = &m->p->sites[m->p->blocks[i].site];

		if (!profile_site_is_in(site, m->o->module) || site->addr != place->function.addr)
			continue;
		c->blocks = &m->p->blocks[i];
		c->counts = alloc_array(c->blocks->n_items, sizeof(*c->counts));
		analyze_counted_init(&counted, m->p);
		c->calls =
			(double)analyze_counted_sum(&counted, i, context_find(m), c->counts, NULL);
		analyze_counted_deinit(&counted);
	}
}

/* NAN where it was not counted, and does not follow from what was. */
static double executions_at(const struct counted *c, uint64_t addr)
{
	const struct profile_block *items = c->blocks ? c->blocks->items : NULL;
	uint32_t n = items ? bisect(c->blocks->n_items, i, items[i].addr <= addr) : 0;

	if (!n || addr - items[n - 1].addr >= items[n - 1].bytes)
		return items ? c->elsewhere : NAN;
	if (c->counts[n - 1] == PROFILE_NOT_COUNTED)
		return NAN;
	return (double)c->counts[n - 1];
}

static void add_instruction(struct making *m, struct analyze_place *place,
			    const struct counted *counted, const struct kernel_insn *insn)
{
	struct analyze_annotation *a = m->a;
	struct analyze_instruction i = { .insn = *insn };
	struct kernel_place at;

	if (place->is_inlined &&
	    !annotate_is_in_ranges(place->body.ranges, place->body.n_ranges, insn->addr))
		return;
	if (kernel_index_at(m->idx, insn->addr, &at))
		return;
	i.symbol = at.symbol;
	i.offset = at.offset;
	i.body = at.body == KERNEL_NONE ? ANALYZE_NO_BODY : body_find(a, place, at.body);
	i.executions = executions_at(counted, insn->addr);
	i.per_call = i.executions / counted->calls;
	/* The line's number replaces this when all are known. */
	i.line = a->n_lines;
	vec_push(a, lines,
		 ((struct analyze_line){ .path = i.body == ANALYZE_NO_BODY ? NULL :
									     a->bodies[i.body].path,
					 .file = at.file,
					 .line = at.line,
					 .n_insns = a->n_insns }));
	vec_push(a, insns, i);
	place->n_insns++;
}

int annotate_add_code(struct making *m, uint32_t number)
{
	struct analyze_place *place = &m->a->places[number];
	struct kernel_flow *flow;
	struct counted counted;
	int err = kernel_flow_of(m->code, place->function.addr, &flow);

	place->first_insn = m->a->n_insns;
	if (err)
		return err;
	add_bodies(m, number);
	place->problems = flow->problems;
	counted_init(&counted, m, place);
	m->a->counted |= counted.blocks != NULL;
	vec_each(const struct kernel_insn, insn, flow, insns)
		if (!is_padding(insn))
			add_instruction(m, place, &counted, insn);
	free(counted.counts);
	kernel_flow_destroy(flow);
	return 0;
}
