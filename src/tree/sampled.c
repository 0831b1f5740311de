// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Open the time that contexts spent in no timed function by the stacks of samples: each sampled function or inlined body has
 * the part of that time that it has of those samples. The parts are the same in all repetitions, which have too few samples
 * each; how far they may be off is a node's doubt.
 */
#include <math.h>
#include <string.h>

#include "analyze/inline/bodies.h"
#include "analyze/inline/stacks.h"
#include "base/alloc.h"
#include "tree/fill.h"

/* Samples of a side by node: of sampled ones alone and with what they call, of contexts all that are in no timed function. */
struct counts {
	vec_of(double, own);
	vec_of(double, all);
};

static bool is_usable(const struct profile *p, const struct profile_sample *s)
{
	return p->runs[s->run].kind == PROFILE_RUN_PROBED && !(s->flags & PROFILE_SAMPLE_USER) &&
	       !analyze_sample_is_in_probe(p, s);
}

static void grow(struct counts *c, uint32_t n)
{
	while (c->n_own < n)
		vec_push(c, own, 0);
}

/* Return whether SIDE timed NODE; other nodes only have timed bodies in them, or the other side timed them. */
static bool is_timed(struct tree *t, uint32_t node, int side)
{
	uint32_t first = tree_first_column(t, side);

	for (uint32_t i = 0; i < t->n_repetitions[side]; i++)
		if (tree_value_of(t, node, first + i)->times > 0)
			return true;
	return false;
}

enum timed {
	NOT_TIMED,
	AROUND_TIMED, /* with a timed body in it, or timed on the other side only */
	TIMED,
};

/* Return whether SIDE timed a function of FRAMES in CONTEXT: these are directly below it. */
static enum timed find_timed(struct tree *t, uint32_t context, const struct analyze_frame *frames,
			     uint32_t n, int side)
{
	enum timed found = NOT_TIMED;

	for (uint32_t i = 0; i < n && found != TIMED; i++) {
		uint32_t node = tree_find(t, &(struct tree_key){ context, frames[i].name });

		if (node != TREE_NONE && !t->nodes[node].sampled)
			found = is_timed(t, node, side) ? TIMED : AROUND_TIMED;
	}
	return found;
}

/* Return the node of FRAMES below CONTEXT, which is added. */
static uint32_t node_of(struct tree *t, uint32_t context, const struct analyze_frame *frames,
			uint32_t n, int side)
{
	uint32_t node = context;

	for (uint32_t i = 0; i < n && t->n_nodes < t->max_nodes; i++) {
		if (frames[i].kind == ANALYZE_FRAME_OTHER)
			continue;
		node = tree_find_or_add(t, &(struct tree_key){ node, frames[i].name });
		t->nodes[node].sampled = true;
		t->nodes[node].inlined[side] |= frames[i].kind == ANALYZE_FRAME_INLINED;
	}
	return node;
}

static void count(struct tree *t, int side, struct counts *c)
{
	const struct profile *p = t->p[side];
	struct alloc_texts *texts = &t->texts;

	vec_each(const struct profile_sample, s, p, samples) {
		const struct tree_key key = { TREE_ROOT, p->contexts[s->context].name };
		uint32_t context = tree_find(t, &key), node, n;
		struct analyze_stack stack;
		enum timed timed;

		if (context == TREE_NONE || !is_usable(p, s))
			continue;
		stack = analyze_stack_of(p, s, texts);
		n = analyze_stack_sure(&stack);
		timed = find_timed(t, context, stack.frames, n, side);
		node = timed ? context : node_of(t, context, stack.frames, n, side);
		free(stack.frames);
		grow(c, t->n_nodes);
		if (timed != TIMED)
			c->own[node] += (double)s->count;
	}
}

static void sum_up(const struct tree *t, struct counts *c)
{
	grow(c, t->n_nodes);
	for (uint32_t i = 0; i < t->n_nodes; i++)
		vec_push(c, all, c->own[i]);
	for (uint32_t i = t->n_nodes; i-- > 1;)
		if (t->nodes[i].sampled)
			c->all[t->nodes[i].parent] += c->all[i];
}

/* The time of a context in no timed function, per run of a side, and the standard deviation of its mean. */
struct opened {
	double mean, deviation;
};

static struct opened opened_of(struct tree *t, uint32_t context, int side)
{
	uint32_t n = t->n_repetitions[side], first = tree_first_column(t, side);
	double values[TREE_REPETITIONS], error = 0;
	struct analyze_moments m;

	for (uint32_t i = 0; i < n; i++) {
		const struct tree_value *v = tree_value_of(t, context, first + i);

		values[i] = v->insns / t->runs[side][i];
		error += v->error / t->runs[side][i] / n;
	}
	m = analyze_moments_of(values, n);
	return (struct opened){ m.mean, hypot(error, n > 1 ? sqrt(m.variance / n) : 0) };
}

/* Return the standard deviation of what has K of N samples of what was OPENED. One sample more or less is always possible. */
static double doubt_of(double k, double n, const struct opened *opened)
{
	if (!(n > 0))
		return opened->mean;
	return hypot(sqrt(fmax(k, 1) * fmax(1 - k / n, 1 / n)) / n * opened->mean,
		     k / n * opened->deviation);
}

static uint32_t context_of(const struct tree *t, uint32_t node)
{
	while (t->nodes[node].parent != TREE_ROOT)
		node = t->nodes[node].parent;
	return node;
}

static void share_out(struct tree *t, int side, const struct counts *c)
{
	uint32_t first = tree_first_column(t, side);

	for (uint32_t i = 1; i < t->n_nodes; i++) {
		uint32_t context = context_of(t, i);
		double n = c->all[context];
		struct opened opened;

		if (!t->nodes[i].sampled)
			continue;
		opened = opened_of(t, context, side);
		t->nodes[i].doubt[side] = doubt_of(c->all[i], n, &opened);
		t->nodes[i].own_doubt[side] = doubt_of(c->own[i], n, &opened);
		for (uint32_t k = 0; k < t->n_repetitions[side] && n > 0; k++) {
			struct tree_value *v = tree_value_of(t, i, first + k);

			v->insns = c->own[i] / n * tree_value_of(t, context, first + k)->insns;
			v->seen = c->all[i] > 0;
		}
	}
	/* The rest of a context is its own. */
	for (uint32_t i = 1; i < t->n_nodes; i++)
		for (uint32_t k = 0; k < t->n_repetitions[side]; k++)
			if (t->nodes[i].parent == TREE_ROOT && c->all[i] > 0)
				tree_value_of(t, i, first + k)->insns *= c->own[i] / c->all[i];
}

void tree_fill_sampled(struct tree *t)
{
	struct counts counts[2] = {};

	if (profile_sample_event(t->p[0]) || profile_sample_event(t->p[1]) || !t->p[0]->n_samples ||
	    !t->p[1]->n_samples)
		return;
	for (int side = 0; side < 2; side++)
		count(t, side, &counts[side]);
	for (int side = 0; side < 2; side++) {
		sum_up(t, &counts[side]);
		share_out(t, side, &counts[side]);
		free(counts[side].own);
		free(counts[side].all);
	}
	for (uint32_t i = 1; i < t->n_nodes; i++)
		t->n_sampled += t->nodes[i].sampled;
}
