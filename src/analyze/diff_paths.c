// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loops, calls and paths of two kernels have no addresses in common: loops are matched by the line and the inlined
 * body they are in, calls by the name of what is called, paths by what they do.
 */
#include "analyze/diff_paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/below.h"
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

static const char *keep(struct analyze_diff_paths *out, char *text)
{
	vec_push(out, texts, text);
	return text;
}

/* Of L, only on the side that HARDENED says where WAS is NULL. */
static void tell_loop(struct analyze_diff_paths *out, const struct analyze_loop *l,
		      const struct analyze_loop *was, bool hardened)
{
	struct analyze_path_change row = {
		.kind = "loop",
		.function = l->function,
		.often = { was ? was->turns : NAN, was ? was->turns : NAN },
		.cost = { was ? was->insns_per_turn : NAN, was ? was->insns_per_turn : NAN },
	};
	char *name;

	if (was ? !differs(l->insns_per_call, was->insns_per_call, LEAST_INSNS) :
		  !(l->insns_per_call > LEAST_INSNS))
		return;
	row.often[hardened] = l->turns;
	row.cost[hardened] = l->insns_per_turn;
	name = loop_name(l);
	row.what = keep(out, name);
	if (was)
		row.text = keep(out, alloc_printf("%s: %.1f turns a call at %.1f instructions, "
						  "%.1f at %.1f in baseline",
						  name, l->turns, l->insns_per_turn, was->turns,
						  was->insns_per_turn));
	else
		row.text = keep(out, alloc_printf("%s: %.1f turns a call at %.1f instructions, "
						  "only in %s",
						  name, l->turns, l->insns_per_turn,
						  hardened ? "hardened" : "baseline"));
	vec_push(out, rows, row);
}

static double share_of(const struct analyze_turns *rows, size_t n, double low)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (rows[i].low == low)
			return rows[i].share;
	return 0;
}

/* The number of turns, of N rows, that became more frequent most; NULL where none did by enough to tell. */
static const struct analyze_turns *most_changed(const struct analyze_turns *is, size_t n,
						const struct analyze_turns *was, size_t n_was)
{
	const struct analyze_turns *most = NULL;
	double by = LEAST_SHARE;
	size_t i;

	for (i = 0; i < n; i++) {
		double more = is[i].share - share_of(was, n_was, is[i].low);

		if (more > by) {
			by = more;
			most = &is[i];
		}
	}
	return most;
}

static size_t turns_of(const struct side *s, const struct analyze_loop *l,
		       struct analyze_turns **coarse)
{
	struct analyze_turns *rows = alloc_array(l->n_turns, sizeof(*rows));
	size_t n;
	uint32_t i;

	for (i = 0; i < l->n_turns; i++)
		rows[i] = s->paths.turns[l->first_turns + i].turns;
	n = analyze_turns_coarse(rows, l->n_turns, coarse);
	free(rows);
	return n;
}

/* In how many calls a loop that both sides have turns how often. */
static void tell_turns(struct analyze_diff_paths *out, const struct side *s,
		       const struct analyze_loop *l, const struct side *other,
		       const struct analyze_loop *was)
{
	struct analyze_path_change row = { .kind = "turns",
					   .function = l->function,
					   .cost = { NAN, NAN } };
	struct analyze_turns *is_rows, *was_rows;
	const struct analyze_turns *most;
	char *name, *words;
	size_t n, n_was;

	if (!l->n_turns || !was->n_turns)
		return;
	n = turns_of(s, l, &is_rows);
	n_was = turns_of(other, was, &was_rows);
	most = most_changed(is_rows, n, was_rows, n_was);
	if (most) {
		row.often[0] = share_of(was_rows, n_was, most->low);
		row.often[1] = most->share;
		name = loop_name(l);
		words = analyze_turns_words(most);
		row.what = keep(out, alloc_printf("%s: %s turns", name, words));
		row.text =
			keep(out, alloc_printf("%s in %.3g %% of the calls, in %.3g %% in "
					       "baseline",
					       row.what, 100 * row.often[1], 100 * row.often[0]));
		free(words);
		free(name);
		vec_push(out, rows, row);
	}
	free(is_rows);
	free(was_rows);
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
			tell_loop(out, l, was, hardened);
		if (hardened && was)
			tell_turns(out, s, l, other, was);
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

/* Calls of the function NAME a call of FUNCTION, and what one takes; NAN where it was not timed. */
static double rate_of(const struct side *s, const char *name, const char *function, double *mean)
{
	double calls = 0, of = 0, time = 0;
	bool timed = false;
	uint32_t i;

	for (i = 0; i < s->p->n_sites; i++)
		timed |= s->p->sites[i].kind == PROFILE_SITE_FUNCTION &&
			 !strcmp(s->p->sites[i].name, name);
	for (i = 0; i < s->p->n_cells; i++) {
		const struct profile_cell *cell = &s->p->cells[i];
		const struct profile_site *site = &s->p->sites[cell->site];

		if (site->kind != PROFILE_SITE_FUNCTION)
			continue;
		if (!strcmp(site->name, function))
			of += (double)cell->stats.calls;
		if (strcmp(site->name, name) != 0)
			continue;
		calls += (double)cell->stats.calls;
		time += (double)cell->stats.oncpu - (double)cell->stats.cost;
	}
	*mean = calls > 0 ? time / calls : NAN;
	return timed && of > 0 ? calls / of : NAN;
}

/*
 * Of a callee that ROW says is called more often than in baseline: what below it takes the time. Where that
 * was timed on both sides, and takes longer than a call of the function did, it is the slow path. Its name,
 * and the sentence.
 */
static void tell_below(struct analyze_diff_paths *out, struct analyze_path_change *row,
		       const struct side *sides)
{
	double was, is, was_mean, is_mean, mean;

	row->through = analyze_below(sides[1].p, row->function, row->what);
	if (!row->through)
		return;
	was = rate_of(&sides[0], row->through, row->function, &was_mean);
	is = rate_of(&sides[1], row->through, row->function, &is_mean);
	rate_of(&sides[0], row->function, row->function, &mean);
	if (is - was > LEAST_SHARE && was <= 1 && is_mean > mean &&
	    analyze_is_only_below(sides[1].p, row->through, row->function, row->what))
		row->text = keep(out,
				 alloc_printf("%s takes its slow path, %s by way of %s, in %.3g %% "
					      "of its calls, in %.3g %% in baseline",
					      row->function, row->through, row->what,
					      100 * fmin(is, 1), 100 * was));
	else
		row->text = keep(out, alloc_printf("%s; most of its time in hardened is %s's",
						   row->text, row->through));
}

static void tell_calls(struct analyze_diff_paths *out, const struct side *sides,
		       const char *function, const char *callee)
{
	double was = calls_of(&sides[0], function, callee);
	double is = calls_of(&sides[1], function, callee);
	struct analyze_path_change row = {
		.kind = "call",
		.function = function,
		.what = callee,
		.often = { was, is },
		.cost = { NAN, NAN },
	};

	if (isnan(was) || isnan(is) || !differs(was, is, LEAST_SHARE))
		return;
	if (was <= 1 && is <= 1)
		row.text = keep(out, alloc_printf("%s calls %s in %.3g %% of its calls, in %.3g %% "
						  "in baseline",
						  function, callee, 100 * is, 100 * was));
	else
		row.text = keep(out, alloc_printf("%s calls %s %.3g times a call, %.3g times in "
						  "baseline",
						  function, callee, is, was));
	if (is > was)
		tell_below(out, &row, sides);
	vec_push(out, rows, row);
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
				tell_calls(out, sides, function, callee);
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
		struct analyze_path_change row;

		if (strcmp(is->context, ALL) || strcmp(is->function, function) || !*is->does ||
		    is->share < 0.01)
			continue;
		was = find_path(&sides[0], is);
		if (!was || (!differs(is->share, was->share, LEAST_SHARE) &&
			     !differs(is->mean, was->mean, LEAST_INSNS)))
			continue;
		row = (struct analyze_path_change){
			.kind = "path",
			.function = function,
			.what = keep(out, alloc_strdup(is->does)),
			.often = { was->share, is->share },
			.cost = { was->mean, is->mean },
		};
		row.text = keep(out, alloc_printf("%s, the path of %s: %.3g %% of the calls at "
						  "%.0f, %.3g %% at %.0f in baseline",
						  function, is->does, 100 * is->share, is->mean,
						  100 * was->share, was->mean));
		vec_push(out, rows, row);
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
	free(diff->rows);
	memset(diff, 0, sizeof(*diff));
}
