// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compare the flow graphs of two functions, block by block from their entries. If they differ, compare again and ignore more
 * differences: first the order of blocks, then registers, instruction order and stack frame, and last member offsets.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/changes/changes_impl.h"
#include "base/sorted.h"
#include "kernel/code/flow_function.h"

enum level {
	LEVEL_LAYOUT,
	LEVEL_REGISTERS,
	LEVEL_OFFSETS,
	N_LEVELS,
};

#define MAX_EMPTY 16 /* maximum number of successive blocks without instructions */

struct insn {
	uint64_t addr;
	struct arch_operation op;
	bool matched;
};

/* An edge out of a block. It has the target's block instead of the target's address. */
struct way {
	/* The edge's enum kernel_edge_kind. JUMP counts as FALL. If the condition is inverted, FALL and TAKEN are swapped. */
	uint32_t kind;
	uint32_t block; /* KERNEL_FLOW_OUT: the edge leaves the function */
};

struct code {
	struct kernel_flow *flow;
	/* Instructions in code order. Block I has INSNS[FIRST[I]] to INSNS[FIRST[I + 1] - 1]. */
	vec_of(struct insn, insns);
	uint32_t *first;
};

static void read_operation(const struct analyze_changes *c, const struct changes_side *side,
			   const struct kernel_flow *flow, const struct kernel_insn *insn,
			   struct arch_operation *op)
{
	uint8_t bytes[ARCH_MAX_INSN];

	*op = (struct arch_operation){ .shape = insn->kind };
	if (insn->kind == KERNEL_INSN_LABEL ||
	    !kernel_code_read_file(side->code, insn->addr, bytes, insn->len))
		return;
	arch_operation_of(c->decoder, bytes, insn->len, side->base + insn->addr, op);
	if (insn->target && kernel_flow_block_at(flow, insn->target) != KERNEL_FLOW_OUT)
		op->n_values = 0; /* ignore the jump's target here: the block's edge has it */
}

/* Read the instructions of BLOCK. Omit the jump to the next block, and padding before that jump. */
static void read_block(const struct analyze_changes *c, const struct changes_side *side,
		       struct code *code, const struct kernel_block *block)
{
	uint32_t all = block->n_insns;
	const struct kernel_insn *insns = code->flow->insns + block->first_insn;

	if (!block->reached)
		return;
	while (all && (insns[all - 1].kind == KERNEL_INSN_NOP ||
		       (insns[all - 1].kind == KERNEL_INSN_JUMP &&
			!(insns[all - 1].flags & KERNEL_INSN_TAIL))))
		all--;
	for (uint32_t i = 0; i < all; i++) {
		struct insn insn = { .addr = insns[i].addr };

		read_operation(c, side, code->flow, &insns[i], &insn.op);
		vec_push(code, insns, insn);
	}
}

static bool code_init(const struct analyze_changes *c, const struct changes_side *side,
		      uint64_t addr, struct code *code)
{
	*code = (struct code){ 0 };
	if (kernel_flow_of(side->code, addr, &code->flow))
		return false;
	code->first = alloc_array(code->flow->n_blocks + 1, sizeof(*code->first));
	for (uint32_t i = 0; i < code->flow->n_blocks; i++) {
		read_block(c, side, code, &code->flow->blocks[i]);
		code->first[i + 1] = code->n_insns;
	}
	return true;
}

static void code_deinit(struct code *code)
{
	kernel_flow_destroy(code->flow);
	free(code->first);
	free(code->insns);
}

struct comparison {
	const struct analyze_changes *c;
	struct code code[2];
	enum level level;
};

static bool same_insn(const struct comparison *m, const struct insn *a, const struct insn *b)
{
	const uint64_t addrs[2] = { a->addr, b->addr };

	if (a->op.shape != b->op.shape || a->op.n_values != b->op.n_values ||
	    (m->level < LEVEL_REGISTERS && a->op.registers != b->op.registers))
		return false;
	for (unsigned int i = 0; i < a->op.n_values; i++) {
		const struct arch_value *x = &a->op.values[i], *y = &b->op.values[i];
		bool aside = (m->level >= LEVEL_REGISTERS && x->kind == ARCH_VALUE_STACK) ||
			     (m->level >= LEVEL_OFFSETS && x->kind == ARCH_VALUE_OFFSET);

		if (x->kind != y->kind || (!aside && !changes_same_value(m->c, x, y, addrs)))
			return false;
	}
	return true;
}

define_compare(compare_shapes, struct insn *const,
	       compare_values((*a)->op.shape, (*b)->op.shape) ?:
		       compare_values((*a)->addr, (*b)->addr));

static struct insn **sorted(const struct code *code, uint32_t from, uint32_t to)
{
	struct insn **order = alloc_array(to - from, sizeof(*order));

	for (uint32_t i = from; i < to; i++) {
		order[i - from] = &code->insns[i];
		code->insns[i].matched = false;
	}
	sort_array(order, to - from, sizeof(*order), compare_shapes);
	return order;
}

/* Count the instructions that both functions contain, in any order. Search function I from index FROM[I] to TO[I] - 1. */
static uint32_t common(const struct comparison *m, const uint32_t from[2], const uint32_t to[2])
{
	scoped_free struct insn **a = sorted(&m->code[0], from[0], to[0]),
				**b = sorted(&m->code[1], from[1], to[1]);
	uint32_t n = 0, first = 0;

	for (uint32_t i = 0; i < to[0] - from[0]; i++) {
		while (first < to[1] - from[1] &&
		       (b[first]->op.shape < a[i]->op.shape || b[first]->matched))
			first++;
		for (uint32_t j = first; j < to[1] - from[1] && b[j]->op.shape == a[i]->op.shape;
		     j++)
			if (!b[j]->matched && same_insn(m, a[i], b[j])) {
				b[j]->matched = true;
				n++;
				break;
			}
	}
	return n;
}

/* Return BLOCK. If BLOCK has no instructions and only one successor, return the next block that has instructions. */
static uint32_t lead_on(const struct code *code, uint32_t block)
{
	for (int i = 0; i < MAX_EMPTY && block != KERNEL_FLOW_OUT; i++) {
		const struct kernel_block *b = &code->flow->blocks[block];

		if (code->first[block] != code->first[block + 1] || b->n_edges != 1 ||
		    code->flow->edges[b->first_edge].to == KERNEL_FLOW_OUT)
			break;
		block = code->flow->edges[b->first_edge].to;
	}
	return block;
}

define_compare(compare_ways, struct way, compare_values(a->kind, b->kind));

static struct way *ways(const struct code *code, uint32_t block)
{
	const struct kernel_block *b = &code->flow->blocks[block];
	const struct insn *last = code->first[block] < code->first[block + 1] ?
					  &code->insns[code->first[block + 1] - 1] :
					  NULL;
	struct way *out = alloc_array(b->n_edges, sizeof(*out));
	bool inverted = last && last->op.inverted;

	for (uint32_t i = 0; i < b->n_edges; i++) {
		const struct kernel_edge *e = &code->flow->edges[b->first_edge + i];
		uint32_t kind = e->kind == KERNEL_EDGE_JUMP ? KERNEL_EDGE_FALL : e->kind;

		if (inverted && (kind == KERNEL_EDGE_FALL || kind == KERNEL_EDGE_TAKEN))
			kind = kind == KERNEL_EDGE_FALL ? KERNEL_EDGE_TAKEN : KERNEL_EDGE_FALL;
		out[i] = (struct way){ kind, lead_on(code, e->to) };
	}
	sort_array(out, b->n_edges, sizeof(*out), compare_ways);
	return out;
}

/* Block A of one function and block B of the other are a pair if TO[A] is B + 1 and FROM[B] is A + 1. STACK: blocks A to visit. */
struct walk {
	uint32_t *to, *from;
	vec_of(uint32_t, stack);
};

static bool pair(struct walk *w, uint32_t a, uint32_t b)
{
	if (a == KERNEL_FLOW_OUT || b == KERNEL_FLOW_OUT)
		return a == b;
	if (w->to[a] || w->from[b])
		return w->to[a] == b + 1 && w->from[b] == a + 1;
	w->to[a] = b + 1;
	w->from[b] = a + 1;
	vec_push(w, stack, a);
	return true;
}

static bool same_block(const struct comparison *m, struct walk *w, uint32_t a, uint32_t b)
{
	const struct code *left = &m->code[0], *right = &m->code[1];
	uint32_t from[2] = { left->first[a], right->first[b] },
		 to[2] = { left->first[a + 1], right->first[b + 1] },
		 n = left->flow->blocks[a].n_edges;
	scoped_free struct way *x = NULL, *y = NULL;
	bool same = to[0] - from[0] == to[1] - from[1] && n == right->flow->blocks[b].n_edges;

	if (m->level >= LEVEL_REGISTERS)
		same = same && common(m, from, to) == to[0] - from[0];
	for (uint32_t i = 0; same && m->level < LEVEL_REGISTERS && i < to[0] - from[0]; i++)
		same = same_insn(m, &left->insns[from[0] + i], &right->insns[from[1] + i]);
	if (!same)
		return false;
	x = ways(left, a);
	y = ways(right, b);
	for (uint32_t i = 0; same && i < n; i++)
		same = x[i].kind == y[i].kind && pair(w, x[i].block, y[i].block);
	return same;
}

static bool same_graph(const struct comparison *m)
{
	struct walk w = { .to = alloc_array(m->code[0].flow->n_blocks, sizeof(uint32_t)),
			  .from = alloc_array(m->code[1].flow->n_blocks, sizeof(uint32_t)) };
	uint32_t entries[2];
	bool same;

	for (int i = 0; i < 2; i++)
		entries[i] = kernel_flow_block_at(m->code[i].flow, m->code[i].flow->entry);
	same = pair(&w, entries[0], entries[1]);
	while (same && w.n_stack) {
		uint32_t a = w.stack[--w.n_stack];

		same = same_block(m, &w, a, w.to[a] - 1);
	}
	free(w.to);
	free(w.from);
	free(w.stack);
	return same;
}

void changes_compare(struct analyze_changes *c, struct analyze_changed *change)
{
	static const enum analyze_change_kind kinds[] = { ANALYZE_CHANGE_SAME,
							  ANALYZE_CHANGE_REGISTERS,
							  ANALYZE_CHANGE_OFFSETS,
							  ANALYZE_CHANGE_DIFFERS };
	struct comparison m = { .c = c };
	bool known[2] = { 0 };
	uint32_t n;

	for (int i = 0; i < 2; i++) {
		known[i] = change->names[i] &&
			   code_init(c, &c->sides[i], change->addrs[i], &m.code[i]);
		change->n_insns[i] = m.code[i].n_insns;
	}
	change->kind = change->names[1] ? ANALYZE_CHANGE_NEW : ANALYZE_CHANGE_GONE;
	if (change->names[0] && change->names[1]) {
		while (known[0] && known[1] && m.level < N_LEVELS && !same_graph(&m))
			m.level++;
		change->kind = kinds[known[0] && known[1] ? m.level : N_LEVELS];
	}
	m.level = LEVEL_REGISTERS;
	n = common(&m, (uint32_t[]){ 0, 0 }, (uint32_t[]){ m.code[0].n_insns, m.code[1].n_insns });
	change->removed = change->n_insns[0] - n;
	change->added = change->n_insns[1] - n;
	code_deinit(&m.code[0]);
	code_deinit(&m.code[1]);
}

/* ---- comparison of numbers and addresses in instructions ---- */

/* Per-CPU variables have addresses from 0 to this limit. */
#define MAX_PERCPU 0x1000000

/* All symbols at the address nearest to a given address. */
struct nearest {
	const struct changes_symbol *first;
	uint32_t n;
	uint64_t distance;
	bool covers; /* the largest symbol extends over the given address */
};

/* Return the symbols at the nearest address up to ADDR. If NEXT is set, return those at the nearest address after ADDR. */
static struct nearest nearest(const struct changes_side *side, uint64_t addr, bool next)
{
	const struct changes_symbol *s = side->symbols;
	uint32_t i = bisect(side->n_symbols, j, s[j].addr <= addr);
	struct nearest out = { 0 };
	uint64_t at;

	if (next ? i == side->n_symbols : !i)
		return out;
	at = s[next ? i : i - 1].addr;
	while (i && s[i - 1].addr == at)
		i--;
	out.first = &s[i];
	while (i + out.n < side->n_symbols && s[i + out.n].addr == at)
		out.n++;
	out.distance = next ? at - addr : addr - at;
	out.covers = !next && out.distance < out.first[out.n - 1].size;
	return out;
}

/* Return the length of NAME without the number that a compiler appends to distinguish equal names. */
static size_t plain_len(const char *name)
{
	size_t n = strlen(name), digits = n;

	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	return digits > 1 && digits < n && (name[digits - 1] == '.' || *name == '_') ? digits : n;
}

static bool is_same_name(const char *a, const char *b)
{
	size_t n = plain_len(a);

	return !strcmp(a, b) || (n == plain_len(b) && !strncmp(a, b, n));
}

static bool have_common(const struct nearest *a, const struct nearest *b)
{
	for (uint32_t i = 0; a->distance == b->distance && i < a->n; i++)
		for (uint32_t j = 0; j < b->n; j++)
			if (is_same_name(a->first[i].name, b->first[j].name))
				return true;
	return false;
}

static bool is_thunk(const struct changes_function *f)
{
	return arch_symbol_of_name(f->name) == ARCH_SYMBOL_INDIRECT_THUNK;
}

/* Return whether A and B are addresses in the same function. Return -1 if both are outside of functions. */
static int same_function(const struct analyze_changes *c, uint64_t a, uint64_t b)
{
	const struct changes_side *left = &c->sides[0], *right = &c->sides[1];
	uint32_t i = changes_function_at(left, a - left->base),
		 j = changes_function_at(right, b - right->base);
	const struct changes_function *f, *g;

	if (i == CHANGES_NONE && j == CHANGES_NONE)
		return -1;
	if (i == CHANGES_NONE || j == CHANGES_NONE)
		return false;
	f = &left->functions[i];
	g = &right->functions[j];
	return f->pair == j || (is_thunk(f) && is_thunk(g)) || is_same_name(f->name, g->name);
}

/* Strings and constants have no symbols, so two addresses outside of symbols count as the same. */
bool changes_same_address(const struct analyze_changes *c, uint64_t a, uint64_t b)
{
	struct nearest before[2], after[2];
	int is_same = same_function(c, a, b);

	if (is_same >= 0)
		return is_same;
	before[0] = nearest(&c->sides[0], a, false);
	before[1] = nearest(&c->sides[1], b, false);
	if (have_common(&before[0], &before[1]) || (!before[0].covers && !before[1].covers))
		return true;
	after[0] = nearest(&c->sides[0], a, true);
	after[1] = nearest(&c->sides[1], b, true);
	return have_common(&after[0], &after[1]);
}

static bool is_address(const struct changes_side *side, uint64_t value)
{
	return value >= side->base && value <= side->end;
}

static bool is_percpu(const struct analyze_changes *c, uint64_t a, uint64_t b)
{
	struct nearest x = nearest(&c->sides[0], a, false), y = nearest(&c->sides[1], b, false);

	return a < MAX_PERCPU && b < MAX_PERCPU && x.covers && y.covers && have_common(&x, &y);
}

/* Return whether VALUE is the source line of the instruction at AT: such a value comes from the macro __LINE__. */
static bool is_line(const struct changes_side *side, uint64_t at, uint64_t value)
{
	struct kernel_place place;

	return !kernel_index_at(side->index, at, &place) && place.line && place.line == value;
}

bool changes_same_value(const struct analyze_changes *c, const struct arch_value *a,
			const struct arch_value *b, const uint64_t at[2])
{
	if (a->kind != b->kind)
		return false;
	if (is_address(&c->sides[0], a->value) && is_address(&c->sides[1], b->value))
		return changes_same_address(c, a->value, b->value);
	if (a->value == b->value || is_percpu(c, a->value, b->value))
		return true;
	return a->kind == ARCH_VALUE_NUMBER && is_line(&c->sides[0], at[0], a->value) &&
	       is_line(&c->sides[1], at[1], b->value);
}
