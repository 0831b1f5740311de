// SPDX-License-Identifier: GPL-2.0-or-later
/* why: its sentences. */
#include <math.h>
#include <string.h>

#include "analyze/why/spread.h"
#include "base/alloc.h"
#include "output/number.h"
#include "output/text.h"
#include "view/names.h"
#include "view/why.h"

#define MOST_CAUSES 3 /* in sentences; the table has all */
#define WAY_MAX     3 /* names that still make a sentence */
/* What a cause does besides is worth a word from this share of its change on. */
#define WORTH_A_WORD 0.1
#define MOST_OF_IT   0.5
#define NEARLY_ALL   0.9
#define TURNS_DIFFER 0.01 /* by less they are the same */

static void append_number(char **text, enum output_type type, double value)
{
	char number[OUTPUT_NUMBER_MAX];

	alloc_append(text, "%s", output_number(number, type, value, PROFILE_CLOCK_INSN));
}

void view_why_append_delta(char **text, double delta, const char *per)
{
	append_number(text, OUTPUT_DELTA, round(delta));
	alloc_append(text, " instructions per %s", per);
}

static double percent(double part, double whole)
{
	return whole != 0 ? 100 * part / whole : NAN;
}

static bool is_called_otherwise(const struct why_context *c)
{
	return c->calls[0] != c->calls[1] && fabs(c->causes.by_calls) > fabs(c->causes.delta);
}

char *view_why_change(const struct why *w, const struct why_context *c)
{
	double pct = percent(c->delta, c->total[0]);
	char number[OUTPUT_NUMBER_MAX], *text = NULL;
	bool per_call = c->calls[0] > 0 && c->calls[1] > 0 && !c->by_itself;

	view_append_name(&text, c->name);
	if (c->total[0] == 0 || c->total[1] == 0) {
		alloc_append(&text, " occurs on the %s side only (",
			     c->total[0] > 0 ? "baseline" : "hardened");
		view_append_queued(&text, c->name);
		view_why_append_delta(&text, c->delta, "run");
	} else if (is_called_otherwise(c)) {
		alloc_append(&text, " is called ");
		append_number(&text, OUTPUT_COUNT, c->calls[1]);
		alloc_append(&text, " times per run instead of ");
		append_number(&text, OUTPUT_COUNT, c->calls[0]);
		alloc_append(&text, " (");
		view_append_queued(&text, c->name);
		view_why_append_delta(&text, c->delta, "run");
	} else {
		if (per_call)
			pct = percent(c->total[1] / c->calls[1] - c->total[0] / c->calls[0],
				      c->total[0] / c->calls[0]);
		output_number(number, OUTPUT_PERCENT, pct, PROFILE_CLOCK_INSN);
		alloc_append(&text, " is %s %s (", number + (number[0] == '+' || number[0] == '-'),
			     pct < 0 ? "faster" : "slower");
		view_append_queued(&text, c->name);
		view_why_append_delta(
			&text,
			per_call ? c->total[1] / c->calls[1] - c->total[0] / c->calls[0] : c->delta,
			per_call ? "call" : "run");
	}
	alloc_append(&text, ", ");
	append_number(&text, OUTPUT_PERCENT, percent(c->delta, w->total[0]));
	alloc_append(&text, " of the command's instructions%s)",
		     c->changed || !w->has_noise ? "" :
						   ", no more than boots of one kernel vary by");
	return text;
}

/* " via ksys_read and vfs_read": the callers of NODE below its context, nearest last. */
static void append_way(char **text, const struct why_tree *t, uint32_t node)
{
	const char *names[WAY_MAX];
	int n = 0;

	for (node = t->nodes[node].parent;
	     n < WAY_MAX && t->nodes[node].parent != 0 && t->nodes[node].parent != WHY_NONE;
	     node = t->nodes[node].parent)
		names[n++] = t->nodes[node].name;
	for (int i = n; i-- > 0;) {
		alloc_append(text, "%s", i == n - 1 ? " via " : i ? ", " : " and ");
		view_append_name(text, names[i]);
	}
}

static void append_place(char **text, const struct why_lines *l)
{
	char *file;

	if (!l->file)
		return;
	file = output_text_escape(l->file);
	alloc_append(text, l->first == l->last ? "%s:%u" : "%s:%u-%u", file, l->first, l->last);
	free(file);
}

/*
 * ", a loop with 20 iterations per call, while i < n", ", in a loop with 20 iterations per call instead of 10",
 * ", in 95 % of calls instead of 3 %"
 */
static void append_turns(char **text, const struct why_lines *l)
{
	double is = l->turns[l->kind != WHY_LINES_REMOVED], was = l->turns[0];
	bool compared = l->kind == WHY_LINES_REPEATED || l->kind == WHY_LINES_CHANGED;
	bool both = compared && fabs(is - was) >= TURNS_DIFFER * fmax(is, was);

	if (is >= WHY_LOOP || (both && was >= WHY_LOOP)) {
		alloc_append(text, ", %sa loop with %.4g iterations per call",
			     l->in_loop || compared ? "in " : "", is);
		if (both)
			alloc_append(text, " instead of %.4g", was);
		if (l->condition) {
			alloc_append(text, ", while ");
			view_append_name(text, l->condition);
		}
	} else if (is <= 1 - WORTH_A_WORD || (both && was <= 1 - WORTH_A_WORD)) {
		alloc_append(text, ", in %.3g %% of calls", 100 * is);
		if (both)
			alloc_append(text, " instead of %.3g %%", 100 * was);
	}
}

/* What a function does itself. */
static void append_self(char **text, const struct why_lines *l)
{
	switch (l->kind) {
	case WHY_LINES_ADDED:
		alloc_append(text, "executes additional code at ");
		append_place(text, l);
		break;
	case WHY_LINES_REMOVED:
		alloc_append(text, "no longer executes ");
		append_place(text, l);
		break;
	case WHY_LINES_REPEATED:
		alloc_append(text, "executes ");
		append_place(text, l);
		alloc_append(text, " %.3g times as often", l->ratio);
		break;
	case WHY_LINES_CHANGED:
		alloc_append(text, "executes ");
		append_place(text, l);
		alloc_append(text, " differently");
		break;
	case WHY_LINES_UNKNOWN:
		alloc_append(text, "executes its own code differently");
		break;
	}
	append_turns(text, l);
}

static void append_callee(char **text, const struct why *w, const struct why_part *part)
{
	struct why_lines lines = why_lines_find(&w->tree, part->node, part->scale);

	view_append_name(text, part->name);
	if (!lines.file && !part->inlined)
		return;
	alloc_append(text, " (%s%s", part->inlined ? "inlined" : "",
		     part->inlined && lines.file ? ", " : "");
	append_place(text, &lines);
	if (part->kind != WHY_OFTEN)
		append_turns(text, &lines);
	alloc_append(text, ")");
}

/* " in 10 % of calls": how often the hardened side's function calls PART, which it does not call on the baseline. */
static void append_how_often(char **text, const struct why *w, const struct why_part *part)
{
	const struct why_node *node = &w->tree.nodes[part->node];
	double ratio = node->calls[1] / why_tree_calls(&w->tree, node->parent, 1);

	if (ratio > 0 && ratio <= 1 - WORTH_A_WORD)
		alloc_append(text, " in %.3g %% of calls", 100 * ratio);
	else if (ratio >= WHY_LOOP)
		alloc_append(text, " %.3g times per call", ratio);
}

/*
 * " in place of write_null": what is no longer called from there, and was as often: through a pointer perhaps. Of what is gone,
 * what is called instead.
 */
static void append_replaced(char **text, const struct why *w, const struct why_causes *c,
			    const struct why_cause *cause, const struct why_part *part)
{
	const struct why_node *nodes = w->tree.nodes;
	int side = part->kind == WHY_NEW;

	for (uint32_t i = 0; i < cause->n_parts; i++) {
		const struct why_part *other = &c->parts[cause->first_part + i];

		if (other->kind != (side ? WHY_GONE : WHY_NEW) || !(part->calls[side] > 0) ||
		    other->calls[!side] != part->calls[side] ||
		    nodes[other->node].parent != nodes[part->node].parent)
			continue;
		alloc_append(text, side ? " in place of " : ", but ");
		view_append_name(text, other->name);
		return;
	}
}

/* How much more often PART is called, or executed where it is inlined. */
static double how_often(const struct why_part *part)
{
	return part->calls[0] > 0 ? part->calls[1] / part->calls[0] : part->ratio;
}

/* The loop of CAUSE that makes it call PART more or less often, if that is it: for the sentence to begin with. */
static bool append_loop(char **text, const struct why *w, const struct why_causes *c,
			const struct why_cause *cause, const struct why_part *part)
{
	double ratio = how_often(part);

	for (uint32_t i = 0; part->kind == WHY_OFTEN && i < cause->n_parts; i++) {
		const struct why_part *self = &c->parts[cause->first_part + i];
		struct why_lines lines;

		if (self->kind != WHY_SELF)
			continue;
		lines = why_lines_find(&w->tree, self->node, self->scale);
		if (lines.kind == WHY_LINES_CHANGED)
			lines.ratio = lines.turns[1] / lines.turns[0];
		else if (lines.kind != WHY_LINES_REPEATED)
			return false;
		if (!(fabs(lines.ratio - ratio) <= WORTH_A_WORD * ratio))
			return false;
		append_self(text, &lines);
		return true;
	}
	return false;
}

/* ", also at fs/eventfd.c:439": where one side alone calls PART, which both call. */
static void append_site(char **text, const struct why *w, const struct why_part *part)
{
	for (int side = 0; side < 2; side++) {
		const struct why_line *site = why_site_apart(&w->tree, part->node, side);
		struct why_lines place = {};

		if (!site || !site->file || !w->tree.nodes[part->node].divided)
			continue;
		place = (struct why_lines){ .file = site->file,
					    .first = site->number,
					    .last = site->number };
		alloc_append(text, side ? ", also at " : ", no longer at ");
		append_place(text, &place);
	}
}

static void append_part(char **text, const struct why *w, const struct why_causes *c,
			const struct why_cause *cause, const struct why_part *part)
{
	struct why_lines lines;

	switch (part->kind) {
	case WHY_SELF:
		lines = why_lines_find(&w->tree, part->node, part->scale);
		append_self(text, &lines);
		break;
	case WHY_NEW:
		alloc_append(text, "%s ", part->inlined ? "executes" : "calls");
		append_callee(text, w, part);
		append_how_often(text, w, part);
		append_replaced(text, w, c, cause, part);
		alloc_append(text, " on the hardened side only%s",
			     cause->same_code ? ", although its code is the same" : "");
		break;
	case WHY_GONE:
		alloc_append(text, "no longer %s ", part->inlined ? "executes" : "calls");
		append_callee(text, w, part);
		append_replaced(text, w, c, cause, part);
		break;
	default:
		if (append_loop(text, w, c, cause, part))
			alloc_append(text, ", and ");
		alloc_append(text, w->tree.nodes[part->node].calls[0] > 0 ? "calls " : "executes ");
		append_callee(text, w, part);
		alloc_append(text, " ");
		if (!(part->calls[0] > 0)) {
			alloc_append(text, "%.3g times as often", how_often(part));
			break;
		}
		append_number(text, OUTPUT_COUNT, part->calls[1]);
		alloc_append(text, " times per run instead of ");
		append_number(text, OUTPUT_COUNT, part->calls[0]);
		append_site(text, w, part);
	}
}

/* Where in NODE, of one side, most of it is: ", most of that in extract_entropy via crng_make_state". */
static void append_depth(char **text, const struct why_tree *t, uint32_t node)
{
	uint32_t at = node;
	double all = t->nodes[node].alone;
	const char *names[WAY_MAX + 1] = {};
	int depth = 0, first;

	for (uint32_t i = why_tree_most(t, node, all); i != WHY_NONE;
	     i = why_tree_most(t, i, all)) {
		at = i;
		names[depth++ % (WAY_MAX + 1)] = t->nodes[at].name;
	}
	if (!depth)
		return;
	alloc_append(text, ", %s of that in ",
		     t->nodes[at].alone >= NEARLY_ALL * all ? "nearly all" : "most");
	view_append_name(text, t->nodes[at].name);
	first = depth > WAY_MAX + 1 ? depth - WAY_MAX - 1 : 0;
	for (int i = first; i < depth - 1; i++) {
		alloc_append(text, "%s", i == first ? " via " : i == depth - 2 ? " and " : ", ");
		view_append_name(text, names[i % (WAY_MAX + 1)]);
	}
}

char *view_why_cause(const struct why *w, const struct why_context *c,
		     const struct why_cause *cause)
{
	const struct why_part *part = &c->causes.parts[cause->first_part];
	uint32_t at = part->kind == WHY_SELF ? part->node : w->tree.nodes[part->node].parent;
	char *text = NULL;

	view_append_name(&text, cause->name);
	if (cause->function) {
		alloc_append(&text, " (inlined into ");
		view_append_name(&text, cause->function);
		alloc_append(&text, ")");
	}
	append_way(&text, &w->tree, at);
	alloc_append(&text, ", which ");
	append_part(&text, w, &c->causes, cause, part);
	alloc_append(&text, ": ");
	view_why_append_delta(&text, part->delta, "run");
	if (part->kind == WHY_NEW)
		append_depth(&text, &w->tree, part->node);
	if (fabs(cause->delta - part->delta) >= WORTH_A_WORD * fabs(cause->delta)) {
		alloc_append(&text, "; the rest of ");
		view_append_name(&text, cause->name);
		alloc_append(&text, " accounts for ");
		view_why_append_delta(&text, cause->delta - part->delta, "run");
	}
	return text;
}

/* "; this belongs to init_on_alloc, which differs between the sides" */
static void append_owner(char **text, const struct why *w, const struct why_part *part)
{
	const struct catalogue_protection *owner = why_owner(&w->switched, &w->tree, part);

	if (owner)
		alloc_append(text, "; this belongs to %s%s", owner->name,
			     why_switched_has(&w->switched, owner) ?
				     ", which differs between the sides" :
				     "");
}

/* "; get_random_u32 tests the static key crng_is_ready, off instead of on" */
static void append_key(char **text, const struct why *w, const struct why_part *part)
{
	const char *function;
	const struct analyze_static_key *key = why_static_key(&w->keys, &w->tree, part, &function);

	if (!key)
		return;
	alloc_append(text, "; ");
	view_append_name(text, function);
	alloc_append(text, " tests the static key ");
	view_append_name(text, key->name);
	alloc_append(text, key->on[1] ? ", on instead of off" : ", off instead of on");
}

/* "; crng_make_state calls extract_entropy where crng_init == 0" */
static void append_guard(char **text, const struct why_guard *guard)
{
	if (!guard->condition)
		return;
	alloc_append(text, "; ");
	view_append_name(text, guard->caller);
	alloc_append(text, " calls ");
	view_append_name(text, guard->callee);
	alloc_append(text, " where ");
	view_append_name(text, guard->condition);
}

/* "; planted.patch changes kernel/sys.c:292-293", "; planted.patch changes net/unix/af_unix.c:1948 in unix_dgram_sendmsg" */
static void append_patch(char **text, const struct why *w, const struct why_cause *cause,
			 const struct why_part *part)
{
	const char *caller = NULL;
	struct why_patched found;

	/* What code that is the same does otherwise, it may do because its caller does. */
	if (why_patched_find(&w->patches, &w->tree, part, &found) ||
	    ((cause->same_code || cause->caller) &&
	     (caller = why_patched_caller(&w->patches, &w->tree, part, &found)))) {
		struct why_lines lines = { .file = found.file,
					   .first = found.first,
					   .last = found.last };

		alloc_append(text, "; ");
		view_append_name(text, found.patch);
		alloc_append(text, " changes ");
		append_place(text, &lines);
		if (caller) {
			alloc_append(text, " in ");
			view_append_name(text, caller);
		}
	} else if (cause->caller) {
		alloc_append(text, "; of its callers, ");
		view_append_name(text, cause->caller);
		alloc_append(text, " has other code");
	} else if (w->patches.n_items && part->kind == WHY_SELF && cause->other_code)
		alloc_append(
			text,
			"; no line of it was patched: the compiler, a macro or a structure makes other code of it");
}

static bool append_spread(char **text, const struct why *w, const struct why_context *c)
{
	struct why_spread s = why_spread_find(w, c);
	enum why_sureness sure = why_significance_sureness(&s.significance);

	if (!s.most || sure == WHY_CHANCE ||
	    fabs(s.delta + s.rest) < WHY_LEAST_SHARE * fabs(c->delta) ||
	    (c->causes.n_items && fabs(s.delta + s.rest) < fabs(c->causes.items[0].delta)))
		return false;
	alloc_append(text, ". %s%.0f %% of the change is spread over %u functions, which ",
		     sure == WHY_SURE ? "" : "Most likely, ", percent(s.delta + s.rest, c->delta),
		     s.n_functions);
	alloc_append(text, "%s%s ", s.most->kind == WHY_GONE ? "no longer " : "",
		     s.most->inlined ? "execute" : "call");
	view_append_name(text, s.name);
	alloc_append(text, "%s: ", s.most->kind == WHY_NEW ? " on the hardened side only" : "");
	view_why_append_delta(text, s.delta, "run");
	if (fabs(s.rest) >= WORTH_A_WORD * fabs(s.delta)) {
		alloc_append(text, "; the rest of these functions accounts for ");
		view_why_append_delta(text, s.rest, "run");
	}
	alloc_append(text, "; the largest part, %.0f %%, is in ", percent(s.most->delta, s.delta));
	view_append_name(text, c->causes.items[s.most->cause].name);
	append_owner(text, w, s.most);
	alloc_append(text, ".");
	return true;
}

/* Where CAUSE stands in what is said of C; N is how many are named before it. */
static void append_share(char **text, const struct why_context *c, const struct why_cause *cause,
			 uint32_t n)
{
	bool sure =
		c->told < WHY_SURE || why_significance_sureness(&cause->significance) == WHY_SURE;
	const char *likely = sure ? "" : "Most likely, ";

	if (c->changed < WHY_LIKELY && c->causes.delta * cause->delta > 0)
		alloc_append(text, n ? " Another is in " : ". Beyond chance is a change in ");
	else if (fabs(c->delta) < fabs(cause->delta) * MOST_OF_IT)
		alloc_append(text,
			     n ? " The other is in " : ". Opposite changes cancel out. One is in ");
	else
		alloc_append(text, n ? " %s%s%.0f %% is in " : ". %s%s%.0f %% of the change is in ",
			     likely,
			     !n      ? "" :
			     *likely ? "another " :
				       "Another ",
			     percent(cause->delta, c->delta));
}

static void append_causes(char **text, const struct why *w, const struct why_context *c)
{
	uint32_t n = 0, many = why_spread_functions(c, NEARLY_ALL);
	double largest;

	if (append_spread(text, w, c))
		return;
	for (uint32_t i = 0; i < c->causes.n_items && n < MOST_CAUSES; i++) {
		const struct why_cause *cause = &c->causes.items[i];
		scoped_free char *sentence = NULL;

		if (!why_is_named(c, i))
			continue;
		sentence = view_why_cause(w, c, cause);
		append_share(text, c, cause, n);
		alloc_append(text, "%s", sentence);
		append_owner(text, w, &c->causes.parts[cause->first_part]);
		append_key(text, w, &c->causes.parts[cause->first_part]);
		append_guard(text, &cause->guard);
		append_patch(text, w, cause, &c->causes.parts[cause->first_part]);
		alloc_append(text, ".");
		n++;
	}
	if (n || !c->causes.n_items)
		return;
	largest = percent(c->causes.items[0].delta, c->delta);
	alloc_append(
		text,
		". The change is spread out: %u functions make up %.0f %% of it%s; the largest part, %.1f %%, is in ",
		many, 100 * NEARLY_ALL,
		fabs(largest) < 100 * WHY_LEAST_SHARE ? ", none of them a tenth" : "", largest);
	view_append_name(text, c->causes.items[0].name);
	alloc_append(text, ".");
}

/* What the sides differ in besides, where the answer may be of that and does not say so. */
static void append_switched(char **text, const struct why *w)
{
	const struct catalogue_protection *only = w->switched.items[0];

	alloc_append(text, " The only protection that differs between the sides is %s%s.",
		     only->name,
		     only->origin == CATALOGUE_COMPILER ?
			     ", whose code the compiler inserts everywhere" :
			     "");
}

/* How sure it is that C changed, where it is not. */
static void append_odds(char **text, const struct why_context *c)
{
	if (isnan(c->significance.p))
		alloc_append(text,
			     " Measured over 1 run per side; variation between runs is unknown.");
	else
		alloc_append(
			text,
			" Comparing a kernel with itself shows as much in %.0f %% of cases; use more --boots to be sure.",
			100 * fmin(c->significance.p,
				   c->causes.n_items ? c->causes.items[0].significance.p : 1));
}

/* Work may have moved from C to what it queues, or back: the contexts that are told of besides and belong to the same. */
static void append_moved(char **text, const struct why *w, const struct why_context *c)
{
	const char *before = " Also changed: ";
	size_t by, other;

	profile_context_queued(c->name, &by);
	vec_each(const struct why_context, of, w, contexts) {
		profile_context_queued(of->name, &other);
		if (of == c || !of->told || other != by || strncmp(of->name, c->name, by) != 0)
			continue;
		alloc_append(text, "%s", before);
		view_append_name(text, of->name);
		alloc_append(text, " (");
		view_append_queued(text, of->name);
		view_why_append_delta(text, of->delta, "run");
		alloc_append(text, ")");
		before = ", ";
	}
	if (*before == ',')
		alloc_append(text, ".");
}

char *view_why(const struct why *w, const struct why_context *c)
{
	char *text, *more;

	if (!c)
		return alloc_strdup("Nothing to compare: neither recording contains any context.");
	text = view_why_change(w, c);
	if (!c->told) {
		more = alloc_printf("No significant change: %s%s%s.", text,
				    c == w->contexts ? ", the largest difference" : "",
				    w->has_noise ? "" : "; 1 run per side cannot resolve less");
		free(text);
		return more;
	}
	if (c->told == WHY_LIKELY) {
		more = alloc_printf("Most likely, %s", text);
		free(text);
		text = more;
	}
	append_causes(&text, w, c);
	append_moved(&text, w, c);
	if (w->switched.n_items == 1 && !strstr(text, w->switched.items[0]->name))
		append_switched(&text, w);
	if (c->told == WHY_LIKELY)
		append_odds(&text, c);
	return text;
}
