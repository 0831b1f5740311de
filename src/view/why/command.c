// SPDX-License-Identifier: GPL-2.0-or-later
/* why: the answer for all that the command executes. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "output/number.h"
#include "view/names.h"
#include "view/why.h"

#define MOST_CAUSES   3 /* in sentences; the table has all */
#define MOST_CONTEXTS 3 /* of a cause, by name */
#define NEARLY_ALL    0.9
#define WORTH_A_WORD  0.1
#define MOST_SHARE    1.15 /* of causes: with more than that, others must cancel them out */

/* Return what a share of the command's CPU time is called: "7.0 % more CPU time". */
static void append_more(char **text, const struct why_context *c)
{
	double pct = c->total[0] > 0 ? 100 * c->delta / c->total[0] : NAN;
	const char *number = view_why_number(OUTPUT_PERCENT, pct);

	alloc_append(text, "%s %s CPU time", number + (number[0] == '+' || number[0] == '-'),
		     c->delta < 0 ? "less" : "more");
}

/* "+2,870,123 instructions per run, ±50,123; 3 boots per side" */
static void append_figures(char **text, const struct why *w)
{
	const struct why_context *c = &w->command;
	double noise = why_significance_noise(&c->significance);
	const uint32_t runs[] = { w->p[0]->n_runs, w->p[1]->n_runs };

	view_why_append_delta(text, c->delta, "run");
	if (!isnan(noise))
		alloc_append(text, ", \u00b1%s", view_why_number(OUTPUT_COUNT, round(noise)));
	alloc_append(text, "; ");
	view_append_sides(text, runs, "boot");
}

/* "tar takes 7.0 % more CPU time (+2,870,123 instructions per run, ±50,123; 3 boots per side)" */
static void append_whole(char **text, const struct why *w)
{
	const struct why_context *c = &w->command;

	if (!c->told)
		alloc_append(text, "No significant change: ");
	else if (c->told == WHY_LIKELY)
		alloc_append(text, "Most likely, ");
	view_append_name(text, c->name);
	alloc_append(text, " takes ");
	append_more(text, c);
	alloc_append(text, " (");
	append_figures(text, w);
	alloc_append(text, ")");
	if (c->told > c->changed && w->has_noise)
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

/* "; 73 % of this in clone (+0.60 %), 27 % in mmap (+0.12 %) and 5 others": by how much each changed as a whole */
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

/* Are the causes that are named, which are as sure as SURE, shares of the whole that one can imagine? */
static bool has_shares(const struct why *w, enum why_sureness sure)
{
	const struct why_context *c = &w->command;

	for (uint32_t i = 0; i < c->causes.n_items; i++)
		if (why_is_named(c, i) >= sure && share_of(c, i) > MOST_SHARE)
			return false;
	return c->changed && c->changed >= sure;
}

/* "52 % of it is in ", "An opposite change is in "; N causes are named before. */
static void append_share(char **text, double share, bool has_share, enum why_sureness sure,
			 uint32_t n)
{
	const char *kind = !has_share && n  ? "another" :
			   has_share        ? "an opposite change" :
			   sure == WHY_SURE ? "a significant change" :
					      "a change";
	char *begin =
		sure == WHY_LIKELY ? alloc_printf("most likely, %s", kind) : alloc_strdup(kind);

	if (has_share && share > 0) {
		alloc_append(text, "%s%.0f %% of it is in ",
			     sure == WHY_LIKELY ? "Most likely, " : "", 100 * share);
	} else {
		*begin = (char)toupper(*begin);
		alloc_append(text, "%s is in ", begin);
	}
	free(begin);
}

static void append_cause(char **text, const struct why *w, uint32_t i, enum why_sureness sure,
			 uint32_t n)
{
	const struct why_context *c = &w->command;
	const struct why_cause *cause = &c->causes.items[i];
	scoped_free char *sentence = view_why_cause(w, c, cause);

	alloc_append(text, "\n  ");
	append_share(text, share_of(c, i), has_shares(w, sure),
		     c->changed == WHY_LIKELY ? WHY_SURE : sure, n);
	alloc_append(text, "%s", sentence);
	append_contexts(text, w, cause);
	view_why_append_reasons(text, w, cause, &c->causes.parts[cause->first_part]);
	alloc_append(text, ".");
}

/* What is left of the change that causes which are named do not have. */
static void append_remainder(char **text, const struct why *w, double remainder)
{
	const struct why_context *c = &w->command;

	if (fabs(remainder) < WORTH_A_WORD * fabs(c->delta) ||
	    fabs(remainder) <= why_significance_noise(&c->significance))
		return;
	alloc_append(text, "\n  The remaining ");
	view_why_append_delta(text, remainder, "run");
	alloc_append(text, " are smaller changes.");
}

static void append_causes(char **text, const struct why *w)
{
	const struct why_context *c = &w->command;
	enum why_sureness sure = surest(w);
	double remainder = why_caused(c);
	scoped_free char *spread = NULL;
	uint32_t n = 0;

	if (!view_why_append_spread(&spread, w, c) && !sure)
		view_why_append_spread_out(&spread, c);
	if (spread) {
		/* Behind ". ". */
		alloc_append(text, strlen(spread) > 2 ? "\n  %s" : "", spread + 2);
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

/* Work that only changed its place: "__fput moved from close [task work] to close, with 920,948 instructions per run" */
static void append_moves(char **text, const struct why *w)
{
	const struct tree_pair_node *nodes = w->pair.nodes;
	const char *before = "\n";

	vec_each(const struct tree_move, move, &w->pair, moves) {
		if (!why_is_of_command(nodes[move->from].name) &&
		    !why_is_of_command(nodes[move->to].name))
			continue;
		alloc_append(text, "%s", before);
		view_append_name(text, move->name);
		alloc_append(text, " moved from ");
		view_append_name(text, nodes[move->from].name);
		alloc_append(text, " to ");
		view_append_name(text, nodes[move->to].name);
		alloc_append(text, ", with %s instructions per run",
			     view_why_number(OUTPUT_COUNT, move->insns));
		before = "; ";
	}
	if (*before == ';')
		alloc_append(text, ".");
}

/* Contexts that the command does not execute itself, and that changed all the same. */
static void append_others(char **text, const struct why *w)
{
	const char *before = "\nNot part of its CPU time: ";

	vec_each(const struct why_context, of, w, contexts) {
		if (of->changed < WHY_SURE || why_is_of_command(of->name))
			continue;
		alloc_append(text, "%s", before);
		view_append_name(text, of->name);
		alloc_append(text, " (");
		view_append_context(text, of->name);
		view_why_append_delta(text, of->delta, "run");
		alloc_append(text, ")");
		before = ", ";
	}
	if (*before == ',')
		alloc_append(text, ".");
}

char *view_why_command(const struct why *w)
{
	const struct why_context *only = why_only_context(w);
	char *text = NULL;

	if (!w->n_contexts)
		return view_why(w, NULL);
	append_whole(&text, w);
	append_moves(&text, w);
	if (w->command.told && only && only->told) {
		scoped_free char *answer = view_why(w, only);

		alloc_append(&text, "\n%s", answer);
	} else if (w->command.told) {
		append_causes(&text, w);
	}
	append_others(&text, w);
	view_why_append_switched(&text, w);
	return text;
}
