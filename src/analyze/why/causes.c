// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/why/causes.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"

#define ROUNDING 1e-3 /* ignore smaller changes (ticks per run), since rounding causes them */

struct finder {
	const struct tree_pair *t;
	struct why_causes *c;
	struct hash_index causes, parts, shares;
	uint32_t context; /* the context that is being explained */
	double charged; /* sum of all changes attributed so far */
	double sure; /* minimum change of a sampled node, in standard deviations */
	/* True: attribute no change of a sampled node, but add its absolute value to TRIED and its variance to DOUBTS. */
	bool only_tries;
	double tried, doubts;
};

static bool is_cause(const void *ctx, uint32_t item, const void *key)
{
	return !strcmp(((const struct why_causes *)ctx)->items[item].name, key);
}

static uint32_t cause_of(struct finder *f, const char *name)
{
	uint32_t found = hash_find_or_add(&f->causes, hash_string(name), is_cause, f->c, name,
					  f->c->n_items);

	if (found == f->c->n_items)
		vec_push(f->c, items, ((struct why_cause){ .name = name }));
	return found;
}

static bool is_part(const void *ctx, uint32_t item, const void *key)
{
	const struct why_part *a = &((const struct why_causes *)ctx)->parts[item], *b = key;

	return a->cause == b->cause && a->kind == b->kind && !strcmp(a->name, b->name);
}

static bool is_share(const void *ctx, uint32_t item, const void *key)
{
	const struct why_share *a = &((const struct why_causes *)ctx)->shares[item], *b = key;

	return a->cause == b->cause && a->context == b->context;
}

static void add_share(struct finder *f, uint32_t cause, double delta)
{
	const struct why_share share = { .cause = cause, .context = f->context };
	uint32_t found = hash_find_or_add(&f->shares, cause + f->context * 2654435761u, is_share,
					  f->c, &share, f->c->n_shares);

	if (found == f->c->n_shares)
		vec_push(f->c, shares, share);
	f->c->shares[found].delta += delta;
}

static double squares(const double deviations[2])
{
	return deviations[0] * deviations[0] + deviations[1] * deviations[1];
}

/* Attribute the change DELTA to the code of node BY. It occurs in NODE: BY or a callee. SCALE and RATIO are as in why_part. */
static void charge(struct finder *f, uint32_t by, enum why_kind kind, uint32_t node, double delta,
		   double scale, double ratio)
{
	const struct tree_pair_node *n = &f->t->nodes[node];
	struct why_part *part, new = { .kind = kind, .name = n->name, .most = -1 };
	uint32_t hash, found;

	if (fabs(delta) < ROUNDING)
		return;
	new.cause = cause_of(f, f->t->nodes[by].name);
	hash = hash_string(new.name) + new.cause *WHY_N_KINDS + kind;
	found = hash_find_or_add(&f->parts, hash, is_part, f->c, &new, f->c->n_parts);
	if (found == f->c->n_parts)
		vec_push(f->c, parts, new);
	part = &f->c->parts[found];
	part->delta += delta;
	f->c->items[new.cause].significance.known += n->error[0] + n->error[1];
	if (!n->sampled)
		f->c->items[new.cause].significance.known += n->own_doubt[0] + n->own_doubt[1];
	f->charged += delta;
	if (!f->c->brief)
		add_share(f, new.cause, delta);
	for (int side = 0; side < 2; side++)
		part->calls[side] +=
			kind == WHY_OFTEN && n->divided ? n->everywhere[side] : n->calls[side];
	if (fabs(delta) > part->most) {
		part->most = fabs(delta);
		part->node = node;
		part->scale = scale;
		part->ratio = ratio;
		part->inlined = n->inlined[1] || n->inlined[0];
	}
}

/*
 * Factors that are expected between the baseline and the hardened kernel below a callee. WORK: factor of the caller's work. CALLS:
 * factor of the callee's calls. If they differ, the caller may divide the same work into other pieces, or do other work. So all
 * factors between WORK and CALLS are expected.
 */
struct scale {
	double work, calls; /* equal unless a callee is called more or less often */
};

static double nearest(struct scale s, double ratio)
{
	return fmin(fmax(ratio, fmin(s.work, s.calls)), fmax(s.work, s.calls));
}

/* Return IS, the hardened kernel's value, minus the nearest value that S expects if the baseline's value is WAS. */
static double excess(double is, double was, struct scale s)
{
	return was > 0 ? is - nearest(s, is / was) * was : is;
}

static void explain(struct finder *f, uint32_t node, struct scale scale);

/* Set *RATIO to IS / WAS if *RATIO is NAN. Return whether IS / WAS is about *RATIO. */
static bool is_of_ratio(double *ratio, double was, double is)
{
	if (was > 0 && is > 0 && isnan(*ratio))
		*ratio = is / was;
	return was > 0 && is > 0 && fabs(is - *ratio * was) <= HALF_A_PERCENT * is;
}

/* Return the next line of N from index AT on that kernel SIDE executes, or NULL. */
static const struct tree_line *next_line(const struct tree_pair *t, const struct tree_pair_node *n,
					 uint32_t *at, int side)
{
	while (*at < n->n_lines) {
		const struct tree_line *line = &t->lines.items[n->first_line + (*at)++];

		if (line->times[side] > 0)
			return line;
	}
	return NULL;
}

/*
 * Divide the number of executions of N's lines in the hardened kernel by that in the baseline, and set *RATIO. Match lines in
 * order, since patches change line numbers. Return false if lines or their ratios differ. If N has no lines, leave *RATIO
 * unchanged.
 */
static bool lines_ratio(const struct tree_pair *t, const struct tree_pair_node *n, double *ratio)
{
	uint32_t at[2] = {};

	for (;;) {
		const struct tree_line *was = next_line(t, n, &at[0], 0);
		const struct tree_line *is = next_line(t, n, &at[1], 1);

		if (!was && !is)
			return true;
		if (!was || !is || compare_text(was->file, is->file) ||
		    !is_of_ratio(ratio, was->times[0], is->times[1]))
			return false;
	}
}

/*
 * Return the ratio of executions of the inlined function NODE, hardened divided by baseline; NAN: unknown. Use the ratio of NODE's
 * calls of other functions if NODE has no lines, or if the ratios of calls and lines are both above or both below SCALE. Otherwise
 * use the ratio of NODE's lines.
 */
static double body_ratio(const struct tree_pair *t, uint32_t node, double scale)
{
	const struct tree_pair_node *n = &t->nodes[node];
	double lines = NAN, calls = NAN;

	if (!lines_ratio(t, n, &lines))
		return NAN;
	for (uint32_t i = n->first_child; i != TREE_NONE; i = t->nodes[i].next)
		if (t->nodes[i].calls[0] + t->nodes[i].calls[1] > 0 &&
		    !is_of_ratio(&calls, t->nodes[i].calls[0], t->nodes[i].calls[1]))
			return lines;
	/* Prefer calls, since all calls are counted. If a line is compiled twice, only the higher of its two counts is known. */
	return isnan(lines) || (calls - scale) * (lines - scale) > 0 ? calls : lines;
}

/* Return the node that decides how often CALLEE is called: the caller NODE, or CALLEE itself if its real caller is unknown. */
static uint32_t by(const struct finder *f, uint32_t node, uint32_t callee)
{
	return f->t->tree->has_callers || f->t->nodes[node].parent != TREE_ROOT || !node ? node :
											   callee;
}

/*
 * Attribute the change of CALLEE and its callees to their own code. If NODE calls CALLEE more or less often than SCALE expects,
 * attribute the remaining change to NODE. Also attribute to NODE all calls from source lines that only one kernel has.
 */
static void explain_callee(struct finder *f, uint32_t node, uint32_t callee, struct scale scale)
{
	const struct tree_pair_node *c = &f->t->nodes[callee];
	uint32_t extra = tree_pair_extra(f->t, callee);
	struct scale below = scale, explained = scale;
	double times = NAN, more = 0, before = f->charged;

	if (c->calls[0] > 0 && c->calls[1] > 0)
		times = c->calls[1] / c->calls[0];
	else if (c->inlined[0] && c->inlined[1])
		times = body_ratio(f->t, callee, scale.calls);
	if (!isnan(times)) {
		below.calls = times;
		explained.calls = nearest(scale, times);
	}
	explain(f, callee, below);
	if (below.calls != explained.calls)
		more = excess(c->total[1] - (f->charged - before), c->total[0], explained);
	if (extra != TREE_NONE)
		more += excess(f->t->nodes[extra].total[1], f->t->nodes[extra].total[0], scale);
	charge(f, by(f, node, callee), WHY_OFTEN, callee, more, explained.calls,
	       below.calls / explained.calls);
}

/* Return NODE's own change plus the changes of callees that only one kernel has. Attribute the changes of all other callees. */
static double one_sided(struct finder *f, uint32_t node, struct scale scale)
{
	const struct tree_pair_node *n = &f->t->nodes[node];
	double sum = excess(n->self[1], n->self[0], scale);

	for (uint32_t i = n->first_child; i != TREE_NONE; i = f->t->nodes[i].next) {
		const struct tree_pair_node *callee = &f->t->nodes[i];

		if (callee->seen[0] && callee->seen[1] && !callee->extra)
			explain_callee(f, node, i, scale);
		else
			sum += one_sided(f, i, scale);
	}
	return sum;
}

/* Attribute the change of NODE's child I and of nodes below it to their own code as far as possible, and the rest to NODE. */
static void explain_child(struct finder *f, uint32_t node, uint32_t i, struct scale scale)
{
	const struct tree_pair_node *callee = &f->t->nodes[i];

	if (callee->seen[0] && callee->seen[1] && !callee->extra)
		explain_callee(f, node, i, scale);
	else if (!callee->extra && (callee->total[0] != 0 || callee->total[1] != 0))
		charge(f, by(f, node, i), callee->seen[1] ? WHY_NEW : WHY_GONE, i,
		       one_sided(f, i, scale), scale.calls, 1);
}

/* ---- nodes known from samples ---- */

/* A test whether a node and all nodes below it changed by RATIO. A node fails if its difference exceeds LEAST and chance. */
struct whole {
	double ratio, least;
	double sure; /* standard deviations that chance does not reach if many nodes are tested */
};

/* Return whether IS[1] differs from RATIO * IS[0] by over DEVIATIONS standard deviations. DOUBT[I] is the deviation of IS[I]. */
static bool is_other(const struct whole *w, const double is[2], const double doubt[2],
		     double deviations)
{
	double part[] = { w->ratio * doubt[0], doubt[1] };

	return fabs(is[1] - w->ratio * is[0]) > fmax(deviations * sqrt(squares(part)), w->least);
}

/* Return whether is_other() holds for NODE's own time or for any node below NODE. */
static bool has_other(const struct tree_pair *t, uint32_t node, const struct whole *w,
		      double deviations)
{
	const struct tree_pair_node *n = &t->nodes[node];

	if (is_other(w, n->self, n->own_doubt, deviations))
		return true;
	for (uint32_t i = n->first_child; i != TREE_NONE; i = t->nodes[i].next)
		if (is_other(w, t->nodes[i].total, t->nodes[i].doubt, deviations) ||
		    has_other(t, i, w, w->sure))
			return true;
	return false;
}

static bool has_nearly_all(const struct tree_pair_node *n, const double all[2])
{
	return n->total[0] >= NEARLY_ALL * all[0] && n->total[1] >= NEARLY_ALL * all[1];
}

/* Return whether the sampled NODE and all nodes below it changed by one factor, as if only the number of NODE's calls changed. */
static bool is_as_a_whole(const struct finder *f, uint32_t node, double delta)
{
	const struct tree_pair_node *n = &f->t->nodes[node];
	struct whole w = { n->total[1] / n->total[0], WORTH_A_WORD * fabs(delta), f->sure };

	return !(n->total[0] > 0) || !(n->total[1] > 0) ||
	       !has_other(f->t, node, &w, CHANCE_DEVIATIONS);
}

/* Attribute the change DELTA to the sampled NODE. DOUBT has the standard deviation of NODE's time in each kernel. */
static void charge_sampled(struct finder *f, uint32_t node, double delta, const double doubt[2],
			   struct scale scale)
{
	if (fabs(delta) < ROUNDING)
		return;
	if (f->only_tries) {
		f->tried += fabs(delta);
		f->doubts += squares(doubt);
	} else {
		charge(f, node, WHY_SELF, node, delta, scale.calls, 1);
		f->c->items[cause_of(f, f->t->nodes[node].name)].significance.doubts +=
			squares(doubt);
	}
}

/* For each node from NODE down: if its function DIFFERS, attribute the node's own change. Return the sum of these changes. */
static double explain_marked(struct finder *f, uint32_t node, struct scale scale)
{
	const struct tree_pair_node *n = &f->t->nodes[node];
	double delta = n->differs ? excess(n->self[1], n->self[0], scale) : 0;

	charge_sampled(f, node, delta, n->own_doubt, scale);
	for (uint32_t i = n->first_child; i != TREE_NONE; i = f->t->nodes[i].next)
		delta += explain_marked(f, i, scale);
	return delta;
}

/*
 * If the change of the sampled NODE is beyond chance, attribute it to the outermost function from NODE down that changed as a
 * whole. Skip a function with nearly ALL of the time, since its name says nothing new. Return the sum of the attributed changes.
 */
static double explain_sampled(struct finder *f, uint32_t node, const double all[2],
			      struct scale scale)
{
	const struct tree_pair_node *n = &f->t->nodes[node];
	bool is_all = has_nearly_all(n, all);
	double delta = excess(n->total[1], n->total[0], scale), sum = 0;

	if (!(fabs(delta) > f->sure * sqrt(squares(n->doubt))))
		return explain_marked(f, node, scale);
	if (is_all || !is_as_a_whole(f, node, delta))
		for (uint32_t i = n->first_child; i != TREE_NONE; i = f->t->nodes[i].next)
			sum += explain_sampled(f, i, all, scale);
	if (sum != 0 || is_all)
		return sum;
	charge_sampled(f, node, delta, n->doubt, scale);
	return delta;
}

static double explain_all_sampled(struct finder *f, uint32_t node, const double own[2],
				  struct scale scale)
{
	double sum = 0;

	for (uint32_t i = f->t->nodes[node].first_child; i != TREE_NONE; i = f->t->nodes[i].next)
		if (f->t->nodes[i].sampled)
			sum += explain_sampled(f, i, own, scale);
	return sum;
}

/*
 * NODE's time outside of timed functions changed by DELTA. Attribute this change to sampled functions. If their changes are far
 * larger than DELTA, time only moved between functions, so attribute nothing. Return the sum of the attributed changes.
 */
static double open_sampled(struct finder *f, uint32_t node, const double own[2], double delta,
			   struct scale scale)
{
	f->only_tries = true;
	f->tried = f->doubts = 0;
	explain_all_sampled(f, node, own, scale);
	f->only_tries = false;
	if (f->tried > OFFSET_TIMES * fabs(delta) + CHANCE_DEVIATIONS * sqrt(f->doubts))
		return 0;
	return explain_all_sampled(f, node, own, scale);
}

/*
 * Given NODE's callers, the hardened kernel should take SCALE times the baseline's time. Attribute the difference from this time.
 * The recursion is as deep as the calls in the tree; tree_pair_init() limits this depth.
 */
static void explain(struct finder *f, uint32_t node, struct scale scale)
{
	const struct tree_pair_node *n = &f->t->nodes[node];
	double own[] = { tree_pair_own(f->t, node, 0), tree_pair_own(f->t, node, 1) };
	double ratio = own[0] > 0 ? own[1] / own[0] : scale.calls;
	double delta = excess(own[1], own[0], scale), rest = delta;

	/* Samples divide a context's own time among untimed functions. The own time of a timed function is not divided. */
	if (n->parent == TREE_ROOT)
		rest -= open_sampled(f, node, own, delta, scale);
	charge(f, node, WHY_SELF, node, rest, nearest(scale, ratio), 1);
	for (uint32_t i = n->first_child; i != TREE_NONE; i = f->t->nodes[i].next)
		if (!f->t->nodes[i].sampled)
			explain_child(f, node, i, scale);
}

define_compare(by_cause, struct why_part,
	       compare_values(a->cause, b->cause)                     ?:
		       compare_values(fabs(b->delta), fabs(a->delta)) ?:
									strcmp(a->name, b->name));

define_compare(by_share, struct why_share,
	       compare_values(a->cause, b->cause)                     ?:
		       compare_values(fabs(b->delta), fabs(a->delta)) ?:
		       compare_values(a->context, b->context));

define_compare(by_rank, struct why_cause,
	       (int)b->patched - (int)a->patched                      ?:
		       (int)b->certain - (int)a->certain              ?:
		       compare_values(fabs(b->delta), fabs(a->delta)) ?:
									strcmp(a->name, b->name));

/* Return the function that contains the inlined NODE, or NULL if NODE is not inlined. */
static const char *function_around(const struct tree_pair *t, uint32_t node)
{
	const char *name = NULL;

	while (t->nodes[node].inlined[1] || t->nodes[node].inlined[0]) {
		node = t->nodes[node].parent;
		name = t->nodes[node].name;
	}
	return name;
}

static void find_waits(struct why_causes *c)
{
	static const char *const names[] = { "schedule", "schedule_timeout",
					     "preempt_schedule_common", "preempt_schedule_irq",
					     "io_schedule" };

	vec_each(struct why_part, part, c, parts) {
		double size = fabs(part->delta);

		for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
			if (strcmp(part->name, names[k]) != 0)
				continue;
			c->items[part->cause].significance.known += size;
			c->waits += size;
		}
	}
}

void why_causes_sort(struct why_causes *c)
{
	sort_array(c->items, c->n_items, sizeof(*c->items), by_rank);
	for (uint32_t i = 0; i < c->n_items; i++) {
		const struct why_cause *cause = &c->items[i];

		for (uint32_t k = 0; k < cause->n_parts; k++)
			c->parts[cause->first_part + k].cause = i;
		for (uint32_t k = 0; k < cause->n_shares; k++)
			c->shares[cause->first_share + k].cause = i;
	}
}

static void finish(struct finder *f)
{
	const struct tree_pair *t = f->t;
	struct why_causes *c = f->c;

	hash_deinit(&f->causes);
	hash_deinit(&f->parts);
	hash_deinit(&f->shares);
	find_waits(c);
	sort_array(c->parts, c->n_parts, sizeof(*c->parts), by_cause);
	for (uint32_t i = c->n_parts; i-- > 0;) {
		struct why_cause *cause = &c->items[c->parts[i].cause];

		cause->first_part = i;
		cause->n_parts++;
		cause->delta += c->parts[i].delta;
		cause->size += fabs(c->parts[i].delta);
	}
	sort_array(c->shares, c->n_shares, sizeof(*c->shares), by_share);
	for (uint32_t i = c->n_shares; i-- > 0;) {
		struct why_cause *cause = &c->items[c->shares[i].cause];

		cause->first_share = i;
		cause->n_shares++;
	}
	for (uint32_t i = 0; i < c->n_items; i++) {
		const struct why_part *part = &c->parts[c->items[i].first_part];
		uint32_t of = part->kind == WHY_SELF ? part->node : t->nodes[part->node].parent;

		c->items[i].function = function_around(t, of);
	}
	why_causes_sort(c);
}

void why_causes_init(struct why_causes *c, const struct tree_pair *t, uint32_t context,
		     bool by_itself)
{
	const struct tree_pair_node *n = &t->nodes[context];
	struct finder f = { .t = t, .c = c, .sure = tree_sure_deviations(t->tree) };
	double scale = 1;

	if (n->calls[0] > 0 && n->calls[1] > 0 && !by_itself)
		scale = n->calls[1] / n->calls[0];
	c->delta = (n->total[1] - scale * n->total[0]) / fmax(scale, 1);
	c->by_calls = n->total[1] - n->total[0] - c->delta;
	f.context = context;
	explain(&f, context, (struct scale){ scale, scale });
	vec_each(struct why_part, part, c, parts)
		part->delta /= fmax(scale, 1);
	vec_each(struct why_share, share, c, shares)
		share->delta /= fmax(scale, 1);
	finish(&f);
}

void why_causes_init_command(struct why_causes *c, const struct tree_pair *t,
			     bool (*is_of_command)(const char *context))
{
	struct finder f = { .t = t, .c = c, .sure = tree_sure_deviations(t->tree) };

	for (uint32_t i = t->nodes[TREE_ROOT].first_child; i != TREE_NONE; i = t->nodes[i].next) {
		if (!is_of_command(t->nodes[i].name))
			continue;
		c->delta += t->nodes[i].total[1] - t->nodes[i].total[0];
		f.context = i;
		explain_child(&f, TREE_ROOT, i, (struct scale){ 1, 1 });
	}
	finish(&f);
}

define_compare(by_name, struct why_cause, strcmp(a->name, b->name));

void why_causes_vary(struct why_causes *c, const struct why_causes *other, int side, double weight)
{
	struct pointers names =
		pointers_sort(other->items, other->n_items, sizeof(*other->items), by_name);

	for (uint32_t i = 0; i < c->n_items; i++) {
		size_t n;
		const void *const *found = pointers_find(&names, &c->items[i], &n);

		if (n)
			c->items[i].significance.squares[side] +=
				weight * pow(((const struct why_cause *)*found)->delta, 2);
	}
	free(names.items);
}

void why_causes_deinit(struct why_causes *c)
{
	for (uint32_t i = 0; i < c->n_items; i++)
		free(c->items[i].guard.condition);
	free(c->items);
	free(c->parts);
	free(c->shares);
	*c = (struct why_causes){};
}

void why_significance_judge(struct why_significance *d, double delta, const uint32_t runs[2],
			    double common, double looked_at)
{
	struct analyze_moments sides[2];
	struct analyze_welch welch;

	for (int i = 0; i < 2; i++)
		sides[i] = (struct analyze_moments){
			.n = runs[i],
			.mean = i ? delta : 0,
			.variance = runs[i] > 1 ? d->squares[i] / (runs[i] - 1) : NAN,
			.known =
				hypot(common / sqrt(runs[i]), hypot(d->known, sqrt(d->doubts / 2))),
		};
	welch = analyze_welch_form(&sides[0], &sides[1]);
	d->p = welch.p * looked_at > 1 ? 1 : welch.p * looked_at;
	d->ci = analyze_welch_interval(&welch, 1 - ANALYZE_SIGNIFICANT / looked_at);
	d->within_known =
		isnan(d->p) && fabs(delta) <= CHANCE_DEVIATIONS * hypot(d->known, sqrt(d->doubts));
}

double why_significance_noise(const struct why_significance *d)
{
	return (d->ci.high - d->ci.low) / 2;
}

enum why_sureness why_significance_sureness(const struct why_significance *d)
{
	if (isnan(d->p))
		return d->within_known ? WHY_CHANCE : WHY_LIKELY;
	if (d->p < ANALYZE_SIGNIFICANT)
		return WHY_SURE;
	return d->p < MOST ? WHY_LIKELY : WHY_CHANCE;
}
