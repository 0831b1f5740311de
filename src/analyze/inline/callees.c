// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Goes down from the callee, at each step to the function that most samples have next on their stack, as long
 * as these are half of those below the callee. A sample that was taken where interrupts came on again does not tell
 * which function is next where its stack ends: it is left out there.
 */
#include "analyze/inline/callees.h"

#include "analyze/inline/bodies.h"
#include "analyze/stats/thresholds.h"
#include "base/alloc.h"
#include "kernel/image/name.h"

#define LEAST_SAMPLES 10
#define MAX_DEPTH     32
#define MAX_CHILDREN  256

/* A sample's stack, as functions: inlined bodies are left out. */
struct walk {
	const struct profile *p;
	const struct profile_stack *stack;
	uint32_t n; /* of its locations, from the outermost on, those that count */
	bool late; /* the time went in one of them, or in what they called with interrupts off */
};

/* The function that DEPTH, from the outermost on, lies in. */
static const char *function_at(const struct walk *w, uint32_t depth)
{
	const struct profile_location *l =
		&w->p->locations[w->stack->locations[w->stack->n_locations - 1 - depth]];

	return l->n_frames ? l->frames[l->n_frames - 1].name : "";
}

/* False for samples that say nothing of what takes the task's kernel code its time. */
static bool walk_init(struct walk *w, const struct profile *p, const struct profile_sample *s)
{
	*w = (struct walk){ .p = p, .stack = &p->stacks[s->stack] };
	if (profile_sample_event(p) || p->runs[s->run].kind == PROFILE_RUN_CONTROL ||
	    s->flags & PROFILE_SAMPLE_USER ||
	    profile_context_is(p, s->context, PROFILE_CONTEXT_IRQ) ||
	    analyze_sample_is_in_probe(p, s))
		return false;
	w->n = w->stack->n_locations;
	w->late = s->flags & PROFILE_SAMPLE_LATE;
	/* The time went before the place where interrupts came on again. */
	if (w->late && w->n)
		w->n--;
	return true;
}

/* Return the place in the stack of CALLEE, called by FUNCTION; UINT32_MAX: there is none. */
static uint32_t find_call(const struct walk *w, const char *function, const char *callee)
{
	for (uint32_t d = 1; d < w->n; d++)
		if (!kernel_name_compare(function_at(w, d), callee) &&
		    !kernel_name_compare(function_at(w, d - 1), function))
			return d;
	return UINT32_MAX;
}

struct child {
	const char *name;
	double samples;
};

static void count_child(struct child *children, uint32_t *n, const char *name, double samples)
{
	uint32_t i = 0;

	while (i < *n && kernel_name_compare(children[i].name, name))
		i++;
	if (i == MAX_CHILDREN)
		return;
	if (i == *n)
		children[(*n)++] = (struct child){ .name = name };
	children[i].samples += samples;
}

/* A sample that has the call on its stack, at AT. */
struct hit {
	struct walk walk;
	uint32_t at;
	double samples;
};

struct hits {
	vec_of(struct hit, hits);
	double all;
};

static void find_hits(struct hits *list, const struct profile *p, const char *function,
		      const char *callee)
{
	for (uint32_t i = 0; i < p->n_samples; i++) {
		struct hit hit = { .samples = (double)p->samples[i].count };

		if (!walk_init(&hit.walk, p, &p->samples[i]))
			continue;
		hit.at = find_call(&hit.walk, function, callee);
		if (hit.at == UINT32_MAX)
			continue;
		list->all += hit.samples;
		vec_push(list, hits, hit);
	}
}

/* The function that most have next. Takes off *TOLD those that do not tell. */
static struct child most_next(const struct hits *list, double *told)
{
	struct child children[MAX_CHILDREN], best = { .name = "" };
	uint32_t n_children = 0;

	vec_each(const struct hit, hit, list, hits)
		if (hit->at + 1 < hit->walk.n)
			count_child(children, &n_children, function_at(&hit->walk, hit->at + 1),
				    hit->samples);
		else if (hit->walk.late)
			*told -= hit->samples;
	for (uint32_t i = 0; i < n_children; i++)
		if (children[i].samples > best.samples)
			best = children[i];
	return best;
}

/* Goes one function down: those that have NAME next are left. */
static void go_down(struct hits *list, const char *name)
{
	uint32_t n = 0;

	vec_each(struct hit, hit, list, hits)
		if (++hit->at < hit->walk.n &&
		    !kernel_name_compare(function_at(&hit->walk, hit->at), name))
			list->hits[n++] = *hit;
	list->n_hits = n;
}

const char *analyze_callees(const struct profile *p, const char *function, const char *callee)
{
	struct hits list = { 0 };
	const char *deepest = NULL;
	double told;

	find_hits(&list, p, function, callee);
	told = list.all;
	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		struct child child = most_next(&list, &told);

		if (told < LEAST_SAMPLES || child.samples < MOST * told || !*child.name)
			break;
		deepest = child.name;
		go_down(&list, deepest);
	}
	free(list.hits);
	return deepest;
}

bool analyze_is_only_callee(const struct profile *p, const char *name, const char *function,
			    const char *callee)
{
	double all = 0, below = 0;

	vec_each(const struct profile_sample, s, p, samples) {
		bool on_stack = false;
		struct walk w;

		if (!walk_init(&w, p, s))
			continue;
		for (uint32_t d = 0; d < w.n && !on_stack; d++)
			on_stack = !kernel_name_compare(function_at(&w, d), name);
		if (!on_stack)
			continue;
		all += (double)s->count;
		if (find_call(&w, function, callee) != UINT32_MAX)
			below += (double)s->count;
	}
	return all > 0 && below >= NEARLY_ALL * all;
}
