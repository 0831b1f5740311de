// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loops, calls and paths of two kernels have no addresses in common: loops are matched by the line and the inlined
 * body they are in, calls by the name of what is called, paths by what they do.
 */
#include "analyze/diff_paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/paths.h"
#include "base/alloc.h"

#define ALL "*"

/* Less than this is not told: in instructions a call, and of the larger side. */
#define LEAST_INSNS 2.0
#define LEAST_PART  0.02
/* In calls, or in shares of the calls. */
#define LEAST_SHARE 0.05

struct side {
	const struct profile *p;
	struct analyze_paths paths;
	struct analyze_blocks blocks;
};

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool differs(double a, double b, double least)
{
	double more = fabs(a) > fabs(b) ? fabs(a) : fabs(b);

	return fabs(a - b) > least && fabs(a - b) > LEAST_PART * more;
}

static bool has_function(const struct side *s, const char *function)
{
	uint32_t i;

	for (i = 0; i < s->blocks.n_functions; i++)
		if (!strcmp(s->blocks.functions[i].function, function))
			return true;
	return false;
}

/* "loop at mm/slub.c:1907 (shuffle_freelist) in allocate_slab". For free(). */
static char *loop_name(const struct analyze_loop *l)
{
	if (l->location && l->body)
		return alloc_printf("loop at %s (%s) in %s", l->location, l->body, l->function);
	if (l->location)
		return alloc_printf("loop at %s in %s", l->location, l->function);
	return alloc_printf("loop at %s+%.0f", l->function, l->offset);
}

static bool same_loop(const struct analyze_loop *a, const struct analyze_loop *b)
{
	return !strcmp(b->context, ALL) && !strcmp(a->function, b->function) && a->location &&
	       same(a->location, b->location) && same(a->body, b->body);
}

/* How many loops before L on its side have the same name: the compiler makes two of one. */
static uint32_t rank(const struct side *s, const struct analyze_loop *l)
{
	uint32_t n = 0;
	const struct analyze_loop *o;

	for (o = s->paths.loops; o < l; o++)
		n += same_loop(l, o);
	return n;
}

static const struct analyze_loop *find_loop(const struct side *s, const struct analyze_loop *l,
					    uint32_t nth)
{
	uint32_t i;

	for (i = 0; i < s->paths.n_loops; i++)
		if (same_loop(l, &s->paths.loops[i]) && !nth--)
			return &s->paths.loops[i];
	return NULL;
}

static void tell_loop(struct analyze_diff_paths *out, const struct analyze_loop *l,
		      const struct analyze_loop *was, const char *side)
{
	char *name = loop_name(l), *text = NULL;

	if (!was && l->insns_per_call > LEAST_INSNS)
		text = alloc_printf("%s: %.1f turns a call at %.1f instructions, only in %s", name,
				    l->turns, l->insns_per_turn, side);
	else if (was && differs(l->insns_per_call, was->insns_per_call, LEAST_INSNS))
		text = alloc_printf("%s: %.1f turns a call at %.1f instructions, %.1f at %.1f in "
				    "baseline",
				    name, l->turns, l->insns_per_turn, was->turns,
				    was->insns_per_turn);
	if (text)
		vec_push(out, texts, text);
	free(name);
}

static void tell_loops(struct analyze_diff_paths *out, const struct side *s,
		       const struct side *other, bool hardened)
{
	uint32_t i;

	for (i = 0; i < s->paths.n_loops; i++) {
		const struct analyze_loop *l = &s->paths.loops[i], *was;

		if (strcmp(l->context, ALL) || !has_function(other, l->function))
			continue;
		was = find_loop(other, l, rank(s, l));
		if (hardened || !was)
			tell_loop(out, l, was, hardened ? "hardened" : "baseline");
	}
}

/* How often a call of FUNCTION calls CALLEE by name; NAN where a count is not known. */
static double calls_of(const struct side *s, const char *function, const char *callee)
{
	double calls = 0, of = 0;
	uint32_t i, b;

	for (i = 0; i < s->p->n_blocks; i++) {
		const struct profile_blocks *blocks = &s->p->blocks[i];
		uint64_t *counts;

		if (strcmp(s->p->sites[blocks->site].name, function))
			continue;
		counts = alloc_array(blocks->n_items, sizeof(*counts));
		of += (double)profile_block_counts_sum(s->p, blocks, PROFILE_ALL_CONTEXTS, counts);
		for (b = 0; b < blocks->n_items; b++)
			if (blocks->items[b].callee && !strcmp(blocks->items[b].callee, callee))
				calls += counts[b] == PROFILE_NOT_COUNTED ? NAN : (double)counts[b];
		free(counts);
	}
	return of > 0 ? calls / of : NAN;
}

static void tell_calls(struct analyze_diff_paths *out, const char *function, const char *callee,
		       double was, double is)
{
	if (isnan(was) || isnan(is) || !differs(was, is, LEAST_SHARE))
		return;
	if (was <= 1 && is <= 1)
		vec_push(out, texts,
			 alloc_printf("%s calls %s in %.3g %% of its calls, in %.3g %% in baseline",
				      function, callee, 100 * is, 100 * was));
	else
		vec_push(out, texts,
			 alloc_printf("%s calls %s %.3g times a call, %.3g times in baseline",
				      function, callee, is, was));
}

/* Each function that one of SIDES calls is told of once. */
static void tell_callees(struct analyze_diff_paths *out, const struct side *sides,
			 const char *function)
{
	const char **done = NULL;
	uint32_t n = 0, cap = 0, s, i, b, k;

	for (s = 0; s < 2; s++)
		for (i = 0; i < sides[s].p->n_blocks; i++) {
			const struct profile_blocks *blocks = &sides[s].p->blocks[i];

			if (strcmp(sides[s].p->sites[blocks->site].name, function))
				continue;
			for (b = 0; b < blocks->n_items; b++) {
				const char *callee = blocks->items[b].callee;

				for (k = 0; callee && k < n && strcmp(done[k], callee); k++)
					;
				if (!callee || k < n)
					continue;
				if (n == cap) {
					cap = cap ? 2 * cap : 16;
					done = alloc_resize(done, cap, sizeof(*done));
				}
				done[n++] = callee;
				tell_calls(out, function, callee,
					   calls_of(&sides[0], function, callee),
					   calls_of(&sides[1], function, callee));
			}
		}
	free(done);
}

static const struct analyze_path *find_path(const struct side *s, const struct analyze_path *path)
{
	uint32_t i;

	for (i = 0; i < s->paths.n_rows; i++)
		if (!strcmp(s->paths.rows[i].context, ALL) &&
		    !strcmp(s->paths.rows[i].function, path->function) &&
		    !strcmp(s->paths.rows[i].does, path->does))
			return &s->paths.rows[i];
	return NULL;
}

static void tell_paths(struct analyze_diff_paths *out, const struct side *sides,
		       const char *function)
{
	uint32_t i;

	for (i = 0; i < sides[1].paths.n_rows; i++) {
		const struct analyze_path *is = &sides[1].paths.rows[i], *was;

		if (strcmp(is->context, ALL) || strcmp(is->function, function) || !*is->does ||
		    is->share < 0.01)
			continue;
		was = find_path(&sides[0], is);
		if (!was || (!differs(is->share, was->share, LEAST_SHARE) &&
			     !differs(is->mean, was->mean, LEAST_INSNS)))
			continue;
		vec_push(
			out, texts,
			alloc_printf("%s, the path of %s: %.3g %% of the calls at %.0f, %.3g %% at "
				     "%.0f in baseline",
				     function, is->does, 100 * is->share, is->mean,
				     100 * was->share, was->mean));
	}
}

void analyze_diff_paths_init(struct analyze_diff_paths *out, const struct profile *baseline,
			     const struct profile *hardened)
{
	struct side sides[2] = { { .p = baseline }, { .p = hardened } };
	uint32_t i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < 2; i++) {
		analyze_paths_init(&sides[i].paths, sides[i].p);
		analyze_blocks_init(&sides[i].blocks, sides[i].p);
	}
	tell_loops(out, &sides[1], &sides[0], true);
	tell_loops(out, &sides[0], &sides[1], false);
	for (i = 0; i < sides[1].blocks.n_functions; i++) {
		const struct analyze_block_function *f = &sides[1].blocks.functions[i];

		if (strcmp(f->context, ALL) || !has_function(&sides[0], f->function))
			continue;
		out->n_functions++;
		tell_callees(out, sides, f->function);
		tell_paths(out, sides, f->function);
	}
	for (i = 0; i < 2; i++) {
		analyze_paths_deinit(&sides[i].paths);
		analyze_blocks_deinit(&sides[i].blocks);
	}
}

void analyze_diff_paths_deinit(struct analyze_diff_paths *diff)
{
	while (diff->n_texts)
		free(diff->texts[--diff->n_texts]);
	free(diff->texts);
	memset(diff, 0, sizeof(*diff));
}
