// SPDX-License-Identifier: GPL-2.0-or-later
/* Matching of the bodies of one kernel with those of the other. */
#include <ctype.h>

#include "analyze/diff/inside/ranges_impl.h"
#include "analyze/figures/chain.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* ---- which row is which ---- */

/* The parts of a body's place that do not depend on the version of the source. */
define_compare(place_compare, struct analyze_range,
	       strcmp(a->body.function, b->body.function) ?:
		       strcmp(a->body.name, b->body.name) ?:
							    compare_text(a->chain, b->chain));

/* By body and context: rows of such a pair differ in their line. */
define_compare(pair_compare, struct analyze_range,
	       place_compare(a, b)                                ?:
		       compare_text(a->match_file, b->match_file) ?:
		       analyze_context_compare(a->context, b->context));

define_compare(row_compare, struct analyze_range,
	       pair_compare(a, b)                               ?:
		       compare_text(a->body.file, b->body.file) ?:
		       compare_values(a->body.line, b->body.line));

/* The version in front of what a builder adds: "6.1.192" of "6.1.192-hardened". */
static size_t version_length(const char *release)
{
	size_t n = 0;

	while (isdigit((unsigned char)release[n]) || release[n] == '.')
		n++;
	return n;
}

bool analyze_diff_ranges_same_source(const struct profile *a, const struct profile *b)
{
	const char *ra = profile_env_get(a, PROFILE_ENV_RELEASE);
	const char *rb = profile_env_get(b, PROFILE_ENV_RELEASE);

	return ra && rb && version_length(ra) == version_length(rb) &&
	       !strncmp(ra, rb, version_length(ra));
}

/* Return whether INNER is a part of OUTER on SIDE: its chain ends in OUTER and the bodies around that. */
bool analyze_diff_range_is_inside(const struct analyze_diff_range *inner,
				  const struct analyze_diff_range *outer, int side)
{
	const char *chain = inner->chains[side], *around = outer->chains[side];
	scoped_free char *end = analyze_chain_add(outer->body.name, around);
	bool inside = chain && analyze_chain_is_within(chain, end);

	return inside;
}

/* ---- chains that differ ---- */

/* Rows of one side at places where the other has none, by place. */
struct lone {
	struct analyze_range **rows;
	size_t n_rows, cap_rows;
};

static void lone_collect(struct lone *lone, const struct pointers *here,
			 const struct pointers *there)
{
	size_t n;

	for (size_t i = 0; i < here->n_items; i++) {
		pointers_find(there, here->items[i], &n);
		if (!n)
			vec_push(lone, rows, (struct analyze_range *)here->items[i]);
	}
}

define_compare(name_order, struct analyze_range *const,
	       strcmp((*a)->body.function, (*b)->body.function) ?:
		       strcmp((*a)->body.name, (*b)->body.name));

/* Return whether the N ROWS, which are sorted, are all at one place; false if there are none. */
static bool is_one_place(struct analyze_range *const *rows, size_t n)
{
	return n && !place_compare(rows[0], rows[n - 1]);
}

/*
 * A body that the two kernels have in one function, below different callers: wrappers come and go, and
 * compilers inline them or not. If each side has one such body of that name, it is the same.
 */
static void chains_match(struct analyze_diff_matching *m)
{
	struct lone lone[2] = { 0 };
	struct pointers all[2];
	struct join j;

	for (int side = 0; side < 2; side++)
		all[side] = pointers_sort(m->out->sides[side].rows, m->out->sides[side].n_rows,
					  sizeof(*m->out->sides[side].rows), place_compare);
	for (int side = 0; side < 2; side++)
		lone_collect(&lone[side], &all[side], &all[!side]);
	j = join_sorted(lone[0].rows, lone[0].n_rows, lone[1].rows, lone[1].n_rows,
			sizeof(*lone[0].rows), name_order);
	while (join_next(&j)) {
		struct analyze_range *const *here = j.a, *const *there = j.b;
		bool same = is_one_place(here, j.n_a) && is_one_place(there, j.n_b);

		for (size_t i = 0; same && i < j.n_a; i++)
			here[i]->chain = there[0]->chain;
	}
	for (int side = 0; side < 2; side++) {
		free(all[side].items);
		free(lone[side].rows);
	}
}

/*
 * The rows of one body in one context, N_A and N_B of them, which differ by line: those of one line
 * are the same; in other sources the first is the first and so on, if there are as many.
 */
static void rows_pair(struct analyze_diff_matching *m, const struct analyze_range *a, uint32_t n_a,
		      const struct analyze_range *b, uint32_t n_b)
{
	bool in_order = !m->out->same_source && n_a == n_b;
	uint32_t i = 0, j = 0;

	while (i < n_a || j < n_b) {
		bool has_a = i < n_a && (in_order || j == n_b || a[i].body.line <= b[j].body.line);
		bool has_b = j < n_b && (in_order || i == n_a || b[j].body.line <= a[i].body.line);

		analyze_diff_range_add(m, has_a ? &a[i] : NULL, has_b ? &b[j] : NULL,
				       has_b ? &b[j] : &a[i]);
		i += has_a;
		j += has_b;
	}
}

define_compare(body_order, struct analyze_range,
	       strcmp(a->body.name, b->body.name) ?: strcmp(a->context, b->context));

static void rows_match(struct analyze_diff_matching *m)
{
	struct analyze_ranges *a = &m->out->sides[BASELINE], *b = &m->out->sides[HARDENED];
	struct join j;

	for (int side = 0; side < 2; side++) {
		struct analyze_ranges *of = &m->out->sides[side];

		/* Another version of the source moves lines, and functions to other files. */
		for (uint32_t i = 0; m->out->same_source && i < of->n_rows; i++)
			of->rows[i].match_file = of->rows[i].body.file;
		sort_array(of->rows, of->n_rows, sizeof(*of->rows), row_compare);
		m->by_place[side] =
			pointers_sort(of->rows, of->n_rows, sizeof(*of->rows), place_compare);
		m->out->by_name[side] =
			pointers_sort(of->rows, of->n_rows, sizeof(*of->rows), body_order);
	}
	j = join_sorted(a->rows, a->n_rows, b->rows, b->n_rows, sizeof(*a->rows), pair_compare);
	while (join_next(&j))
		rows_pair(m, j.a, j.n_a, j.b, j.n_b);
	free(m->by_place[0].items);
	free(m->by_place[1].items);
}

/* Return whether A and B, of one list, are rows of one body at one place, or at several of its lines. */
static bool is_same_body(const struct analyze_diff_range *a, const struct analyze_diff_range *b)
{
	return !strcmp(a->body.function, b->body.function) && !strcmp(a->body.name, b->body.name) &&
	       !compare_text(a->match_chain, b->match_chain);
}

/* ---- rows that say nothing of their own ---- */

/*
 * Return whether ROW, of a body that only one side has, is nearly all in another of the N rows of its function, which
 * both have. A wrapper that only one of the kernels has is no change.
 */
static bool is_wrapper(const struct analyze_diff_range *row, const struct analyze_diff_range *rows,
		       uint32_t n)
{
	int side = row->sides[0].source ? BASELINE : HARDENED;
	double samples = row->sides[side].estimate.samples;

	if (!row->estimated || !row->sides[0].source == !row->sides[1].source)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (rows[i].sides[0].source && rows[i].sides[1].source &&
		    !strcmp(rows[i].context, row->context) &&
		    analyze_diff_range_is_inside(&rows[i], row, side) &&
		    rows[i].sides[side].estimate.samples >= NEARLY_ALL * samples)
			return true;
	return false;
}

/* Return whether ROW, a sum over contexts, is nearly all in one of them. The N rows are of its body. */
static bool is_one_context(const struct analyze_diff_range *row,
			   const struct analyze_diff_range *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (&rows[i] != row &&
		    rows[i].delta_total.value / row->delta_total.value >= NEARLY_ALL)
			return true;
	return false;
}

/* The N rows of one body at all its places: which of them only repeat others; all of the one line. */
static void body_reduce(struct analyze_diff_range *rows, uint32_t n)
{
	const char *location = NULL;
	bool one = true;

	for (uint32_t i = 0; i < n; i++) {
		if (!rows[i].has_hardened)
			continue;
		one = one && (!location || !compare_text(location, rows[i].location));
		location = rows[i].location;
	}
	for (uint32_t i = 0; i < n; i++) {
		/* The other kernel's source has it there too, although nothing was seen in this context. */
		if (one && location)
			rows[i].location = location;
		if (rows[i].estimated && analyze_is_sum(rows[i].context))
			rows[i].redundant |= is_one_context(&rows[i], rows, n);
	}
}

static void rows_reduce(struct analyze_diff_ranges *ranges)
{
	struct analyze_diff_range *rows = ranges->rows;

	for_each_run(i, j, ranges->n_rows, !strcmp(rows[i].body.function, rows[j].body.function)) {
		for (uint32_t k = i; k < j; k++)
			rows[k].redundant |= is_wrapper(&rows[k], rows + i, j - i);
	}
	for_each_run(i, j, ranges->n_rows, is_same_body(&rows[i], &rows[j]))
		body_reduce(rows + i, j - i);
}

void analyze_diff_ranges_match(struct analyze_diff_matching *m)
{
	chains_match(m);
	rows_match(m);
	rows_reduce(m->out);
}
