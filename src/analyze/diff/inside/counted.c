// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loops and calls of two kernels have no addresses in common: loops are matched by the line and the inlined body they
 * are in, calls by the name of the callee.
 */
#include "analyze/diff/inside/counted.h"

#include <math.h>
#include <string.h>

#include "analyze/inline/callees.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* Less than this is no change: in instructions per call, and of the larger side. */
#define LEAST_INSNS 2.0

/* Looking for callees in samples: about so many nanoseconds. What is not looked for any more is not named. */
#define MAX_STEPS    4e9
#define SAMPLE_STEPS 500

/* A function whose blocks were counted. */
struct named {
	const char *name;
	double insns; /* its own, of all runs */
};

/* All calls of the functions of one name. */
struct timed {
	const char *name;
	double calls, time;
};

struct side {
	const struct profile *p;
	const struct analyze_loops *counted_loops;
	struct analyze_counted counted;
	struct named *functions; /* as P's blocks */
	struct pointers by_name; /* of them */
	vec_of(struct timed, timed); /* by name, each once */
	struct pointers loops; /* of COUNTED_LOOPS, by what they have in common */
};

define_compare(named_compare, struct named, strcmp(a->name, b->name));

define_compare(timed_compare, struct timed, strcmp(a->name, b->name));

define_compare(loop_compare, struct analyze_loop,
	       strcmp(a->context, b->context)                 ?:
		       strcmp(a->function, b->function)       ?:
		       compare_text(a->location, b->location) ?:
								compare_text(a->body, b->body));

static void timed_add(void *to, void *from)
{
	struct timed *a = to, *b = from;

	a->calls += b->calls;
	a->time += b->time;
}

static void timed_form(struct side *s)
{
	scoped_free struct timed *of_site = alloc_array(s->p->n_sites, sizeof(*of_site));

	vec_each(const struct profile_cell, cell, s->p, cells) {
		of_site[cell->site].calls += (double)cell->stats.calls;
		of_site[cell->site].time += (double)cell->stats.oncpu - (double)cell->stats.cost;
	}
	for (uint32_t i = 0; i < s->p->n_sites; i++) {
		of_site[i].name = s->p->sites[i].name;
		if (s->p->sites[i].kind == PROFILE_SITE_FUNCTION)
			vec_push(s, timed, of_site[i]);
	}
	vec_unite(s, timed, timed_compare, timed_add);
}

static void count_insns(struct named *function, const struct profile *p,
			const struct profile_block_counts *c)
{
	for (uint32_t b = 0; b < c->n_counts; b++)
		if (c->counts[b] != PROFILE_NOT_COUNTED)
			function->insns +=
				(double)c->counts[b] * p->blocks[c->blocks].items[b].insns;
}

static void side_init(struct side *s, const struct profile *p, const struct analyze_loops *loops)
{
	*s = (struct side){ .p = p, .counted_loops = loops };
	analyze_counted_init(&s->counted, p);
	s->functions = alloc_array(p->n_blocks, sizeof(*s->functions));
	for (uint32_t i = 0; i < p->n_blocks; i++)
		s->functions[i].name = p->sites[p->blocks[i].site].name;
	for (uint32_t i = 0; i < p->n_block_counts; i++)
		count_insns(&s->functions[p->block_counts[i].blocks], p, &p->block_counts[i]);
	s->by_name = pointers_sort(s->functions, p->n_blocks, sizeof(*s->functions), named_compare);
	s->loops = pointers_sort(loops->rows, loops->n_rows, sizeof(*loops->rows), loop_compare);
	timed_form(s);
}

static void side_deinit(struct side *s)
{
	analyze_counted_deinit(&s->counted);
	free(s->functions);
	free(s->by_name.items);
	free(s->timed);
	free(s->loops.items);
}

static bool differs(double a, double b, double least)
{
	double more = fabs(a) > fabs(b) ? fabs(a) : fabs(b);

	return fabs(a - b) > least && fabs(a - b) > ABOUT_EQUAL * more;
}

/* The functions of that name; *N: how many. */
static const void *const *functions_named(const struct side *s, const char *name, size_t *n)
{
	const struct named key = { .name = name };

	return pointers_find(&s->by_name, &key, n);
}

static bool has_function(const struct side *s, const char *name)
{
	size_t n;

	functions_named(s, name, &n);
	return n;
}

static struct analyze_counted_change change_of(enum analyze_counted_kind kind, const char *function)
{
	return (struct analyze_counted_change){ .kind = kind,
						.function = function,
						.often = { NAN, NAN },
						.cost = { NAN, NAN },
						.slow = { NAN, NAN } };
}

/* The loop of OTHER that is L of S: of several at one place, for the compiler makes two of one, the same one of them. */
static const struct analyze_loop *find_loop(const struct side *s, const struct analyze_loop *l,
					    const struct side *other)
{
	size_t n, n_other, i = 0;
	const void *const *own = pointers_find(&s->loops, l, &n);
	const void *const *others = pointers_find(&other->loops, l, &n_other);

	if (!l->location)
		return NULL;
	while (own[i] != l)
		i++;
	return i < n_other ? others[i] : NULL;
}

/* Add the change of L; if WAS is NULL, only the side that HARDENED says has it. */
static void add_loop(struct analyze_diff_counted *out, const struct analyze_loop *l,
		     const struct analyze_loop *was, bool hardened)
{
	struct analyze_counted_change row = change_of(ANALYZE_COUNTED_LOOP, l->function);

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

static void add_loops(struct analyze_diff_counted *out, const struct side *s,
		      const struct side *other, bool hardened)
{
	for (uint32_t i = 0; i < s->counted_loops->n_rows; i++) {
		const struct analyze_loop *l = &s->counted_loops->rows[i], *was;

		if (!analyze_is_sum(l->context) || !has_function(other, l->function))
			continue;
		was = find_loop(s, l, other);
		if (hardened || !was)
			add_loop(out, l, was, hardened);
	}
}

static const struct timed *timed_of(const struct side *s, const char *name)
{
	const struct timed key = { .name = name };

	return search_array(&key, s->timed, s->n_timed, sizeof(key), timed_compare);
}

/* Calls of the function NAME per call of FUNCTION, and what one takes; NAN where it was not timed. */
static double rate_of(const struct side *s, const char *name, const char *function, double *mean)
{
	const struct timed *timed = timed_of(s, name), *of = timed_of(s, function);

	*mean = timed && timed->calls > 0 ? timed->time / timed->calls : NAN;
	return timed && of && of->calls > 0 ? timed->calls / of->calls : NAN;
}

/*
 * Find the function that takes the time of a callee that ROW says is called more often than on the baseline. It is the
 * slow path if it was timed on both sides, and takes longer than a call of ROW's function did.
 */
static void find_through(struct analyze_counted_change *row, const struct side *sides)
{
	double was, is, was_mean, is_mean, mean;

	row->through = analyze_callees(sides[1].p, row->function, row->callee);
	if (!row->through)
		return;
	was = rate_of(&sides[0], row->through, row->function, &was_mean);
	is = rate_of(&sides[1], row->through, row->function, &is_mean);
	rate_of(&sides[0], row->function, row->function, &mean);
	if (is - was > LITTLE && was <= 1 && is_mean > mean &&
	    analyze_is_only_callee(sides[1].p, row->through, row->function, row->callee)) {
		row->slow[0] = was;
		row->slow[1] = fmin(is, 1);
	}
}

/* A function that others call by name, and how often on each side; NAN where a count is not known. */
struct callee {
	const char *name;
	uint32_t order;
	double calls[2];
};

struct callees {
	vec_of(struct callee, items);
	double of[2]; /* calls of the caller */
};

define_compare(callee_compare, struct callee, strcmp(a->name, b->name));

static void callee_add(void *to, void *from)
{
	struct callee *a = to, *b = from;

	a->calls[0] += b->calls[0];
	a->calls[1] += b->calls[1];
	if (b->order < a->order)
		a->order = b->order;
}

define_compare(order_compare, struct callee, compare_values(a->order, b->order));

/* Adds what FUNCTION calls on the side of NUMBER. */
static void callees_add(struct callees *list, const struct side *s, int number,
			const char *function)
{
	size_t n;
	const void *const *functions = functions_named(s, function, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t index = (uint32_t)((const struct named *)functions[i] - s->functions);
		const struct profile_blocks *blocks = &s->p->blocks[index];
		scoped_free uint64_t *counts = alloc_array(blocks->n_items, sizeof(*counts));

		list->of[number] += (double)analyze_counted_sum(
			&s->counted, index, ANALYZE_IN_ALL_CONTEXTS, counts, NULL);
		for (uint32_t b = 0; b < blocks->n_items; b++) {
			struct callee callee = { blocks->items[b].callee, list->n_items };

			callee.calls[number] =
				counts[b] == PROFILE_NOT_COUNTED ? NAN : (double)counts[b];
			if (callee.name)
				vec_push(list, items, callee);
		}
	}
}

/* Each function that FUNCTION calls on one of SIDES, once; takes off *STEPS what looking at samples takes. */
static void add_calls(struct analyze_diff_counted *out, const struct side *sides,
		      const char *function, double *steps)
{
	struct callees list = { 0 };

	callees_add(&list, &sides[0], 0, function);
	callees_add(&list, &sides[1], 1, function);
	/* Each function once, in the order in which they were first added. */
	vec_unite(&list, items, callee_compare, callee_add);
	sort_array(list.items, list.n_items, sizeof(*list.items), order_compare);
	for (uint32_t i = 0; i < list.n_items && list.of[0] > 0 && list.of[1] > 0; i++) {
		struct analyze_counted_change row = change_of(ANALYZE_COUNTED_CALL, function);
		double was = list.items[i].calls[0] / list.of[0];
		double is = list.items[i].calls[1] / list.of[1];

		if (isnan(was) || isnan(is) || !differs(was, is, LITTLE))
			continue;
		row.callee = list.items[i].name;
		row.often[0] = was;
		row.often[1] = is;
		if (is > was && (*steps -= SAMPLE_STEPS * (double)sides[1].p->n_samples) > 0)
			find_through(&row, sides);
		vec_push(out, rows, row);
	}
	free(list.items);
}

/* Instructions per run of all functions NAME itself. */
static double insns_of(const struct side *s, const char *name)
{
	double insns = 0, runs = profile_probed_runs(s->p);
	size_t n;
	const void *const *functions = functions_named(s, name, &n);

	for (size_t i = 0; i < n; i++)
		insns += ((const struct named *)functions[i])->insns;
	return runs > 0 ? insns / runs : 0;
}

define_compare(by_change, struct analyze_counted_change,
	       compare_values(b->insns, a->insns) ?: compare_values(a->order, b->order));

static void sort_rows(struct analyze_diff_counted *out, const struct side *sides)
{
	for (uint32_t i = 0; i < out->n_rows; i++) {
		struct analyze_counted_change *row = &out->rows[i];

		row->order = i;
		row->insns = fabs(insns_of(&sides[1], row->function) -
				  insns_of(&sides[0], row->function));
	}
	sort_array(out->rows, out->n_rows, sizeof(*out->rows), by_change);
}

void analyze_diff_counted_init(struct analyze_diff_counted *out, const struct profile *baseline,
			       const struct profile *hardened)
{
	const struct profile *profiles[2] = { baseline, hardened };
	double steps = MAX_STEPS;
	struct side sides[2];
	size_t n;

	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < 2; i++) {
		analyze_loops_init(&out->loops[i], profiles[i]);
		side_init(&sides[i], profiles[i], &out->loops[i]);
	}
	add_loops(out, &sides[1], &sides[0], true);
	add_loops(out, &sides[0], &sides[1], false);
	for (uint32_t i = 0; i < hardened->n_blocks; i++) {
		const char *function = hardened->sites[hardened->blocks[i].site].name;

		if (!has_function(&sides[0], function))
			continue;
		out->n_functions++;
		/* Functions of one name are taken together, with the first. */
		if (*functions_named(&sides[1], function, &n) == &sides[1].functions[i])
			add_calls(out, sides, function, &steps);
	}
	sort_rows(out, sides);
	for (uint32_t i = 0; i < 2; i++)
		side_deinit(&sides[i]);
}

void analyze_diff_counted_deinit(struct analyze_diff_counted *diff)
{
	analyze_loops_deinit(&diff->loops[0]);
	analyze_loops_deinit(&diff->loops[1]);
	free(diff->rows);
	memset(diff, 0, sizeof(*diff));
}
