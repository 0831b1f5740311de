// SPDX-License-Identifier: GPL-2.0-or-later
/* `kprotperf why`: the sentence on a cause of the change. It names the cause's protection, static key, condition and patch. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "output/number.h"
#include "view/names.h"
#include "view/why.h"

#define WAY_MAX 3 /* maximum number of functions in a call path */

/* Append BEGIN and NODE's nearest callers below the syscall, such as "ksys_read and vfs_read". Return false if there are none. */
static bool append_way(char **text, const char *begin, const struct tree_pair *t, uint32_t node)
{
	const char *names[WAY_MAX];
	int n = 0;

	for (node = t->nodes[node].parent; n < WAY_MAX && t->nodes[node].parent != TREE_ROOT;
	     node = t->nodes[node].parent)
		if (!n || strcmp(names[WAY_MAX - n], t->nodes[node].name) != 0)
			names[WAY_MAX - ++n] = t->nodes[node].name;
	alloc_append(text, "%s", n ? begin : "");
	view_append_list(text, names + WAY_MAX - n, n);
	return n > 0;
}

/* Return "mm/slub.c:1978" or "mm/slub.c:1978-1981", or "" without a FILE; for free(). */
static char *place_text(const char *file, uint32_t first, uint32_t last)
{
	char *text = NULL;

	if (!file)
		return alloc_strdup("");
	view_append(&text, first == last ? "%s:%u" : "%s:%u-%u", file, first, last);
	return text;
}

/*
 * Append how often lines are executed, such as ", a loop with 20 iterations per call, while i < n", ", in a loop with 20
 * iterations per call instead of 10" or ", in 95 % of calls instead of 3 %".
 */
static void append_iterations(char **text, const struct tree_lines *l)
{
	double is = l->iterations[l->kind != TREE_LINES_REMOVED], was = l->iterations[0];
	bool compared = l->kind == TREE_LINES_REPEATED || l->kind == TREE_LINES_CHANGED;
	bool both = compared && fabs(is - was) >= ONE_PERCENT * fmax(is, was);

	if (is >= MORE_THAN_ONE || (both && was >= MORE_THAN_ONE)) {
		alloc_append(text, ", %sa loop with %s iterations per call",
			     l->in_loop || compared ? "in " : "", output_digits(is, 4));
		if (both)
			alloc_append(text, " instead of %s", output_digits(was, 4));
		if (l->condition)
			view_append(text, ", while %s", l->condition);
	} else if (is <= 1 - WORTH_A_WORD || (both && was <= 1 - WORTH_A_WORD)) {
		alloc_append(text, ", in %.3g %% of calls", 100 * is);
		if (both)
			alloc_append(text, " instead of %.3g %%", 100 * was);
	}
}

/* Append a clause on a change in L, lines of the function's own code. */
static void append_self(char **text, const struct tree_lines *l)
{
	scoped_free char *place = place_text(l->file, l->first, l->last);

	switch (l->kind) {
	case TREE_LINES_ADDED:
		alloc_append(text, "executes additional code at %s", place);
		break;
	case TREE_LINES_REMOVED:
		alloc_append(text, "no longer executes %s", place);
		break;
	case TREE_LINES_REPEATED:
		alloc_append(text, "executes %s %s times as often", place,
			     output_digits(l->ratio, 3));
		break;
	case TREE_LINES_CHANGED:
		alloc_append(text, "executes %s differently", place);
		break;
	case TREE_LINES_UNKNOWN:
		alloc_append(text, "executes its own code differently");
		break;
	}
	append_iterations(text, l);
}

static void append_callee(char **text, const struct why *w, const struct why_part *part)
{
	struct tree_lines lines = tree_lines_find(&w->pair, part->node, part->scale);
	scoped_free char *place = place_text(lines.file, lines.first, lines.last);

	view_append(text, "%s", part->name);
	if (!lines.file && !part->inlined)
		return;
	alloc_append(text, " (%s%s%s", part->inlined ? "inlined" : "",
		     part->inlined && lines.file ? ", " : "", place);
	if (part->kind != WHY_OFTEN)
		append_iterations(text, &lines);
	alloc_append(text, ")");
}

/* Append how often the hardened side calls PART, which is new: " in 10 % of calls", " 3 times per call" or "" for about once. */
static void append_how_often(char **text, const struct why *w, const struct why_part *part)
{
	const struct tree_pair_node *node = &w->pair.nodes[part->node];
	double ratio = node->calls[1] / tree_pair_calls(&w->pair, node->parent, 1);

	if (ratio > 0 && ratio <= 1 - WORTH_A_WORD)
		alloc_append(text, " in %.3g %% of calls", 100 * ratio);
	else if (ratio >= MORE_THAN_ONE)
		alloc_append(text, " %s times per call", output_digits(ratio, 3));
}

/*
 * Append the function that replaces PART, or that PART replaces, such as another target of a pointer. Each is called on one side
 * only, by the same caller, equally often. Append " in place of write_null" if PART is new, ", but write_null" if PART is gone.
 */
static void append_replaced(char **text, const struct why *w, const struct why_causes *c,
			    const struct why_cause *cause, const struct why_part *part)
{
	const struct tree_pair_node *nodes = w->pair.nodes;
	int side = part->kind == WHY_NEW;

	for (uint32_t i = 0; i < cause->n_parts; i++) {
		const struct why_part *other = &c->parts[cause->first_part + i];

		if (other->kind != (side ? WHY_GONE : WHY_NEW) || !(part->calls[side] > 0) ||
		    other->calls[!side] != part->calls[side] ||
		    nodes[other->node].parent != nodes[part->node].parent)
			continue;
		view_append(text, side ? " in place of %s" : ", but %s", other->name);
		return;
	}
}

/* Return PART's calls on the hardened side divided by those on the baseline; for an inlined function, the ratio of executions. */
static double how_often(const struct why_part *part)
{
	return part->calls[0] > 0 ? part->calls[1] / part->calls[0] : part->ratio;
}

/* Append the loop in CAUSE's own code whose iterations changed by the same factor as PART's calls. Return false without one. */
static bool append_loop(char **text, const struct why *w, const struct why_causes *c,
			const struct why_cause *cause, const struct why_part *part)
{
	double ratio = how_often(part);

	for (uint32_t i = 0; part->kind == WHY_OFTEN && i < cause->n_parts; i++) {
		const struct why_part *self = &c->parts[cause->first_part + i];
		struct tree_lines lines;

		if (self->kind != WHY_SELF)
			continue;
		lines = tree_lines_find(&w->pair, self->node, self->scale);
		if (lines.kind == TREE_LINES_CHANGED)
			lines.ratio = lines.iterations[1] / lines.iterations[0];
		else if (lines.kind != TREE_LINES_REPEATED)
			return false;
		if (!(fabs(lines.ratio - ratio) <= WORTH_A_WORD * ratio))
			return false;
		append_self(text, &lines);
		return true;
	}
	return false;
}

/* Append a line that calls PART in one kernel only, such as ", also at fs/eventfd.c:439" or ", no longer at fs/eventfd.c:439". */
static void append_site(char **text, const struct why *w, const struct why_part *part)
{
	for (int side = 0; side < 2; side++) {
		const struct tree_line *site = tree_site_extra(&w->pair, part->node, side);

		if (site && site->file)
			view_append(text, ", %s at %s:%u", side ? "also" : "no longer", site->file,
				    site->number);
	}
}

/* Append the numbers of PART's calls, "60 times per run instead of 20"; use calls per call of C if why_is_called_otherwise(C). */
static void append_calls(char **text, const struct why_context *c, const struct why_part *part)
{
	if (why_is_called_otherwise(c))
		alloc_append(text, "%s %s per call instead of %s",
			     output_digits(part->calls[1] / c->calls[1], 3),
			     plural(part->calls[1] / c->calls[1], "time", "times"),
			     output_digits(part->calls[0] / c->calls[0], 3));
	else
		view_why_append_calls(text, part->calls);
}

/* Return whether the caller of PART's function also calls it in recording SIDE, on any call path. */
static bool is_elsewhere(const struct tree_pair *t, const struct why_part *part, int side)
{
	const char *caller = t->nodes[t->nodes[part->node].parent].name;

	vec_each(const struct tree_pair_node, node, t, nodes)
		if (node->seen[side] && node->parent != TREE_NONE &&
		    !strcmp(node->name, part->name) && !strcmp(t->nodes[node->parent].name, caller))
			return true;
	return false;
}

static void append_part(char **text, const struct why *w, const struct why_context *c,
			const struct why_cause *cause, const struct why_part *part)
{
	struct tree_lines lines;

	switch (part->kind) {
	case WHY_SELF:
		lines = tree_lines_find(&w->pair, part->node, part->scale);
		append_self(text, &lines);
		break;
	case WHY_NEW:
		alloc_append(text, "%s ", part->inlined ? "executes" : "calls");
		append_callee(text, w, part);
		append_how_often(text, w, part);
		append_replaced(text, w, &c->causes, cause, part);
		alloc_append(text, "%s on the hardened side only%s",
			     is_elsewhere(&w->pair, part, 0) ? " on this path" : "",
			     cause->same_code ? ", although its code is the same" : "");
		break;
	case WHY_GONE:
		alloc_append(text, "no longer %s ", part->inlined ? "executes" : "calls");
		append_callee(text, w, part);
		alloc_append(text, "%s", is_elsewhere(&w->pair, part, 1) ? " on this path" : "");
		append_replaced(text, w, &c->causes, cause, part);
		break;
	default:
		if (append_loop(text, w, &c->causes, cause, part))
			alloc_append(text, ", and ");
		alloc_append(text, w->pair.nodes[part->node].calls[0] > 0 ? "calls " : "executes ");
		append_callee(text, w, part);
		alloc_append(text, " ");
		if (!(part->calls[0] > 0)) {
			alloc_append(text, "%s times as often", output_digits(how_often(part), 3));
			break;
		}
		append_calls(text, c, part);
		append_site(text, w, part);
	}
}

/* Append the function below NODE with most of NODE's instructions: ", most of that in extract_entropy via crng_make_state". */
static void append_depth(char **text, const struct tree_pair *t, uint32_t node)
{
	uint32_t at = node;
	double all = t->nodes[node].one_sided;
	const char *names[WAY_MAX + 1] = {};
	int depth = 0, first;

	for (uint32_t i = tree_pair_most(t, node, all); i != TREE_NONE;
	     i = tree_pair_most(t, i, all)) {
		at = i;
		names[depth++ % (WAY_MAX + 1)] = t->nodes[at].name;
	}
	if (!depth)
		return;
	view_append(text, ", %s of that in %s",
		    t->nodes[at].one_sided >= NEARLY_ALL * all ? "nearly all" : "most",
		    t->nodes[at].name);
	first = depth > WAY_MAX + 1 ? depth - WAY_MAX - 1 : 0;
	for (int i = first; i < depth - 1; i++)
		view_append(text, "%s%s",
			    i == first     ? " via " :
			    i == depth - 2 ? " and " :
					     ", ",
			    names[i % (WAY_MAX + 1)]);
	if (t->nodes[at].sampled)
		alloc_append(text, " (estimated from samples)");
}

void view_why_append_where(char **text, const struct why *w, const struct why_context *c,
			   const struct why_cause *cause, uint32_t at)
{
	const char *separator = " (";
	double calls = tree_pair_calls(&w->pair, at, 1);
	char *via;

	if (cause->function) {
		uint32_t into = w->pair.nodes[at].parent;

		view_append(text, "%sinlined into %s", separator, cause->function);
		separator = ", ";
		if (!strcmp(w->pair.nodes[into].name, cause->function))
			at = into; /* do not name INTO twice */
	}
	/* Append how often CAUSE is called, unless C has a number of calls. Contexts such as [softirq] have none. */
	if (w->pair.nodes[at].parent && calls > 0 && !c->is_command &&
	    (c->by_itself || !(c->calls[0] + c->calls[1] > 0))) {
		alloc_append(text, "%scalled %s %s per run", separator,
			     view_why_number(OUTPUT_COUNT, calls), plural(calls, "time", "times"));
		separator = ", ";
	}
	via = alloc_printf("%svia ", separator);
	if (append_way(text, via, &w->pair, at) || *separator == ',')
		alloc_append(text, ")");
	free(via);
}

char *view_why_cause(const struct why *w, const struct why_context *c,
		     const struct why_cause *cause)
{
	const struct why_part *part = &c->causes.parts[cause->first_part];
	uint32_t at = part->kind == WHY_SELF ? part->node : w->pair.nodes[part->node].parent;
	char *text = NULL;

	if (w->pair.nodes[part->node].sampled)
		return view_why_sampled(w, c, cause, part);
	if (!w->tree.has_callers && at != TREE_ROOT && (part->kind == WHY_SELF || !part->inlined))
		return view_why_timed(w, c, cause);
	view_append(&text, "%s", cause->name);
	view_why_append_where(&text, w, c, cause, at);
	alloc_append(&text, ", which ");
	append_part(&text, w, c, cause, part);
	alloc_append(&text, ": ");
	view_why_append_change(&text, w, c, part->delta);
	if (part->kind == WHY_NEW)
		append_depth(&text, &w->pair, part->node);
	if (fabs(cause->delta - part->delta) >= WORTH_A_WORD * fabs(cause->delta)) {
		view_append(&text, "; the rest of %s accounts for ", cause->name);
		view_why_append_change(&text, w, c, cause->delta - part->delta);
	}
	return text;
}

/* Append "; this belongs to init_on_alloc, which differs between the sides", if the code belongs to a protection. */
static void append_owner(char **text, const struct why *w, const struct why_part *part)
{
	const struct catalogue_protection *owner = why_owner(&w->switched, &w->pair, part);

	if (owner)
		alloc_append(text, "; this belongs to %s%s", owner->name,
			     why_switched_has(&w->switched, owner) ?
				     ", which differs between the sides" :
				     "");
}

/* Append a changed static key that PART depends on: "; get_random_u32 tests the static key crng_is_ready, off instead of on". */
static void append_key(char **text, const struct why *w, const struct why_part *part)
{
	const char *function;
	const struct analyze_static_key *key = why_static_key(&w->keys, &w->pair, part, &function);

	if (key)
		view_append(text, "; %s tests the static key %s, %s", function, key->name,
			    key->on[1] ? "on instead of off" : "off instead of on");
}

/* Append the condition of the call, "; crng_make_state calls extract_entropy where crng_init == 0". */
static void append_guard(char **text, const struct why_guard *guard)
{
	if (guard->condition)
		view_append(text, "; %s calls %s where %s", guard->caller, guard->callee,
			    guard->condition);
}

/* Append a patch to the code or to its caller: "; planted.patch changes net/socket.c:1948 in sock_write_iter". */
static void append_patch(char **text, const struct why *w, const struct why_cause *cause,
			 const struct why_part *part)
{
	const char *caller = NULL;
	struct why_patched found;

	if (why_patched_find(&w->patches, &w->pair, part, &found) ||
	    ((cause->same_code || cause->caller) &&
	     (caller = why_patched_caller(&w->patches, &w->pair, part, &found)))) {
		scoped_free char *place = place_text(found.file, found.first, found.last);

		view_append(text, "; %s changes %s%s%s", found.patch, place, caller ? " in " : "",
			    caller ?: "");
	} else if (cause->caller) {
		view_append(text, "; the code of its caller %s differs", cause->caller);
	} else if (w->patches.n_items && part->kind == WHY_SELF && cause->other_code)
		alloc_append(
			text,
			"; no line of it was patched: its code differs because of the compiler, a macro or a structure");
}

void view_why_append_reasons(char **text, const struct why *w, const struct why_cause *cause,
			     const struct why_part *part)
{
	append_owner(text, w, part);
	append_key(text, w, part);
	append_guard(text, &cause->guard);
	append_patch(text, w, cause, part);
}
