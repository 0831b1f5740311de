// SPDX-License-Identifier: GPL-2.0-or-later
#include "tree/lines.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "base/number.h"

#define LINES_MAX 512 /* time and memory of a comparison grow by the square of this */

struct side {
	vec_of(struct tree_line *, items); /* sorted by file and number */
	bool *matched;
	vec_of(const struct tree_line *, same); /* items with a match on the other side */
	vec_of(const struct tree_line *, left); /* items without a match */
};

static void collect(struct side *s, const struct tree_pair *t, uint32_t node, int which)
{
	const struct tree_pair_node *n = &t->nodes[node];

	for (uint32_t i = 0; i < n->n_lines; i++)
		if (t->lines.items[n->first_line + i].insns[which] > 0)
			vec_push(s, items, &t->lines.items[n->first_line + i]);
	s->matched = alloc_array(s->n_items, sizeof(*s->matched));
}

static bool is_near(double was, double is)
{
	return fabs(was - is) <= HALF_A_PERCENT * fmax(was, is);
}

static bool is_same(const struct tree_line *a, const struct tree_line *b, double scale)
{
	return is_near(a->insns[0] * scale, b->insns[1]) &&
	       is_near(a->times[0] * scale, b->times[1]) && !compare_text(a->file, b->file);
}

/* Argument of lines_same(). SCALE multiplies the baseline's figures. */
struct matching {
	const struct side *s;
	double scale;
};

static bool lines_same(const void *arg, uint32_t i, uint32_t j)
{
	const struct matching *m = arg;

	return is_same(m->s[0].items[i], m->s[1].items[j], m->scale);
}

static void match(struct side s[2], double scale)
{
	scoped_free uint32_t *of = alloc_array(s[0].n_items, sizeof(*of));

	subsequence_match(of, s[0].n_items, s[1].n_items, lines_same,
			  &(struct matching){ s, scale });
	for (uint32_t i = 0; i < s[0].n_items; i++)
		if (of[i] != SUBSEQUENCE_NONE)
			s[0].matched[i] = s[1].matched[of[i]] = true;
}

static void split(struct side *s)
{
	for (uint32_t i = 0; i < s->n_items; i++)
		if (s->matched[i])
			vec_push(s, same, s->items[i]);
		else
			vec_push(s, left, s->items[i]);
}

/* Collect and match the lines of NODE in both kernels. Return false if there are too many lines. Always call sides_deinit(). */
static bool sides_init(struct side s[2], const struct tree_pair *t, uint32_t node, double scale)
{
	for (int which = 0; which < 2; which++) {
		s[which] = (struct side){};
		collect(&s[which], t, node, which);
	}
	if (s[0].n_items > LINES_MAX || s[1].n_items > LINES_MAX)
		return false;
	match(s, scale);
	split(&s[0]);
	split(&s[1]);
	return true;
}

static void sides_deinit(struct side s[2])
{
	for (int which = 0; which < 2; which++) {
		free(s[which].items);
		free(s[which].matched);
		free(s[which].same);
		free(s[which].left);
	}
}

static double sum_left(const struct side *s, int which, double scale)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->n_left; i++)
		sum += s->left[i]->insns[which] * scale;
	return sum;
}

/* Return how often LINE is executed per call of its function, or NAN if this is unknown. */
static double iterations_of(const struct tree_pair *t, uint32_t node, const struct tree_line *line,
			    int which)
{
	return line && line->times[which] > 0 ?
		       line->times[which] / tree_pair_calls(t, node, which) :
		       NAN;
}

/* Return whether some lines match, and all matching lines have equal numbers in both kernels. */
static bool is_numbered_alike(const struct side s[2])
{
	for (uint32_t i = 0; i < s[0].n_same; i++)
		if (s[0].same[i]->number != s[1].same[i]->number)
			return false;
	return s[0].n_same;
}

/* Return S's line without a match that has LINE's number, or NULL. */
static const struct tree_line *left_at(const struct side *s, const struct tree_line *line)
{
	for (uint32_t i = 0; i < s->n_left; i++)
		if (s->left[i]->number == line->number && same_text(s->left[i]->file, line->file))
			return s->left[i];
	return NULL;
}

/*
 * Set FOUND->iterations, IN_LOOP and CONDITION for the unmatched line MOST of S[WHICH]. If lines are REPEATED, the other kernel's
 * line has the same index. Otherwise it has the same number, and is known only if no patch moved lines.
 */
static void set_iterations(struct tree_lines *found, const struct tree_pair *t, uint32_t node,
			   const struct side s[2], int which, uint32_t most)
{
	const struct tree_line *line = s[which].left[most], *other = NULL;

	if (found->kind == TREE_LINES_REPEATED)
		other = s[!which].left[most];
	else if (is_numbered_alike(s))
		other = left_at(&s[!which], line);
	found->iterations[which] = iterations_of(t, node, line, which);
	found->iterations[!which] = iterations_of(t, node, other, !which);
	for (uint32_t i = 0; i < s[which].n_same; i++)
		found->in_loop |= is_near(s[which].same[i]->times[which], line->times[which]);
	for (uint32_t i = 0; i < t->tree->n_loops && !found->condition; i++)
		if (t->tree->loops[i].node == node && t->tree->loops[i].side == which &&
		    is_near(t->tree->loops[i].times, line->times[which]))
			found->condition = t->tree->loops[i].condition;
}

/* Return whether the instructions of all unmatched lines differ by one factor between the kernels. Set *RATIO to the factor. */
static bool is_repeated(const struct side s[2], const double rest[2], double scale, double *ratio)
{
	/* A single line is not enough, since any line and its replacement have some ratio. */
	if (s[0].n_left != s[1].n_left || s[0].n_left < 2 || rest[0] <= 0)
		return false;
	*ratio = rest[1] / rest[0];
	if (fabs(*ratio - 1) < WORTH_A_WORD)
		return false;
	for (uint32_t i = 0; i < s[0].n_left; i++) {
		double was = s[0].left[i]->insns[0] * scale, is = s[1].left[i]->insns[1];

		if (fabs(is - *ratio * was) > WORTH_A_WORD * *ratio * was)
			return false;
	}
	return true;
}

/* Set FOUND to the range of S's unmatched lines in the file of the line with most instructions. Return the index of this line. */
static uint32_t set_place(struct tree_lines *found, const struct side *s, int which)
{
	const struct tree_line *most;
	uint32_t at = 0;

	for (uint32_t i = 1; i < s->n_left; i++)
		if (s->left[i]->insns[which] > s->left[at]->insns[which])
			at = i;
	most = s->left[at];
	found->file = most->file;
	found->first = found->last = most->number;
	for (uint32_t i = 0; i < s->n_left; i++) {
		const struct tree_line *l = s->left[i];

		/* Skip lines with few instructions: the compiler may have moved them from other lines. */
		if (compare_text(l->file, most->file) ||
		    l->insns[which] < LITTLE * most->insns[which])
			continue;
		found->first = l->number < found->first ? l->number : found->first;
		found->last = l->number > found->last ? l->number : found->last;
	}
	return at;
}

struct tree_lines tree_lines_find(const struct tree_pair *t, uint32_t node, double scale)
{
	struct tree_lines found = { .iterations = { NAN, NAN } };
	struct side s[2];

	if (sides_init(s, t, node, scale) && s[0].n_items + s[1].n_items) {
		const double rest[2] = { sum_left(&s[0], 0, scale), sum_left(&s[1], 1, 1) };
		double all = rest[0] + rest[1];
		int which = rest[1] >= rest[0];

		if (is_repeated(s, rest, scale, &found.ratio))
			found.kind = TREE_LINES_REPEATED;
		else if (rest[0] <= LITTLE * all && all > 0)
			found.kind = TREE_LINES_ADDED;
		else if (rest[1] <= LITTLE * all && all > 0)
			found.kind = TREE_LINES_REMOVED;
		else if (all > 0)
			found.kind = TREE_LINES_CHANGED;
		if (s[which].n_left)
			set_iterations(&found, t, node, s, which,
				       set_place(&found, &s[which], which));
	}
	sides_deinit(s);
	return found;
}

define_compare(by_site, struct tree_line,
	       compare_values(a->node, b->node)       ?:
		       compare_text(a->file, b->file) ?:
							compare_values(a->number, b->number));

/* Return the ratio of calls of NODE's caller, hardened divided by baseline. Return 1 if the ratio is unknown. */
static double scale_of_caller(const struct tree_pair *t, uint32_t node)
{
	uint32_t caller = t->nodes[node].parent;
	double scale = tree_pair_calls(t, caller, 1) / tree_pair_calls(t, caller, 0);

	return isnan(scale) ? 1 : scale;
}

/*
 * Matched lines enclose gaps of unmatched lines. Set EXTRA of the lines in a gap of S[MORE] if the gap is empty in the other
 * kernel. Return whether any line is EXTRA. Return false if another gap has lines only in the other kernel.
 */
static bool set_apart(struct side s[2], int more)
{
	bool found = false;

	for (uint32_t i = 0, j = 0; i < s[0].n_items || j < s[1].n_items; i++, j++) {
		uint32_t begin[2] = { i, j }, n[2];

		while (i < s[0].n_items && !s[0].matched[i])
			i++;
		while (j < s[1].n_items && !s[1].matched[j])
			j++;
		n[0] = i - begin[0];
		n[1] = j - begin[1];
		if (n[!more] && !n[more])
			return false;
		for (uint32_t k = 0; k < n[more] && !n[!more]; k++)
			s[more].items[begin[more] + k]->extra[more] = found = true;
	}
	return found;
}

/* Return whether a node above NODE is divided. NODE's callers were counted before this division, for both parts together. */
static bool is_below_divided(const struct tree_pair *t, uint32_t node)
{
	for (node = t->nodes[node].parent; node != TREE_ROOT; node = t->nodes[node].parent)
		if (t->nodes[node].divided)
			return true;
	return false;
}

/* Divide NODE if one kernel calls it from additional lines. SITES are the N lines that call NODE, sorted by line. */
static void divide(struct tree *t, struct tree_pair *pair, uint32_t node,
		   struct tree_line *const *sites, uint32_t n)
{
	double scale = scale_of_caller(pair, node), sums[2] = {};
	struct side s[2] = {};
	int more;

	for (uint32_t i = 0; i < n; i++)
		for (int side = 0; side < 2; side++)
			if (sites[i]->times[side] > 0) {
				vec_push(&s[side], items, sites[i]);
				sums[side] += sites[i]->times[side];
			}
	more = s[1].n_items > s[0].n_items;
	if (s[!more].n_items && s[!more].n_items < s[more].n_items &&
	    s[more].n_items <= LINES_MAX && !is_near(scale * sums[0], sums[1]) &&
	    !is_below_divided(pair, node)) {
		for (int side = 0; side < 2; side++)
			s[side].matched = alloc_array(s[side].n_items, sizeof(*s[side].matched));
		match(s, scale);
		t->nodes[node].divided = pair->nodes[node].divided = set_apart(s, more);
		memcpy(t->nodes[node].everywhere, sums, sizeof(sums));
	}
	sides_deinit(s);
}

void tree_sites_divide(struct tree *t)
{
	const struct tree_part sides[] = { tree_side(t, 0), tree_side(t, 1) };
	struct pointers sorted =
		pointers_sort(t->sites.items, t->sites.n_items, sizeof(*t->sites.items), by_site);
	struct tree_line **sites = (struct tree_line **)sorted.items;
	scoped(tree_pair_deinit) struct tree_pair pair;

	tree_pair_init_by_name(&pair, t, &sides[0], &sides[1]);
	for_each_run(i, j, t->sites.n_items, sites[i]->node == sites[j]->node)
		divide(t, &pair, sites[i]->node, &sites[i], j - i);
	free(sorted.items);
}

const struct tree_line *tree_site_extra(const struct tree_pair *t, uint32_t node, int side)
{
	const struct tree_line *most = NULL;

	if (!t->nodes[node].divided)
		return NULL;
	vec_each(const struct tree_line, site, &t->tree->sites, items)
		if (site->node == node && site->extra[side] &&
		    (!most || site->times[side] > most->times[side]))
			most = site;
	return most;
}

define_compare(by_line, struct tree_line_change,
	       strcmp(a->name, b->name)               ?:
		       compare_text(a->file, b->file) ?:
							compare_values(a->number, b->number));

define_compare(by_size, struct tree_line_change,
	       compare_values(fabs(b->insns[1] - b->insns[0]), fabs(a->insns[1] - a->insns[0])) ?:
		       by_line(a, b));

static void line_add(void *to, void *from)
{
	struct tree_line_change *a = to, *b = from;

	for (int which = 0; which < 2; which++) {
		a->insns[which] += b->insns[which];
		a->times[which] += b->times[which];
	}
}

static void add_node(struct tree_line_changes *l, const struct tree_pair *t, uint32_t node)
{
	struct side s[2];

	if (sides_init(s, t, node, 1))
		for (int which = 0; which < 2; which++)
			for (uint32_t i = 0; i < s[which].n_left; i++) {
				const struct tree_line *line = s[which].left[i];
				struct tree_line_change change = { t->nodes[node].name, line->file,
								   line->number };

				change.insns[which] = line->insns[which];
				change.times[which] = line->times[which];
				vec_push(l, items, change);
			}
	sides_deinit(s);
}

void tree_line_changes_init(struct tree_line_changes *l, const struct tree_pair *t,
			    uint32_t context, bool (*is_of_command)(const char *context))
{
	scoped_free bool *within = alloc_array(t->n_nodes, sizeof(*within));
	size_t all;

	*l = (struct tree_line_changes){};
	within[context] = true;
	for (uint32_t i = context; i < t->n_nodes; i++) {
		const struct tree_pair_node *n = &t->nodes[i];

		within[i] |= n->parent != TREE_ROOT || is_of_command(n->name) ? within[n->parent] :
										false;
		if (within[i] && n->n_lines)
			add_node(l, t, i);
	}
	all = unite_array(l->items, l->n_items, sizeof(*l->items), by_line, line_add);
	l->n_items = 0;
	for (uint32_t i = 0; i < all; i++)
		if (l->items[i].insns[0] != l->items[i].insns[1])
			l->items[l->n_items++] = l->items[i];
	sort_array(l->items, l->n_items, sizeof(*l->items), by_size);
}

void tree_line_changes_deinit(struct tree_line_changes *l)
{
	free(l->items);
}
