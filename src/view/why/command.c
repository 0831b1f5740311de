// SPDX-License-Identifier: GPL-2.0-or-later
/* why: the answer for all that the command executes. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "output/number.h"
#include "view/names.h"
#include "view/page/page.h"
#include "view/why.h"

#define MOST_CAUSES   3 /* in sentences; the table has all */
#define MOST_CONTEXTS 3 /* of a cause, by name */

static const char *number(const struct why *w, enum output_type type, double value)
{
	return output_number(type, value, w->p[0]->clock);
}

/* Begin a paragraph. */
static void begin(char **text, const char *indent)
{
	alloc_append(text, "%s%s", *text ? "\n" : "", indent);
}

/* Begin the next item of a list; the first one begins a paragraph with FIRST. */
static void begin_item(char **text, bool *any, const char *first, const char *separator)
{
	if (*any)
		alloc_append(text, "%s", separator);
	else
		begin(text, first);
	*any = true;
}

/* "7.0 % more", "the same" */
static void append_more(char **text, const struct why_context *c)
{
	double pct = c->total[0] > 0 ? 100 * c->delta / c->total[0] : NAN;
	const char *number = view_why_number(OUTPUT_PERCENT, pct);

	if (c->delta == 0)
		alloc_append(text, "the same");
	else
		alloc_append(text, "%s %s", number + (number[0] == '+' || number[0] == '-'),
			     c->delta < 0 ? "less" : "more");
}

/* "+2,870,123 instructions per run, ±50,123; 3 boots per side" */
static void append_figures(char **text, const struct why *w)
{
	const struct why_context *c = &w->command;
	double noise = why_significance_noise(&c->significance);

	if (c->delta != 0) {
		view_why_append_delta(text, w, c->delta, "run");
		if (!isnan(noise))
			alloc_append(text, ", \u00b1%s", number(w, OUTPUT_TIME, noise));
		alloc_append(text, "; ");
	}
	if (w->cpu && w->cpu->how != ANALYZE_HOW_NONE)
		alloc_append(text, "%s; ", view_hows[w->cpu->how]);
	view_append_sides(text, w->repetitions, view_units[w->tree.unit[1]]);
}

/* "tar takes 7.0 % more CPU time (+2,870,123 instructions per run, ±50,123; 3 boots per side)" */
static void append_whole(char **text, const struct why *w)
{
	const struct why_context *c = &w->command;

	if (!c->told && w->tree.has_noise && c->delta != 0)
		alloc_append(text, "No significant change: ");
	else if (!c->told && c->delta != 0)
		alloc_append(text, "Too few runs to tell a change: ");
	else if (c->told == WHY_LIKELY && (w->tree.has_callers || *view_why_doubt(w)))
		alloc_append(text, "%s, ", view_why_likely(w));
	if (w->tree.has_callers || w->cpu)
		view_append_name(text, c->name);
	alloc_append(text,
		     w->tree.has_callers || w->cpu ? " takes " : "Syscalls and page faults take ");
	append_more(text, c);
	alloc_append(text, " CPU time (");
	append_figures(text, w);
	alloc_append(text, ")");
	if (c->told > c->changed && w->tree.has_noise)
		alloc_append(text, ", within the variation between boots of one kernel");
	alloc_append(text, ".");
}

/* Return by how much the context at NODE changed, in percent. */
static double change_of(const struct why *w, uint32_t node)
{
	vec_each(const struct why_context, c, w, contexts)
		if (c->node == node)
			return c->total[0] > 0 ? 100 * c->delta / c->total[0] : NAN;
	return NAN;
}

/* Append "; 73 % of this in clone (+0.60 %), 27 % in mmap (+0.12 %) and 5 others", with the change of each as a whole. */
static void append_contexts(char **text, const struct why *w, const struct why_cause *cause)
{
	const struct why_causes *c = &w->command.causes;
	uint32_t n = 0, more = 0;

	for (uint32_t i = 0; i < cause->n_shares; i++) {
		const struct why_share *share = &c->shares[cause->first_share + i];
		double part = share->delta / cause->delta, pct = change_of(w, share->context);

		if (n == MOST_CONTEXTS || (n && fabs(part) < WORTH_A_WORD)) {
			more += fabs(part) >= 0.5 / 100;
			continue;
		}
		if (!n && round(100 * part) == 100)
			alloc_append(text, "; all of this in ");
		else
			alloc_append(text, n ? ", %.0f %% in " : "; %.0f %% of this in ",
				     100 * part);
		view_append_name(text, w->pair.nodes[share->context].name);
		if (!isnan(pct))
			alloc_append(text, " (%s)", view_why_number(OUTPUT_PERCENT, pct));
		n++;
	}
	if (more)
		alloc_append(text, " and %u %s", more, plural(more, "other", "others"));
}

/* Return how sure the surest cause of the command is. */
static enum why_sureness surest(const struct why *w)
{
	enum why_sureness most = WHY_CHANCE;

	for (uint32_t i = 0; i < w->command.causes.n_items; i++)
		if (why_is_named(&w->command, i) > most)
			most = why_is_named(&w->command, i);
	return most;
}

/* Return which share of the whole the cause I is; within the error of the whole, more than all is all. */
static double share_of(const struct why_context *c, uint32_t i)
{
	double delta = c->causes.items[i].delta, all = why_caused(c);

	if (fabs(delta) > fabs(all) &&
	    fabs(delta) <= fabs(all) + why_significance_noise(&c->significance))
		delta = copysign(all, delta);
	return delta / all;
}

/* Return whether the whole changed, and no cause at least as sure as SURE is much more than all of it. */
static bool has_shares(const struct why *w, enum why_sureness sure)
{
	const struct why_context *c = &w->command;

	for (uint32_t i = 0; i < c->causes.n_items; i++)
		if (why_is_named(c, i) >= sure && share_of(c, i) > MORE_THAN_ALL)
			return false;
	return c->changed && c->changed >= sure;
}

/* "52 % of it is in ", "An opposite change is in "; N causes are named before. */
static void append_share(char **text, const struct why *w, double share, bool has_share,
			 enum why_sureness sure, uint32_t n)
{
	const char *kind = !has_share && n  ? "another" :
			   has_share        ? "an opposite change" :
			   sure == WHY_SURE ? "a significant change" :
					      "a change";
	if (sure == WHY_LIKELY)
		alloc_append(text, "%s, ", view_why_likely(w));
	if (has_share && share > 0)
		alloc_append(text, "%.0f %% of it is in ", 100 * share);
	else
		alloc_append(text, "%c%s is in ", sure == WHY_LIKELY ? *kind : toupper(*kind),
			     kind + 1);
}

static void append_cause(char **text, const struct why *w, uint32_t i, enum why_sureness sure,
			 uint32_t n)
{
	const struct why_context *c = &w->command;
	const struct why_cause *cause = &c->causes.items[i];
	const struct why_part *part = &c->causes.parts[cause->first_part];
	scoped_free char *sentence = view_why_cause(w, c, cause);

	begin(text, "  ");
	/* A whole that is likely only is said to be so once. */
	append_share(text, w, share_of(c, i), has_shares(w, sure),
		     c->changed == WHY_LIKELY && w->tree.has_callers ? WHY_SURE : sure, n);
	alloc_append(text, "%s", sentence);
	if (strcmp(cause->name, w->pair.nodes[c->causes.shares[cause->first_share].context].name) !=
	    0)
		append_contexts(text, w, cause);
	view_why_append_reasons(text, w, cause, part);
	alloc_append(text, ".");
}

/* Say how much of the change is in no named cause. */
static void append_remainder(char **text, const struct why *w, double remainder)
{
	const struct why_context *c = &w->command;

	if (fabs(remainder) < WORTH_A_WORD * fabs(c->delta) ||
	    fabs(remainder) <= why_significance_noise(&c->significance))
		return;
	begin(text, "  The remaining ");
	view_why_append_delta(text, w, remainder, "run");
	alloc_append(text, " are smaller changes.");
}

static void append_causes(char **text, const struct why *w)
{
	const struct why_context *c = &w->command;
	enum why_sureness sure = surest(w);
	double remainder = why_caused(c) - w->outside;
	scoped_free char *spread = NULL;
	uint32_t n = 0;

	if (!view_why_append_spread(&spread, w, c) && !sure)
		view_why_append_spread_out(&spread, w, c);
	if (spread) {
		/* Behind ". ". */
		begin(text, "  ");
		alloc_append(text, "%s",
			     strlen(spread) > 2 ? spread + 2 : "The change is spread out.");
		return;
	}
	for (uint32_t i = 0; i < c->causes.n_items && n < MOST_CAUSES; i++) {
		if (!sure || why_is_named(c, i) < sure)
			continue;
		append_cause(text, w, i, sure, n);
		remainder -= c->causes.items[i].delta;
		n++;
	}
	if (has_shares(w, sure))
		append_remainder(text, w, remainder);
}

/* Append "__fput moved from close [task work] to close, with 920,948 instructions per run", work that only changed its place. */
static void append_moves(char **text, const struct why *w)
{
	const struct tree_pair_node *nodes = w->pair.nodes;
	bool any = false;

	vec_each(const struct tree_move, move, &w->pair, moves) {
		if (!why_is_of_command(nodes[move->from].name) &&
		    !why_is_of_command(nodes[move->to].name))
			continue;
		begin_item(text, &any, "", "; ");
		view_append_name(text, move->name);
		alloc_append(text, " moved from ");
		view_append_name(text, nodes[move->from].name);
		alloc_append(text, " to ");
		view_append_name(text, nodes[move->to].name);
		alloc_append(text, ", with %s%s per run", number(w, OUTPUT_TIME, move->insns),
			     view_unit(w->p[0]->clock, move->insns));
	}
	if (any)
		alloc_append(text, ".");
}

/* Append the contexts that changed and are not the command's. */
static void append_others(char **text, const struct why *w)
{
	bool any = false;

	vec_each(const struct why_context, of, w, contexts) {
		if (of->changed < WHY_SURE || why_is_of_command(of->name))
			continue;
		begin_item(text, &any, "Not part of its CPU time: ", ", ");
		view_append_name(text, of->name);
		alloc_append(text, " (");
		view_append_context(text, of->name);
		view_why_append_delta(text, w, of->delta, "run");
		alloc_append(text, ")");
	}
	if (any)
		alloc_append(text, ".");
}

/* Say how much of the change is in no context, of recordings by probes. */
static void append_outside(char **text, const struct why *w)
{
	double least = w->tree.has_noise ? why_significance_noise(&w->command.significance) :
					   ONE_PERCENT * w->command.total[0];

	if (!w->cpu || fabs(w->outside) < WORTH_A_WORD * fabs(w->command.delta) ||
	    !(fabs(w->outside) > least))
		return;
	begin(text, "  ");
	view_why_append_delta(text, w, w->outside, "run");
	alloc_append(text, " are outside of syscalls and page faults.");
}

/* "Instruction counts show only a part of what page_table_isolation costs: cycles are not in them.": protections of EXTENT */
static void append_cycles(char **text, const struct why *w, enum catalogue_extent extent)
{
	const char *names[MOST_CONTEXTS] = {};
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->switched.n_items; i++)
		if (w->switched.items[i]->in_instructions == extent && n++ < MOST_CONTEXTS)
			names[n - 1] = w->switched.items[i]->name;
	if (!n || w->p[0]->clock != PROFILE_CLOCK_INSN)
		return;
	begin(text, "Instruction counts show ");
	alloc_append(text, "%s of what ", extent == CATALOGUE_NO ? "nothing" : "only a part");
	view_append_list(text, names, n < MOST_CONTEXTS ? n : MOST_CONTEXTS);
	if (n > MOST_CONTEXTS)
		alloc_append(text, " (and %u more)", n - MOST_CONTEXTS);
	alloc_append(text, " %s: cycles are not in them.", plural(n, "costs", "cost"));
}

char *view_why_command(const struct why *w)
{
	const struct why_context *only = why_only_context(w);
	char *text = NULL;

	if (!w->n_contexts)
		return view_why(w, NULL);
	if (w->tree.has_callers || w->cpu || (!only && w->command.told))
		append_whole(&text, w);
	append_moves(&text, w);
	if (w->command.told && only && only->told) {
		scoped_free char *answer = view_why(w, only);

		begin(&text, answer);
		append_outside(&text, w);
	} else if (w->command.told) {
		append_causes(&text, w);
		append_outside(&text, w);
		if (view_why_is_unopened(w, &w->command))
			begin(&text, "  Record with --func to see where.");
	}
	if (w->command.told == WHY_LIKELY && !(only && only->told) && !w->tree.has_noise &&
	    *view_why_doubt(w)) {
		begin(&text, "  ");
		alloc_append(&text, "%s", view_why_doubt(w));
	}
	append_others(&text, w);
	append_cycles(&text, w, CATALOGUE_NO);
	append_cycles(&text, w, CATALOGUE_PARTLY);
	if (w->command.told)
		view_why_append_switched(&text, w);
	return text;
}
