// SPDX-License-Identifier: GPL-2.0-or-later
/* Do two numbers in code stand for the same thing, wherever each kernel has it? */
#include <string.h>

#include "analyze/changes/changes_impl.h"
#include "base/sorted.h"

/* Per-CPU data begins at 0. */
#define MAX_PERCPU 0x1000000

/* The symbols of one address that are nearest to another one. */
struct nearest {
	const struct changes_symbol *first;
	uint32_t n;
	uint64_t distance;
	bool covers; /* the largest of them reaches it */
};

/* Return the symbols at or in front of ADDR, or, with NEXT, those behind it. */
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

/* The length of NAME less the number that tells apart what one file has several of. */
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

/* Addresses of functions; -1: neither is one. */
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

/* The file's addresses A and B. Texts and constants have no names: which of them it is, is not code. */
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

/* __LINE__, as the place of the instruction says. */
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
