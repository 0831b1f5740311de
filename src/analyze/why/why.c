// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/why/why.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"

/* Return whether the context NAME starts independently of the command, or after the call that queued it, as "close [rcu]" does. */
static bool is_asynchronous(const char *name)
{
	const char *kind = strrchr(name, '[');

	return kind && strcmp(kind, profile_context_name(PROFILE_CONTEXT_PAGE_FAULT)) != 0 &&
	       strcmp(kind, profile_context_name(PROFILE_CONTEXT_NONE)) != 0 &&
	       strcmp(kind, profile_queued_name(PROFILE_QUEUED_TASK_WORK)) != 0;
}

bool why_is_of_command(const char *context)
{
	return strcmp(context, "[idle]") != 0 && !is_asynchronous(context);
}

bool why_is_interrupt(const char *context)
{
	return !strcmp(context, profile_context_name(PROFILE_CONTEXT_IRQ)) ||
	       !strcmp(context, profile_queued_name(PROFILE_QUEUED_SOFTIRQ));
}

/* Return whether C starts independently of the command. The command's own name is no context, even if it contains "[". */
static bool comes_by_itself(const struct why_context *c)
{
	return !c->is_command && is_asynchronous(c->name);
}

static double largest_cause(const struct why_context *c)
{
	return c->causes.n_items ? fabs(c->causes.items[0].delta) : 0;
}

/* PAIR compares two repetitions of kernel SIDE. Add WEIGHT times the square of each cause's change to C's SQUARES[SIDE]. */
static void vary(struct why_context *c, const struct tree_pair *pair, int side, double weight)
{
	struct why_causes causes = { .brief = true };

	if (c->is_command)
		why_causes_init_command(&causes, pair, why_is_of_command);
	else
		why_causes_init(&causes, pair, c->node, c->by_itself);
	why_causes_vary(&c->causes, &causes, side, weight);
	why_causes_deinit(&causes);
}

static void add_repetitions(struct why *w, int side, uint32_t a, uint32_t b, double weight)
{
	const struct tree_part one = { side, a, 1 }, other = { side, b, 1 };
	scoped(tree_pair_deinit) struct tree_pair pair;

	tree_pair_init(&pair, &w->tree, &one, &other);
	vec_each(struct why_context, c, w, contexts)
		if (c->varying)
			vary(c, &pair, side, weight);
	if (w->command.varying)
		vary(&w->command, &pair, side, weight);
}

static bool is_large(const struct why_context *c, double delta)
{
	return fabs(delta) >= fmax(c->least * c->total[0], c->floor);
}

/* Return whether CAUSE is large in C. If C is the command, CAUSE may be large in just one of its contexts. */
static bool is_large_cause(const struct why *w, const struct why_context *c,
			   const struct why_cause *cause)
{
	if (is_large(c, cause->delta))
		return true;
	for (uint32_t i = 0; i < cause->n_shares && c->is_command; i++) {
		const struct why_share *share = &c->causes.shares[cause->first_share + i];
		const struct tree_pair_node *n = &w->pair.nodes[share->context];

		if (fabs(share->delta) >= fmax(c->least * n->total[0], c->floor))
			return true;
	}
	return false;
}

static bool has_large_cause(const struct why_context *c)
{
	return c->is_command || (c->causes.n_items && c->causes.items[0].large);
}

static bool begin_to_vary(struct why_context *c, bool (*is_wanted)(const struct why_context *c))
{
	c->varying = !c->varied && is_wanted(c);
	c->varied |= c->varying;
	return c->varying;
}

/* Compute how much causes vary between repetitions. This takes time, so do it only in contexts that IS_WANTED accepts. */
static void vary_causes(struct why *w, bool (*is_wanted)(const struct why_context *c))
{
	bool any = begin_to_vary(&w->command, is_wanted);

	vec_each(struct why_context, c, w, contexts)
		any |= begin_to_vary(c, is_wanted);
	for (int side = 0; side < 2 && w->tree.has_runs && any; side++) {
		uint32_t n = w->repetitions[side], pairs = n > 2 ? n : n - 1;

		/* Compare each repetition with the next, and the last with the first. A difference has twice the variance. */
		for (uint32_t i = 0; i < pairs; i++)
			add_repetitions(w, side, i, (i + 1) % n, (n - 1) / (2.0 * pairs));
	}
}

static double squares_of(const double *values, uint32_t n)
{
	return analyze_moments_of(values, n).variance * (n - 1);
}

/* For each context, add up the squared differences between kernel SIDE's repetitions and their mean in SQUARES[SIDE]. */
static void vary_contexts(struct why *w, int side)
{
	const struct tree *t = &w->tree;
	uint32_t n = w->repetitions[side];
	scoped_free double *totals = alloc_array((size_t)t->n_nodes * n, sizeof(*totals));
	scoped_free double *command = alloc_array(n, sizeof(*command));

	for (uint32_t i = t->n_nodes; i-- > 1;)
		for (uint32_t k = 0; k < n; k++) {
			const struct tree_value *v = &t->values[(size_t)i * tree_columns(t) +
								tree_first_column(t, side) + k];

			totals[i * n + k] += v->insns / t->runs[side][k];
			totals[t->nodes[i].parent * n + k] += totals[i * n + k];
			if (t->nodes[i].parent == TREE_ROOT && why_is_of_command(t->nodes[i].name))
				command[k] += totals[i * n + k];
		}
	vec_each(struct why_context, c, w, contexts)
		c->significance.squares[side] = squares_of(&totals[c->node * n], n);
	w->command.significance.squares[side] = squares_of(command, n);
}

define_compare(by_value, double, compare_values(*a, *b));

/*
 * Return the median of the contexts' standard deviations in ticks, without those below 1. In most contexts, the number of newly
 * allocated slabs or pages differs by one between runs. So assume this deviation in each context, even if few runs do not show it.
 */
static double common_deviation(const struct why *w)
{
	scoped_free double *found = alloc_array(w->n_contexts, sizeof(*found));
	uint32_t n = 0, df = w->repetitions[0] + w->repetitions[1] - 2;

	for (uint32_t i = 0; i < w->n_contexts && df; i++) {
		const double *squares = w->contexts[i].significance.squares;
		double deviation = sqrt((squares[0] + squares[1]) / df);

		if (deviation >= 1)
			found[n++] = deviation;
	}
	sort_array(found, n, sizeof(*found), by_value);
	return n ? found[n / 2] : 0;
}

/* Without HAS_NOISE, recordings may differ more than their runs do. P would then be too low, so WITHIN_KNOWN replaces P. */
static void limit(const struct why *w, struct why_significance *significance)
{
	if (w->tree.has_noise || isnan(significance->p))
		return;
	significance->within_known = !(significance->p < ANALYZE_SIGNIFICANT);
	significance->p = NAN;
}

/* Set P, CI and WITHIN_KNOWN for the change DELTA. LOOKED_AT is the number of tested changes. */
static void judge(const struct why *w, struct why_significance *significance, double delta,
		  double looked_at)
{
	why_significance_judge(significance, delta, w->repetitions, w->common, looked_at);
	limit(w, significance);
}

/* Adjust P for the number of contexts, since the largest causes of each context are reported. */
void why_judge(const struct why *w, struct why_significance *significance, double delta)
{
	judge(w, significance, delta, w->n_contexts);
}

static void judge_causes(struct why *w, struct why_context *c)
{
	for (uint32_t k = 0; k < c->causes.n_items; k++)
		why_judge(w, &c->causes.items[k].significance, c->causes.items[k].delta);
}

static void judge_all(struct why *w)
{
	struct why_context *command = &w->command;

	w->common = common_deviation(w);
	vec_each(struct why_context, c, w, contexts) {
		why_judge(w, &c->significance, c->delta);
		judge_causes(w, c);
	}
	judge(w, &command->significance, command->delta, 1);
	judge_causes(w, command);
}

bool why_is_called_otherwise(const struct why_context *c)
{
	return fabs(c->causes.by_calls) > fabs(c->causes.delta);
}

double why_caused(const struct why_context *c)
{
	return why_is_called_otherwise(c) ? c->causes.delta : c->delta - c->moved;
}

enum why_sureness why_is_named(const struct why_context *c, uint32_t i)
{
	const struct why_cause *cause = &c->causes.items[i];
	enum why_sureness sure = why_significance_sureness(&cause->significance);

	/* If the first cause is small and is reported only because it is CERTAIN, skip all causes that are not CERTAIN. */
	if (cause->patched)
		return WHY_SURE;
	if (cause->certain || c->causes.items[0].certain)
		return cause->certain ? WHY_SURE : WHY_CHANCE;
	if (!cause->large || fabs(cause->delta) < (i && !c->is_command ? QUARTER : WORTH_A_WORD) *
							  fabs(why_caused(c)))
		return WHY_CHANCE;
	return comes_by_itself(c) && c->changed < sure ? c->changed : sure;
}

/* Return whether C is the execve() that starts the command. It ranks last, since it is the first to read the command's files. */
static bool is_start(const struct why_context *c)
{
	return !strcmp(c->name, "execve") && !(c->calls[0] > 1) && !(c->calls[1] > 1);
}

/* Return C's rank. Higher ranks come first. If the code of the first cause differs, the cause counts like a change of C. */
static int rank(const struct why_context *c)
{
	bool known = c->causes.n_items && c->causes.items[0].other_code;

	return is_start(c) ? 0 : 3 * (int)c->sureness + (int)(known ? c->sureness : c->changed);
}

/* Return whether C is work of other tasks or kernel threads. It is listed after the command's contexts that wake these tasks. */
static bool is_of_others(const struct why_context *c)
{
	return c->name[0] == '[' && is_asynchronous(c->name) && !why_is_interrupt(c->name);
}

/* Return a number to sort contexts of one rank: the larger of C's largest cause and C's change. Ignore a change that may be chance. */
static double size_of(const struct why_context *c)
{
	return c->sureness && !c->changed ? largest_cause(c) :
					    fmax(largest_cause(c), fabs(c->delta));
}

define_compare(by_size, struct why_context,
	       rank(b) - rank(a)                              ?:
		       is_of_others(a) - is_of_others(b)      ?:
		       compare_values(size_of(b), size_of(a)) ?:
								strcmp(a->name, b->name));

/* COSTS: standard deviations of probe costs. CALLS: those of the times of calls. Both are sums over a node and all nodes below. */
struct uncertainty {
	double costs, calls;
};

static void add_uncertainty(struct uncertainty *u, const struct tree_pair *t, uint32_t node)
{
	const struct tree_pair_node *n = &t->nodes[node];

	u->costs += n->error[0] + n->error[1];
	if (!n->sampled)
		u->calls += n->own_doubt[0] + n->own_doubt[1];
	/* In exact recordings, skip the callees: they have no such uncertainty. */
	for (uint32_t i = t->tree->has_callers ? TREE_NONE : n->first_child; i != TREE_NONE;
	     i = t->nodes[i].next)
		add_uncertainty(u, t, i);
}

static void add_context(struct why *w, uint32_t node)
{
	const struct tree_pair_node *n = &w->pair.nodes[node];
	struct why_context c = { .name = n->name,
				 .node = node,
				 .moved = tree_pair_moved(&w->pair, node),
				 .total = { n->total[0], n->total[1] } };
	struct uncertainty u = {};

	c.total[0] -= c.moved;
	c.delta = c.total[1] - c.total[0];
	memcpy(c.calls, n->calls, sizeof(c.calls));
	c.by_itself = n->name[0] == '[' && is_asynchronous(n->name);
	why_causes_init(&c.causes, &w->pair, node, c.by_itself);
	add_uncertainty(&u, &w->pair, node);
	c.significance.known = c.causes.waits + u.costs + u.calls;
	vec_push(w, contexts, c);
	if (!why_is_of_command(n->name))
		return;
	w->command.total[0] += c.total[0];
	w->command.total[1] += c.total[1];
	w->command.moved += c.moved;
	w->command.significance.known += u.costs;
	/* Times of calls in different contexts vary independently, so their squares add up. */
	w->command.significance.doubts += u.calls * u.calls;
}

static void add_command(struct why *w)
{
	struct why_context *c = &w->command;

	c->name = w->pair.nodes[TREE_ROOT].name;
	c->node = TREE_ROOT;
	c->is_command = true;
	c->delta = c->total[1] - c->total[0];
	why_causes_init_command(&c->causes, &w->pair, why_is_of_command);
	c->significance.known += c->causes.waits;
}

static void set_large(const struct why *w, struct why_context *c)
{
	bool probed = !w->tree.has_callers;

	c->floor = w->command.total[0] * (probed && !w->tree.has_noise ? NEGLIGIBLE : SLAB_CACHES);
	c->least = comes_by_itself(c)                             ? QUARTER :
		   probed && w->p[0]->clock != PROFILE_CLOCK_INSN ? ONE_PERCENT :
								    HALF_A_PERCENT;
	for (uint32_t i = 0; i < c->causes.n_items; i++)
		c->causes.items[i].large = is_large_cause(w, c, &c->causes.items[i]);
}

/* Set CHANGED and SURENESS of C. If the command's whole change is small, only its causes set SURENESS. */
static void set_told(struct why_context *c)
{
	bool large = is_large(c, c->delta);

	c->changed = large || (c->is_command && fabs(c->delta) >= c->floor) ?
			     why_significance_sureness(&c->significance) :
			     WHY_CHANCE;
	/* Unlike a context's P, the command's P is not adjusted for many tests, and would often be "likely" by chance. */
	if (c->is_command && c->changed == WHY_LIKELY && !isnan(c->significance.p))
		c->changed = WHY_CHANCE;
	c->sureness = large ? c->changed : WHY_CHANCE;
	for (uint32_t i = 0; i < c->causes.n_items; i++)
		if (why_is_named(c, i) > c->sureness)
			c->sureness = why_is_named(c, i);
}

static bool has_calls(const struct profile *p)
{
	for (uint32_t i = 0; i < p->n_runs; i++)
		if (p->runs[i].kind == PROFILE_RUN_PROBED)
			return profile_is_exact(p) ? p->n_edges : p->n_cells;
	return false;
}

bool why_can_tell(const struct profile *a, const struct profile *b)
{
	return has_calls(a) && has_calls(b) && profile_is_exact(a) == profile_is_exact(b) &&
	       a->clock == b->clock;
}

void why_init(struct why *w, const struct profile *baseline, const struct profile *hardened)
{
	struct tree_part sides[2];

	*w = (struct why){ .p = { baseline, hardened } };
	why_switched_init(&w->switched, baseline, hardened);
	tree_init(&w->tree, baseline, hardened);
	for (int side = 0; side < 2; side++) {
		sides[side] = tree_side(&w->tree, side);
		w->repetitions[side] = sides[side].count;
	}
	tree_pair_init(&w->pair, &w->tree, &sides[0], &sides[1]);
	for (uint32_t i = w->pair.nodes[0].first_child; i != TREE_NONE; i = w->pair.nodes[i].next)
		if (strcmp(w->pair.nodes[i].name, "[idle]") != 0)
			add_context(w, i);
	add_command(w);
	set_large(w, &w->command);
	vec_each(struct why_context, c, w, contexts)
		set_large(w, c);
	for (int side = 0; side < 2 && w->tree.has_runs; side++)
		vary_contexts(w, side);
	vary_causes(w, has_large_cause);
	judge_all(w);
	vec_each(struct why_context, c, w, contexts)
		set_told(c);
	set_told(&w->command);
	sort_array(w->contexts, w->n_contexts, sizeof(*w->contexts), by_size);
}

/* Rows with a change no larger than the noise of the control recording, sorted by name and context. */
struct under_noise {
	vec_of(struct analyze_diff_row, rows);
};

static void add_under_noise(struct under_noise *u, const struct analyze_diff_rows *rows)
{
	vec_each(const struct analyze_diff_row, row, rows, rows)
		if (row->change.under_noise)
			vec_push(u, rows, *row);
}

/* If U has the row NAME in CONTEXT, add |DELTA| to the standard deviation in SIGNIFICANCE, judge DELTA again, and return true. */
static bool doubt(const struct why *w, const struct under_noise *u, const char *name,
		  const char *context, struct why_significance *significance, double delta)
{
	const struct analyze_diff_row key = { .name = name, .context = context };

	if (!search_array(&key, u->rows, u->n_rows, sizeof(key), analyze_diff_row_compare))
		return false;
	significance->known += fabs(delta);
	why_judge(w, significance, delta);
	return true;
}

static void doubt_causes(const struct why *w, const struct under_noise *u, struct why_context *c)
{
	const char *context = c->is_command ? ANALYZE_ALL_CONTEXTS : c->name;

	vec_each(struct why_cause, cause, &c->causes, items)
		doubt(w, u, cause->name, why_is_untimed(w, &c->causes, cause) ? NULL : context,
		      &cause->significance, cause->delta);
	set_told(c);
}

/* For changes that are no larger than the noise of the control recording, increase the uncertainty. */
static void doubt_contexts(struct why *w)
{
	struct under_noise u = {};

	if (w->diff->has_control) {
		add_under_noise(&u, &w->diff->syscalls);
		add_under_noise(&u, &w->diff->functions);
	}
	sort_array(u.rows, u.n_rows, sizeof(*u.rows), analyze_diff_row_compare);
	for (uint32_t i = 0; i < w->n_contexts && u.n_rows; i++) {
		struct why_context *c = &w->contexts[i];

		if (doubt(w, &u, c->name, NULL, &c->significance, c->delta))
			w->command.significance.known += fabs(c->delta);
		doubt_causes(w, &u, c);
	}
	if (u.n_rows) {
		judge(w, &w->command.significance, w->command.delta, 1);
		doubt_causes(w, &u, &w->command);
	}
	free(u.rows);
}

void why_set_command(struct why *w, const struct analyze_diff *diff)
{
	struct why_context *c = &w->command;

	w->diff = diff;
	doubt_contexts(w);
	vec_each(const struct analyze_diff_workload_row, row, diff, workload) {
		if (strcmp(row->name, ANALYZE_COMMAND_CPU) != 0 || isnan(row->delta))
			continue;
		w->cpu = row;
		w->outside = row->delta - c->delta;
		c->delta = row->delta;
		c->total[0] = row->sides[0].mean;
		c->total[1] = row->sides[1].mean;
		c->significance.ci = row->change.ci;
		/* P needs no adjustment for a single row. A change within the noise of the control is chance. */
		c->significance.p = row->change.under_noise ? 1 : row->change.p_single;
		limit(w, &c->significance);
		set_large(w, c);
		set_told(c);
	}
	sort_array(w->contexts, w->n_contexts, sizeof(*w->contexts), by_size);
}

static bool has_other_code(struct analyze_changes *changes, const char *function)
{
	struct analyze_changed change;

	return analyze_changes_of(changes, function, &change) &&
	       change.kind == ANALYZE_CHANGE_DIFFERS;
}

/*
 * Compare both kernels' code of CAUSE, and of the function that CAUSE is inlined into. Compilers may also keep a part of an
 * inlined function as a separate function. Set SAME_CODE if all compared code is the same.
 */
static void compare_own_code(struct why_cause *cause, struct analyze_changes *changes)
{
	const char *const names[] = { cause->name, cause->function };
	bool any = false, same = true;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct analyze_changed change;

		if (!names[i] || !analyze_changes_of(changes, names[i], &change))
			continue;
		any = true;
		same &= change.kind >= ANALYZE_CHANGE_REGISTERS &&
			change.kind <= ANALYZE_CHANGE_SAME;
		cause->other_code |= change.kind == ANALYZE_CHANGE_DIFFERS;
	}
	cause->same_code = any && same;
}

static void compare_code(const struct why *w, const struct why_causes *c, struct why_cause *cause,
			 struct analyze_changes *changes)
{
	const struct tree_pair_node *nodes = w->pair.nodes;
	uint32_t at = nodes[c->parts[cause->first_part].node].parent;

	cause->same_code = !changes;
	if (!changes)
		return;
	compare_own_code(cause, changes);
	for (; !cause->other_code && at != TREE_ROOT && !cause->caller; at = nodes[at].parent)
		if (!nodes[at].inlined[1] && has_other_code(changes, nodes[at].name))
			cause->caller = nodes[at].name;
}

/* At the tree node with PART's largest change, return the change per call of the function that is responsible for PART. */
static double per_call(const struct tree_pair *t, const struct why_part *part)
{
	const struct tree_pair_node *n = &t->nodes[part->node];
	uint32_t of = part->kind == WHY_SELF ? part->node : n->parent;
	double calls[] = { tree_pair_calls(t, of, 0), tree_pair_calls(t, of, 1) };

	return part->kind == WHY_SELF ?
		       tree_pair_own(t, of, 1) / calls[1] - tree_pair_own(t, of, 0) / calls[0] :
		       part->most / calls[1];
}

/* Return whether cause I of C has different code in the two kernels, but is too small to report. */
static bool is_candidate(const struct why_context *c, uint32_t i)
{
	return c->sureness < WHY_SURE && c->causes.items[i].other_code && !why_is_named(c, i);
}

static bool has_candidate(const struct why_context *c)
{
	for (uint32_t i = 0; i < c->causes.n_items; i++)
		if (is_candidate(c, i))
			return true;
	return false;
}

/* Set CHANGED and SURENESS of C, which has CERTAIN causes. C's change counts even if it is small. */
static void tell_certain(struct why_context *c)
{
	bool sure = why_significance_sureness(&c->significance) == WHY_SURE;

	c->changed = sure && !comes_by_itself(c) ? WHY_SURE : WHY_CHANCE;
	c->sureness = WHY_SURE;
	why_causes_sort(&c->causes);
}

static uint32_t count_candidates(const struct why_context *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->causes.n_items; i++)
		n += is_candidate(c, i);
	return n;
}

/* Set CERTAIN of C's candidates that are significant. LOOKED_AT, the number of candidates and contexts, adjusts p-values. */
static void find_certain(const struct why *w, struct why_context *c, uint32_t looked_at)
{
	bool any = false;

	for (uint32_t i = 0; i < c->causes.n_items; i++) {
		struct why_cause *cause = &c->causes.items[i];

		if (!is_candidate(c, i))
			continue;
		judge(w, &cause->significance, cause->delta, looked_at);
		cause->certain = why_significance_sureness(&cause->significance) == WHY_SURE;
		any |= cause->certain;
	}
	if (any)
		tell_certain(c);
}

void why_find_certain(struct why *w)
{
	uint32_t n = w->n_contexts;

	vary_causes(w, has_candidate);
	vec_each(const struct why_context, c, w, contexts)
		n += count_candidates(c);
	vec_each(struct why_context, c, w, contexts)
		find_certain(w, c, n);
	find_certain(w, &w->command, n);
	sort_array(w->contexts, w->n_contexts, sizeof(*w->contexts), by_size);
}

/* Return whether cause I of C is reported, or would be if it were certain and its code differed between the kernels. */
static bool is_of_interest(const struct why *w, const struct why_context *c, uint32_t i)
{
	const struct why_part *part = &c->causes.parts[c->causes.items[i].first_part];

	return (c->sureness && why_is_named(c, i)) ||
	       (c->sureness < WHY_SURE && fabs(per_call(&w->pair, part)) >= FEW_INSTRUCTIONS);
}

static void compare_codes(const struct why *w, struct why_context *c,
			  struct analyze_changes *changes)
{
	for (uint32_t k = 0; k < c->causes.n_items; k++)
		if (is_of_interest(w, c, k))
			compare_code(w, &c->causes, &c->causes.items[k], changes);
}

void why_compare_code(struct why *w, struct analyze_changes *changes)
{
	vec_each(struct why_context, c, w, contexts)
		compare_codes(w, c, changes);
	compare_codes(w, &w->command, changes);
	why_find_certain(w);
}

void why_set_patches(struct why *w, struct why_patches *patches)
{
	struct why_context *c = &w->command;

	w->patches = *patches;
	*patches = (struct why_patches){};
	for (uint32_t i = 0; i < c->causes.n_items; i++) {
		struct why_cause *cause = &c->causes.items[i];
		const struct why_part *part = &c->causes.parts[cause->first_part];
		struct why_patched found;

		cause->patched = why_significance_sureness(&cause->significance) == WHY_SURE &&
				 fabs(cause->delta) >= c->floor &&
				 fabs(per_call(&w->pair, part)) >= FEW_INSTRUCTIONS &&
				 why_patched_find(&w->patches, &w->pair, part, &found);
		if (cause->patched)
			c->sureness = WHY_SURE;
	}
	why_causes_sort(&c->causes);
}

void why_deinit(struct why *w)
{
	for (uint32_t i = 0; i < w->n_contexts; i++)
		why_causes_deinit(&w->contexts[i].causes);
	why_causes_deinit(&w->command.causes);
	free(w->contexts);
	tree_pair_deinit(&w->pair);
	tree_deinit(&w->tree);
	why_switched_deinit(&w->switched);
	analyze_static_keys_deinit(&w->keys);
	why_patches_deinit(&w->patches);
	*w = (struct why){};
}
