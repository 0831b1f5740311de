// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/why/why.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff/conclusion.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* Where nothing is known of noise: what comes and goes with timers differs by this share from run to run. */
#define ASYNCHRONOUS_CHANGE 0.25

/* Contexts that begin by themselves, whatever the command does, or may not begin before it ends ("close [rcu]"). */
static bool is_asynchronous(const char *name)
{
	static const char *const names[] = { "[irq]", "[softirq]", "[other tasks]", "[rcu]",
					     "[workqueue]" };
	const char *kind = strrchr(name, '[');

	for (size_t i = 0; kind && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(kind, names[i]))
			return true;
	return false;
}

/* One half of a side's runs against the other: how much there is to differ by on one kernel. */
static void add_noise(struct why *w, const struct profile *p)
{
	const struct why_side halves[2] = { { p, 0, p->n_runs / 2 },
					    { p, p->n_runs / 2, p->n_runs } };
	struct why_tree t;

	why_tree_init(&t, &halves[0], &halves[1]);
	for (uint32_t i = 0; i < w->n_contexts; i++) {
		struct why_context *c = &w->contexts[i];
		uint32_t node = why_tree_context(&t, c->name);
		struct why_causes other;

		if (node == WHY_NONE)
			continue;
		c->noise = fmax(c->noise, fabs(t.nodes[node].total[1] - t.nodes[node].total[0]));
		why_causes_init(&other, &t, node);
		why_causes_noise(&c->causes, &other);
		why_causes_deinit(&other);
	}
	why_tree_deinit(&t);
}

static double least(const struct why_context *c, double noise)
{
	double share =
		is_asynchronous(c->name) && noise == 0 ? ASYNCHRONOUS_CHANGE : WHY_LEAST_CHANGE;

	return fmax(fmax(share * c->total[0], c->floor), WHY_LEAST_NOISE * noise);
}

bool why_is_named(const struct why_context *c, uint32_t i)
{
	const struct why_cause *cause = &c->causes.items[i];

	return fabs(cause->delta) >= least(c, cause->noise) &&
	       fabs(cause->delta) >= (i ? WHY_FURTHER_SHARE : WHY_LEAST_SHARE) * fabs(c->delta);
}

static double largest_cause(const struct why_context *c)
{
	return c->causes.n_items ? fabs(c->causes.items[0].delta) : 0;
}

static int rank(const struct why_context *c)
{
	return analyze_is_start(c->name, c->calls[0], c->calls[1]) ? 0 : c->told + c->changed;
}

define_compare(
	by_size, struct why_context,
	rank(b) - rank(a) ?:
		compare_values(fmax(largest_cause(b), fabs(b->delta)), fmax(largest_cause(a), fabs(a->delta))) ?:
		strcmp(a->name, b->name))

	static void add_context(struct why *w, uint32_t node)
{
	const struct why_node *n = &w->tree.nodes[node];
	struct why_context c = { .name = n->name, .delta = n->total[1] - n->total[0] };

	memcpy(c.calls, n->calls, sizeof(c.calls));
	memcpy(c.total, n->total, sizeof(c.total));
	why_causes_init(&c.causes, &w->tree, node);
	c.noise = c.causes.waits;
	vec_push(w, contexts, c);
	w->total[0] += c.total[0];
	w->total[1] += c.total[1];
}

bool why_can_tell(const struct profile *p)
{
	return profile_is_exact(p) && p->n_runs && p->n_edges;
}

void why_init(struct why *w, const struct profile *baseline, const struct profile *hardened)
{
	const struct why_side a = { baseline, 0, baseline->n_runs };
	const struct why_side b = { hardened, 0, hardened->n_runs };

	*w = (struct why){ .has_noise = baseline->n_runs > 1 && hardened->n_runs > 1 };
	why_tree_init(&w->tree, &a, &b);
	for (uint32_t i = w->tree.nodes[0].first_child; i != WHY_NONE; i = w->tree.nodes[i].next)
		if (strcmp(w->tree.nodes[i].name, "[idle]") != 0)
			add_context(w, i);
	w->delta = w->total[1] - w->total[0];
	for (uint32_t i = 0; i < w->n_contexts; i++)
		w->contexts[i].floor = WHY_LEAST_OF_COMMAND * w->total[0];
	if (w->has_noise) {
		add_noise(w, baseline);
		add_noise(w, hardened);
	}
	for (uint32_t i = 0; i < w->n_contexts; i++) {
		struct why_context *c = &w->contexts[i];

		c->changed = fabs(c->delta) >= least(c, c->noise);
		c->told = c->changed || (c->causes.n_items && why_is_named(c, 0));
	}
	sort_array(w->contexts, w->n_contexts, sizeof(*w->contexts), by_size);
}

static bool is_same(struct analyze_changes *changes, const struct why_cause *cause)
{
	struct analyze_changed change;

	if (!changes)
		return true;
	return analyze_changes_of(changes, cause->function ?: cause->name, &change) &&
	       change.kind >= ANALYZE_CHANGE_REGISTERS && change.kind <= ANALYZE_CHANGE_SAME;
}

void why_compare_code(struct why *w, struct analyze_changes *changes)
{
	for (uint32_t i = 0; i < w->n_contexts; i++) {
		struct why_context *c = &w->contexts[i];

		for (uint32_t k = 0; c->told && k < c->causes.n_items; k++)
			if (why_is_named(c, k))
				c->causes.items[k].same_code =
					is_same(changes, &c->causes.items[k]);
	}
}

void why_deinit(struct why *w)
{
	for (uint32_t i = 0; i < w->n_contexts; i++)
		why_causes_deinit(&w->contexts[i].causes);
	free(w->contexts);
	why_tree_deinit(&w->tree);
	*w = (struct why){};
}
