// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loops, calls and paths of two kernels have no addresses in common: loops are matched by the line and the inlined
 * body they are in, calls by the name of what is called, paths by what they do.
 */
#include "analyze/diff/diff_paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/inline/callees.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* Less than this is no change: in instructions per call, and of the larger side. */
#define LEAST_INSNS 2.0
#define LEAST_PART  0.02
/* In calls, or in shares of the calls. */
#define LEAST_SHARE 0.05

struct side {
	const struct profile *p;
	const struct analyze_paths *paths;
	struct analyze_blocks blocks;
};

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

static struct analyze_path_change change_of(enum analyze_path_kind kind, const char *function)
{
	return (struct analyze_path_change){ .kind = kind,
					     .function = function,
					     .often = { NAN, NAN },
					     .cost = { NAN, NAN },
					     .slow = { NAN, NAN } };
}

static bool same_loop(const struct analyze_loop *a, const struct analyze_loop *b)
{
	return analyze_is_sum(b->context) && !strcmp(a->function, b->function) && a->location &&
	       !compare_text(a->location, b->location) && !compare_text(a->body, b->body);
}

/* How many loops before L on its side have the same name: the compiler makes two of one. */
static uint32_t rank(const struct side *s, const struct analyze_loop *l)
{
	uint32_t n = 0;
	const struct analyze_loop *o;

	for (o = s->paths->loops; o < l; o++)
		n += same_loop(l, o);
	return n;
}

static const struct analyze_loop *find_loop(const struct side *s, const struct analyze_loop *l,
					    uint32_t nth)
{
	uint32_t i;

	for (i = 0; i < s->paths->n_loops; i++)
		if (same_loop(l, &s->paths->loops[i]) && !nth--)
			return &s->paths->loops[i];
	return NULL;
}

/* Of L, only on the side that HARDENED says where WAS is NULL. */
static void add_loop(struct analyze_diff_paths *out, const struct analyze_loop *l,
		     const struct analyze_loop *was, bool hardened)
{
	struct analyze_path_change row = change_of(ANALYZE_PATH_LOOP, l->function);

	if (was ? !differs(l->insns_per_call, was->insns_per_call, LEAST_INSNS) :
		  !(l->insns_per_call > LEAST_INSNS))
		return;
	row.loop = l;
	if (was) {
		row.often[0] = was->trips;
		row.cost[0] = was->insns_per_iteration;
	}
	row.often[hardened] = l->trips;
	row.cost[hardened] = l->insns_per_iteration;
	vec_push(out, rows, row);
}

static double share_of(const struct analyze_trips *rows, size_t n, double low)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (rows[i].low == low)
			return rows[i].share;
	return 0;
}

/* The trip count, of N rows, that became more frequent most; NULL where none did by enough. */
static const struct analyze_trips *most_changed(const struct analyze_trips *is, size_t n,
						const struct analyze_trips *was, size_t n_was)
{
	const struct analyze_trips *most = NULL;
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

static size_t trips_of(const struct side *s, const struct analyze_loop *l,
		       struct analyze_trips **coarse)
{
	struct analyze_trips *rows = alloc_array(l->n_trips, sizeof(*rows));
	size_t n;
	uint32_t i;

	for (i = 0; i < l->n_trips; i++)
		rows[i] = s->paths->trips[l->first_trips + i].trips;
	n = analyze_trips_coarse(rows, l->n_trips, coarse);
	free(rows);
	return n;
}

/* The trip count of a loop that both sides have which became most frequent. */
static void add_trips(struct analyze_diff_paths *out, const struct side *s,
		      const struct analyze_loop *l, const struct side *other,
		      const struct analyze_loop *was)
{
	struct analyze_path_change row = change_of(ANALYZE_PATH_TRIPS, l->function);
	struct analyze_trips *is_rows, *was_rows;
	const struct analyze_trips *most;
	size_t n, n_was;

	if (!l->n_trips || !was->n_trips)
		return;
	n = trips_of(s, l, &is_rows);
	n_was = trips_of(other, was, &was_rows);
	most = most_changed(is_rows, n, was_rows, n_was);
	if (most) {
		row.loop = l;
		row.trips = *most;
		row.often[0] = share_of(was_rows, n_was, most->low);
		row.often[1] = most->share;
		vec_push(out, rows, row);
	}
	free(is_rows);
	free(was_rows);
}

static void add_loops(struct analyze_diff_paths *out, const struct side *s,
		      const struct side *other, bool hardened)
{
	uint32_t i;

	for (i = 0; i < s->paths->n_loops; i++) {
		const struct analyze_loop *l = &s->paths->loops[i], *was;

		if (!analyze_is_sum(l->context) || !has_function(other, l->function))
			continue;
		was = find_loop(other, l, rank(s, l));
		if (hardened || !was)
			add_loop(out, l, was, hardened);
		if (hardened && was)
			add_trips(out, s, l, other, was);
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

/* Calls of the function NAME per call of FUNCTION, and what one takes; NAN where it was not timed. */
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
 * Of a callee that ROW says is called more often than in baseline: which of the functions it leads to takes the
 * time. Where that was timed on both sides, and takes longer than a call of the function did, it is the slow path.
 */
static void find_through(struct analyze_path_change *row, const struct side *sides)
{
	double was, is, was_mean, is_mean, mean;

	row->through = analyze_callees(sides[1].p, row->function, row->callee);
	if (!row->through)
		return;
	was = rate_of(&sides[0], row->through, row->function, &was_mean);
	is = rate_of(&sides[1], row->through, row->function, &is_mean);
	rate_of(&sides[0], row->function, row->function, &mean);
	if (is - was > LEAST_SHARE && was <= 1 && is_mean > mean &&
	    analyze_is_only_callee(sides[1].p, row->through, row->function, row->callee)) {
		row->slow[0] = was;
		row->slow[1] = fmin(is, 1);
	}
}

static void add_call(struct analyze_diff_paths *out, const struct side *sides, const char *function,
		     const char *callee)
{
	struct analyze_path_change row = change_of(ANALYZE_PATH_CALL, function);
	double was = calls_of(&sides[0], function, callee);
	double is = calls_of(&sides[1], function, callee);

	if (isnan(was) || isnan(is) || !differs(was, is, LEAST_SHARE))
		return;
	row.callee = callee;
	row.often[0] = was;
	row.often[1] = is;
	if (is > was)
		find_through(&row, sides);
	vec_push(out, rows, row);
}

struct callees {
	const char **names;
	uint32_t n_names, cap_names;
};

static bool has_callee(const struct callees *list, const char *name)
{
	uint32_t i;

	for (i = 0; i < list->n_names; i++)
		if (!strcmp(list->names[i], name))
			return true;
	return false;
}

/* Each function that one of SIDES calls, once. */
static void add_calls(struct analyze_diff_paths *out, const struct side *sides,
		      const char *function)
{
	struct callees done = { 0 };
	uint32_t s, i, b;

	for (s = 0; s < 2; s++)
		for (i = 0; i < sides[s].p->n_blocks; i++) {
			const struct profile_blocks *blocks = &sides[s].p->blocks[i];

			if (strcmp(sides[s].p->sites[blocks->site].name, function))
				continue;
			for (b = 0; b < blocks->n_items; b++) {
				const char *callee = blocks->items[b].callee;

				if (!callee || has_callee(&done, callee))
					continue;
				vec_push(&done, names, callee);
				add_call(out, sides, function, callee);
			}
		}
	free(done.names);
}

static const struct analyze_path *find_path(const struct side *s, const struct analyze_path *path)
{
	uint32_t i;

	for (i = 0; i < s->paths->n_rows; i++)
		if (analyze_is_sum(s->paths->rows[i].context) &&
		    !strcmp(s->paths->rows[i].function, path->function) &&
		    !strcmp(s->paths->rows[i].does, path->does))
			return &s->paths->rows[i];
	return NULL;
}

static void add_paths(struct analyze_diff_paths *out, const struct side *sides,
		      const char *function)
{
	uint32_t i;

	for (i = 0; i < sides[1].paths->n_rows; i++) {
		const struct analyze_path *is = &sides[1].paths->rows[i], *was;
		struct analyze_path_change row;

		if (!analyze_is_sum(is->context) || strcmp(is->function, function) || !*is->does ||
		    is->share < 0.01)
			continue;
		was = find_path(&sides[0], is);
		if (!was || (!differs(is->share, was->share, LEAST_SHARE) &&
			     !differs(is->mean, was->mean, LEAST_INSNS)))
			continue;
		row = change_of(ANALYZE_PATH_PATH, function);
		row.does = is->does;
		row.often[0] = was->share;
		row.often[1] = is->share;
		row.cost[0] = was->mean;
		row.cost[1] = is->mean;
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
		analyze_paths_init(&out->sides[i], sides[i].p);
		sides[i].paths = &out->sides[i];
		analyze_blocks_init(&sides[i].blocks, sides[i].p);
	}
	add_loops(out, &sides[1], &sides[0], true);
	add_loops(out, &sides[0], &sides[1], false);
	for (i = 0; i < sides[1].blocks.n_functions; i++) {
		const struct analyze_block_function *f = &sides[1].blocks.functions[i];

		if (!analyze_is_sum(f->context) || !has_function(&sides[0], f->function))
			continue;
		out->n_functions++;
		add_calls(out, sides, f->function);
		add_paths(out, sides, f->function);
	}
	for (i = 0; i < 2; i++)
		analyze_blocks_deinit(&sides[i].blocks);
}

void analyze_diff_paths_deinit(struct analyze_diff_paths *diff)
{
	analyze_paths_deinit(&diff->sides[0]);
	analyze_paths_deinit(&diff->sides[1]);
	free(diff->rows);
	memset(diff, 0, sizeof(*diff));
}
