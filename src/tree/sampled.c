// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Divide the own time of contexts and of timed functions by samples: a function that is on a tenth of the samples' stacks gets a
 * tenth of the time. All repetitions get the same fractions, since a single repetition has too few samples. DOUBT is a node's
 * uncertainty.
 */
#include <math.h>
#include <string.h>

#include "analyze/inline/bodies.h"
#include "analyze/inline/stacks.h"
#include "base/alloc.h"
#include "tree/fill.h"

/* Numbers of one kernel's samples, indexed by node. OWN: samples in the node itself. ALL: also samples in sampled nodes below. */
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

/* Return whether kernel SIDE timed NODE. If not, NODE contains a timed inlined function, or only the other kernel timed NODE. */
static bool is_timed(struct tree *t, uint32_t node, int side)
{
	uint32_t first = tree_first_column(t, side);

	for (uint32_t i = 0; i < t->n_repetitions[side]; i++)
		if (tree_value_of(t, node, first + i)->times > 0)
			return true;
	return false;
}

/* The node whose own time includes a sample: the innermost timed node on the sample's stack, or the context. */
struct opened {
	uint32_t node;
	uint32_t first; /* index of the first frame below NODE */
	/* True: add no nodes below NODE. Only the other kernel times a function there, or a timed function is inlined there. */
	bool closed;
};

static struct opened find_opened(struct tree *t, uint32_t context,
				 const struct analyze_frame *frames, uint32_t n, int side)
{
	struct opened found = { .node = context };
	uint32_t at = context;

	for (uint32_t i = 0; i < n; i++) {
		/* A function's parent is its context; an inlined function's parent is its outer function. */
		uint32_t node = tree_find(t, &(struct tree_key){ at, frames[i].name });

		if (node == TREE_NONE)
			node = tree_find(t, &(struct tree_key){ context, frames[i].name });
		if (node == TREE_NONE || t->nodes[node].sampled)
			continue;
		at = node;
		found.closed = !is_timed(t, node, side);
		if (!found.closed) {
			found.node = node;
			found.first = i + 1;
		}
	}
	return found;
}

/* Return the node of the innermost of N FRAMES, which are below NODE on a stack. Add missing nodes. */
static uint32_t node_of(struct tree *t, uint32_t node, const struct analyze_frame *frames,
			uint32_t n, int side)
{
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
		struct opened opened;

		if (context == TREE_NONE || !is_usable(p, s))
			continue;
		stack = analyze_stack_of(p, s, texts);
		n = analyze_stack_sure(&stack);
		opened = find_opened(t, context, stack.frames, n, side);
		node = opened.closed ? opened.node :
				       node_of(t, opened.node, stack.frames + opened.first,
					       n - opened.first, side);
		free(stack.frames);
		grow(c, t->n_nodes);
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

/* A node's own time per run in one kernel, and the standard deviation of the mean. */
struct own {
	double mean, deviation;
};

static struct own own_of(struct tree *t, uint32_t node, int side)
{
	uint32_t n = t->n_repetitions[side], first = tree_first_column(t, side);
	double values[TREE_REPETITIONS], error = 0;
	struct analyze_moments m;

	for (uint32_t i = 0; i < n; i++) {
		const struct tree_value *v = tree_value_of(t, node, first + i);

		values[i] = v->insns / t->runs[side][i];
		error += v->error / t->runs[side][i] / n;
	}
	m = analyze_moments_of(values, n);
	return (struct own){ m.mean, hypot(hypot(error, t->nodes[node].own_doubt[side]),
					   n > 1 ? sqrt(m.variance / n) : 0) };
}

/* K of N samples give K / N of OWN's time to a node. Return the standard deviation of this time, at least that for one sample. */
static double doubt_of(double k, double n, const struct own *own)
{
	if (!(n > 0))
		return own->mean;
	return hypot(sqrt(fmax(k, 1) * fmax(1 - k / n, 1 / n)) / n * own->mean,
		     k / n * own->deviation);
}

/* Return the nearest node from NODE upwards that is not sampled. A sampled NODE's time is a part of that node's own time. */
static uint32_t opened_at(const struct tree *t, uint32_t node)
{
	while (t->nodes[node].sampled)
		node = t->nodes[node].parent;
	return node;
}

static void share_out(struct tree *t, int side, const struct counts *c)
{
	uint32_t first = tree_first_column(t, side);

	for (uint32_t i = 1; i < t->n_nodes; i++) {
		uint32_t at = opened_at(t, i);
		double n = c->all[at];
		struct own own;

		if (at == i)
			continue;
		own = own_of(t, at, side);
		t->nodes[i].doubt[side] = doubt_of(c->all[i], n, &own);
		t->nodes[i].own_doubt[side] = doubt_of(c->own[i], n, &own);
		for (uint32_t k = 0; k < t->n_repetitions[side] && n > 0; k++) {
			struct tree_value *v = tree_value_of(t, i, first + k);

			v->insns = c->own[i] / n * tree_value_of(t, at, first + k)->insns;
			v->seen = c->all[i] > 0;
		}
	}
	/* Reduce a timed node's time to the fraction of samples in the node itself. */
	for (uint32_t i = 1; i < t->n_nodes; i++)
		for (uint32_t k = 0; k < t->n_repetitions[side]; k++)
			if (!t->nodes[i].sampled && c->all[i] > 0)
				tree_value_of(t, i, first + k)->insns *= c->own[i] / c->all[i];
}

void tree_fill_sampled(struct tree *t)
{
	struct counts counts[2] = {};

	if (!t->p[0]->n_samples || !t->p[1]->n_samples)
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
		t->n_untimed +=
			t->nodes[i].sampled && t->nodes[opened_at(t, i)].parent == TREE_ROOT;
}
