// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two functions from front to back, instruction by instruction: nearly all of a kernel's are found the same so, at a
 * fraction of the cost of their graphs.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/changes/changes_impl.h"

#define MAX_PARTS 8

/* Shorter instructions, if their bytes are the same, name nothing outside of the function. */
#define MIN_NAMING 5

struct part {
	struct changes_function *functions[2];
	uint8_t *bytes[2];
};

struct sweep {
	struct analyze_changes *c;
	struct part parts[MAX_PARTS]; /* the function, then what was split off it */
	uint32_t n_parts;
};

static bool add_part(struct sweep *s, uint32_t a, uint32_t b)
{
	uint32_t numbers[2] = { a, b };
	struct part *p = &s->parts[s->n_parts];
	bool ok = true;

	if (s->n_parts == MAX_PARTS)
		return false;
	*p = (struct part){ 0 };
	for (int i = 0; i < 2; i++) {
		if (numbers[i] == CHANGES_NONE)
			continue;
		p->functions[i] = &s->c->sides[i].functions[numbers[i]];
		p->bytes[i] = changes_bytes(&s->c->sides[i], p->functions[i]);
		ok &= p->bytes[i] != NULL;
	}
	s->n_parts++;
	return ok;
}

static bool is_in(const struct changes_function *f, uint64_t addr)
{
	return addr >= f->addr && addr < f->end;
}

static bool same_target(struct sweep *s, const uint64_t targets[2])
{
	const struct changes_side *sides = s->c->sides;
	const struct changes_function *f, *g;
	uint32_t a, b;

	for (uint32_t i = 0; i < s->n_parts; i++) {
		f = s->parts[i].functions[0];
		g = s->parts[i].functions[1];
		if (is_in(f, targets[0]) || is_in(g, targets[1]))
			return is_in(f, targets[0]) && is_in(g, targets[1]) &&
			       targets[0] - f->addr == targets[1] - g->addr;
	}
	a = changes_function_at(&sides[0], targets[0]);
	b = changes_function_at(&sides[1], targets[1]);
	if (a != CHANGES_NONE && b != CHANGES_NONE && sides[0].functions[a].is_cold &&
	    sides[1].functions[b].is_cold)
		return targets[0] - sides[0].functions[a].addr ==
			       targets[1] - sides[1].functions[b].addr &&
		       add_part(s, a, b);
	return changes_same_address(s->c, targets[0] + sides[0].base, targets[1] + sides[1].base);
}

/* The instruction of LEN bytes, AT bytes into the part P. */
static bool same_operation(struct sweep *s, const struct part *p, uint64_t at, size_t len)
{
	struct arch_operation op[2];
	uint64_t addrs[2];

	for (int i = 0; i < 2; i++) {
		addrs[i] = p->functions[i]->addr + at;
		arch_operation_of(s->c->decoder, p->bytes[i] + at, len,
				  s->c->sides[i].base + addrs[i], &op[i]);
	}
	if (op[0].shape != op[1].shape || op[0].registers != op[1].registers ||
	    op[0].inverted != op[1].inverted || op[0].n_values != op[1].n_values)
		return false;
	for (unsigned int i = 0; i < op[0].n_values; i++)
		if (!changes_same_value(s->c, &op[0].values[i], &op[1].values[i], addrs))
			return false;
	return true;
}

/* Decodes what is AT bytes into the part on one side, and counts what it calls. 1 where it is no instruction. */
static size_t read_one(struct sweep *s, const struct part *p, int side, uint64_t at,
		       struct decoded *out)
{
	struct changes_function *f = p->functions[side], *to;
	uint32_t called;

	if (!decode(s->c->decoder, p->bytes[side] + at, f->end - f->addr - at, f->addr + at, out)) {
		*out = (struct decoded){ .len = 1 };
		return 1;
	}
	if (out->kind == DECODE_CALL || out->kind == DECODE_JUMP) {
		called = changes_function_at(&s->c->sides[side], out->target);
		to = called == CHANGES_NONE ? NULL : &s->c->sides[side].functions[called];
		if (to && to != f && to->addr == out->target)
			to->callers++;
	}
	return out->len;
}

static bool sweep_part(struct sweep *s, const struct part *p)
{
	uint64_t at[2] = { 0 }, len[2] = { 0 };
	struct decoded insn[2];
	bool same = true;

	for (int i = 0; i < 2; i++)
		len[i] = p->functions[i] && p->bytes[i] ?
				 p->functions[i]->end - p->functions[i]->addr :
				 0;
	while (same && at[0] < len[0] && at[1] < len[1]) {
		size_t n = read_one(s, p, 0, at[0], &insn[0]),
		       m = read_one(s, p, 1, at[1], &insn[1]);

		same = n == m && insn[0].kind == insn[1].kind;
		if (same && insn[0].target)
			same = same_target(s, (uint64_t[]){ insn[0].target, insn[1].target });
		if (same &&
		    (n >= MIN_NAMING || memcmp(p->bytes[0] + at[0], p->bytes[1] + at[1], n)) &&
		    insn[0].kind != DECODE_CALL && insn[0].kind != DECODE_JUMP &&
		    insn[0].kind != DECODE_COND)
			same = same_operation(s, p, at[0], n);
		if (same && insn[0].kind == DECODE_COND)
			same = p->bytes[0][at[0] + (n > 2)] == p->bytes[1][at[1] + (n > 2)];
		at[0] += n;
		at[1] += m;
	}
	same = same && at[0] == len[0] && at[1] == len[1];
	for (int i = 0; i < 2; i++)
		while (at[i] < len[i])
			at[i] += read_one(s, p, i, at[i], &insn[i]);
	return same;
}

bool changes_sweep(struct analyze_changes *c, uint32_t a, uint32_t b)
{
	struct sweep s = { .c = c };
	bool same = add_part(&s, a, b) && a != CHANGES_NONE && b != CHANGES_NONE;

	for (uint32_t i = 0; i < s.n_parts; i++)
		same &= sweep_part(&s, &s.parts[i]);
	for (uint32_t i = 0; i < s.n_parts; i++) {
		free(s.parts[i].bytes[0]);
		free(s.parts[i].bytes[1]);
	}
	return same;
}
