// SPDX-License-Identifier: GPL-2.0-or-later
/* `kprotperf why`: sentences on the change of the command or of a context, on the causes, and on changes elsewhere. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "analyze/why/why.h"
#include "base/alloc.h"
#include "base/plural.h"
#include "output/number.h"
#include "view/names.h"
#include "view/page/page.h"
#include "view/why.h"

#define MOST_CAUSES   3 /* maximum number of causes with a sentence; the table has all */
#define MOST_CONTEXTS 3 /* maximum number of named contexts per cause */

/* Return whether it is unknown how much recordings of one kernel differ, as for times in ns from probes without repetitions. */
static bool is_unclear(const struct why *w)
{
	return !w->tree.has_noise && !w->tree.has_callers && w->p[0]->clock != PROFILE_CLOCK_INSN;
}

/* Return "Most likely", or "Possibly" if two recordings of the same kernel may differ as much as these two. */
static const char *likely(const struct why *w)
{
	return is_unclear(w) ? "Possibly" : "Most likely";
}

const char *view_why_number(enum output_type type, double value)
{
	return output_number(type, value, PROFILE_CLOCK_INSN);
}

const char *view_why_percent(double change)
{
	const char *number = view_why_number(OUTPUT_PERCENT, change);

	return number + (number[0] == '+' || number[0] == '-');
}

void view_why_append_calls(char **text, const double calls[2])
{
	alloc_append(text, "%s %s per run instead of %s", view_why_number(OUTPUT_COUNT, calls[1]),
		     plural(calls[1], "time", "times"), view_why_number(OUTPUT_COUNT, calls[0]));
}

void view_why_append_delta(char **text, const struct why *w, double delta, const char *per)
{
	if (w->tree.has_callers)
		delta = round(delta); /* instructions were counted, so they are integers */
	alloc_append(text, "%s per %s", output_amount(OUTPUT_DELTA, delta, w->p[0]->clock), per);
}

static double percent(double part, double whole)
{
	return whole != 0 ? 100 * part / whole : NAN;
}

static bool is_per_call(const struct why_context *c)
{
	return c->calls[0] > 0 && c->calls[1] > 0 && !c->by_itself;
}

void view_why_append_change(char **text, const struct why *w, const struct why_context *c,
			    double delta)
{
	if (why_is_called_otherwise(c))
		view_why_append_delta(text, w, delta / fmin(c->calls[0], c->calls[1]), "call");
	else
		view_why_append_delta(text, w, delta, "run");
}

static void begin(char **text, const char *indent)
{
	alloc_append(text, "%s%s", *text ? "\n" : "", indent);
}

/* Append what precedes an item of a list: SEPARATOR or, for the first item, a new paragraph that begins with FIRST. */
static void begin_item(char **text, bool *any, const char *first, const char *separator)
{
	if (*any)
		alloc_append(text, "%s", separator);
	else
		begin(text, first);
	*any = true;
}

/* ---- the change ---- */

/* Return whether C's change is at least as certain as the causes of the change. */
static bool has_changed(const struct why_context *c)
{
	return c->changed && c->changed >= c->sureness;
}

/* Return whether the sentence on C's change begins with "Most likely" or "Possibly". Sentences on causes then omit these words. */
static bool is_said_likely(const struct why *w, const struct why_context *c)
{
	if (c->sureness != WHY_LIKELY)
		return false;
	return c->is_command ? w->tree.has_callers || is_unclear(w) : has_changed(c);
}

/* Append C's change in percent, "7.0 % more", or "the same". */
static void append_more(char **text, const struct why_context *c)
{
	if (c->delta == 0)
		alloc_append(text, "the same");
	else
		alloc_append(text, "%s %s",
			     view_why_percent(analyze_percent(c->delta, c->total[0])),
			     c->delta < 0 ? "less" : "more");
}

/* Append the change with its uncertainty, "+2,870,123 instructions per run, ±50,123; 3 boots per side". */
static void append_figures(char **text, const struct why *w)
{
	const struct why_context *c = &w->command;
	double noise = why_significance_noise(&c->significance);

	if (c->delta != 0) {
		view_why_append_delta(text, w, c->delta, "run");
		if (!isnan(noise))
			alloc_append(text, ", \u00b1%s",
				     output_number(OUTPUT_TIME, noise, w->p[0]->clock));
		alloc_append(text, "; ");
	}
	if (w->cpu && w->cpu->how != ANALYZE_HOW_NONE)
		alloc_append(text, "%s; ", view_hows[w->cpu->how]);
	view_append_sides(text, w->repetitions, view_units[w->tree.unit[1]]);
}

/* Append "tar takes 7.0 % more CPU time (+2,870,123 instructions per run, ±50,123; 3 boots per side)". */
static void append_whole(char **text, const struct why *w)
{
	const struct why_context *c = &w->command;

	if (!c->sureness && w->tree.has_noise && c->delta != 0)
		alloc_append(text, "No significant change: ");
	else if (!c->sureness && c->delta != 0)
		alloc_append(text, "Too few runs to tell a change: ");
	else if (is_said_likely(w, c))
		alloc_append(text, "%s, ", likely(w));
	if (w->tree.has_callers || w->cpu)
		view_append(text, "%s takes ", c->name);
	else
		alloc_append(text, "Syscalls and page faults take ");
	append_more(text, c);
	alloc_append(text, " CPU time (");
	append_figures(text, w);
	alloc_append(text, ")");
	if (c->sureness > c->changed)
		alloc_append(text, w->tree.has_noise ?
					   ", within the variation between boots of one kernel" :
					   ", within the spread of its calls");
	alloc_append(text, ".");
}

static void append_percent(char **text, double pct)
{
	alloc_append(text, " is %s %s", view_why_percent(pct), pct < 0 ? "faster" : "slower");
}

/* Return the verb for C: syscalls are called, other contexts occur. BRACKETED: return a participle for a text in brackets. */
static const char *verb(const struct why_context *c, bool bracketed)
{
	if (strchr(c->name, '['))
		return bracketed ? "occurring" : " occurs";
	return bracketed ? "called" : " is called";
}

/* Append " is called on the hardened side only, 1,000 times per run". */
static void append_side(char **text, const struct why_context *c, bool bracketed)
{
	int side = c->total[0] > 0 ? 0 : 1;

	alloc_append(text, "%s on the %s side only", verb(c, bracketed),
		     side ? "hardened" : "baseline");
	if (c->calls[side] > 0 && !c->by_itself)
		alloc_append(text, ", %s %s per run", view_why_number(OUTPUT_COUNT, c->calls[side]),
			     plural(c->calls[side], "time", "times"));
}

/* Append C's interval, "; 95 % interval: -1,200 to +3,400 instructions per run"; append nothing if the interval is unknown. */
static void append_interval(char **text, const struct why *w, const struct why_context *c)
{
	const struct analyze_interval *ci = &c->significance.ci;

	if (isnan(ci->low) || isnan(ci->high))
		return;
	alloc_append(text, "; 95 %% interval: %s to ",
		     output_number(OUTPUT_DELTA, round(ci->low), w->p[0]->clock));
	view_why_append_delta(text, w, round(ci->high), "run");
}

/*
 * Return "clone is 20.0 % slower (+2,483,000 instructions per call, +12.1 % of the command's instructions)", for free(). UNSURE is
 * NULL for a certain change. Otherwise it follows C's name, such as " differs most", and the brackets have a confidence interval.
 */
static char *change_text(const struct why *w, const struct why_context *c, const char *unsure)
{
	const char *begin = unsure ? " (" : "", *end = unsure ? ", " : " (";
	double pct = percent(c->delta, c->total[0]);
	bool per_call = is_per_call(c), alone = c->total[0] == 0 || c->total[1] == 0;
	char *text = NULL;

	if (per_call)
		pct = percent(c->total[1] / c->calls[1] - c->total[0] / c->calls[0],
			      c->total[0] / c->calls[0]);
	per_call &= !alone && !why_is_called_otherwise(c);
	view_append(&text, "%s%s%s", c->name, unsure ?: "", begin);
	if (alone) {
		append_side(&text, c, unsure);
	} else if (why_is_called_otherwise(c)) {
		alloc_append(&text, "%s ", verb(c, unsure));
		view_why_append_calls(&text, c->calls);
	} else if (unsure) {
		alloc_append(&text, "%s", view_why_number(OUTPUT_PERCENT, pct));
	} else {
		append_percent(&text, pct);
	}
	alloc_append(&text, "%s", end);
	view_append_context(&text, c->name);
	view_why_append_delta(&text, w,
			      per_call ? c->total[1] / c->calls[1] - c->total[0] / c->calls[0] :
					 c->delta,
			      per_call ? "call" : "run");
	if (w->tree.has_callers || w->cpu)
		alloc_append(
			&text, ", %s of the command's %s",
			view_why_number(OUTPUT_PERCENT, percent(c->delta, w->command.total[0])),
			w->tree.has_callers ? "instructions" : "CPU time");
	if (unsure)
		append_interval(&text, w, c);
	alloc_append(&text, ")");
	if (!unsure && why_is_called_otherwise(c) && fabs(pct) >= 100 * HALF_A_PERCENT) {
		alloc_append(&text, ", and");
		append_percent(&text, pct);
		alloc_append(&text, " per call");
	}
	return text;
}

/* Append functions that moved to or from C: "; __fput, 916,944 instructions per run, moved here from close [task work]". */
static void append_moves_of(char **text, const struct why *w, const struct why_context *c)
{
	vec_each(const struct tree_move, move, &w->pair, moves) {
		bool here = move->to == c->node;

		if (!here && move->from != c->node)
			continue;
		view_append(text, "; %s, %s per run, moved %s %s", move->name,
			    output_amount(OUTPUT_TIME, move->insns, w->p[0]->clock),
			    here ? "here from" : "to",
			    w->pair.nodes[here ? move->from : move->to].name);
	}
}

static void append_context(char **text, const struct why *w, const struct why_context *c)
{
	bool is_likely = is_said_likely(w, c);
	scoped_free char *change =
		change_text(w, c,
			    !c->sureness ? (c == w->contexts ? " differs most" : " differs") :
			    !has_changed(c) && (w->tree.has_noise || c->delta == 0) ?
					   " shows no significant change" :
					   NULL);

	alloc_append(text, "%s%s%s",
		     !c->sureness ? "No significant change: " :
		     is_likely    ? likely(w) :
				    "",
		     is_likely ? ", " : "", change);
	if (c->sureness)
		append_moves_of(text, w, c);
	else if (!w->tree.has_noise)
		alloc_append(text, "; 1 run per side cannot resolve less");
	alloc_append(text, ".");
}

/* ---- the causes of the change ---- */

/* Return a name for the part of C's change that C's causes explain, such as "the change per call" or "it". */
static const char *change_name(const struct why_context *c)
{
	if (why_is_called_otherwise(c))
		return "the change per call";
	return c->moved != 0 ? "the rest of the change" : "it";
}

static void append_largest(char **text, double share, int digits)
{
	alloc_append(text, "; the largest part");
	if (!view_is_more_than_all(share))
		alloc_append(text, ", %.*f %%,", digits, 100 * share);
	alloc_append(text, " is in ");
}

/* If many functions changed by the same call, append "100 % of it is spread over 4 functions, which call ..." and return true. */
static bool append_spread(char **text, const struct why *w, const struct why_context *c)
{
	struct why_spread s = why_spread_find(w, c);
	enum why_sureness sure = why_significance_sureness(&s.significance);
	scoped_free char *begins = alloc_printf("%s%s", sure == WHY_SURE ? "" : likely(w),
						sure == WHY_SURE ? "" : ", ");

	if (!s.most || sure == WHY_CHANCE ||
	    fabs(s.delta + s.rest) < WORTH_A_WORD * fabs(why_caused(c)) ||
	    (c->causes.n_items && fabs(s.delta + s.rest) < fabs(c->causes.items[0].delta)))
		return false;
	begin(text, "  ");
	view_append_share(text, begins, (s.delta + s.rest) / why_caused(c), change_name(c));
	view_append(text, " is spread over %u functions, which %s%s %s%s: ", s.n_functions,
		    s.most->kind == WHY_GONE ? "no longer " : "",
		    s.most->inlined ? "execute" : "call", s.name,
		    s.most->kind == WHY_NEW ? " on the hardened side only" : "");
	view_why_append_change(text, w, c, s.delta);
	if (fabs(s.rest) >= WORTH_A_WORD * fabs(s.delta)) {
		alloc_append(text, "; the rest of these functions accounts for ");
		view_why_append_change(text, w, c, s.rest);
	}
	append_largest(text, s.most->delta / s.delta, 0);
	view_append(text, "%s", c->causes.items[s.most->cause].name);
	view_why_append_reasons(text, w, &c->causes.items[s.most->cause], s.most);
	alloc_append(text, ".");
	return true;
}

/* Append "The change is spread out: 58 functions make up 90 % of it"; nothing if C changed by less than HALF_A_PERCENT. */
static void append_spread_out(char **text, const struct why *w, const struct why_context *c)
{
	bool functions = w->tree.has_callers || view_why_has_functions(w);
	uint32_t many = why_spread_functions(c, NEARLY_ALL);
	double largest;

	if (!c->causes.n_items || fabs(why_caused(c)) < HALF_A_PERCENT * c->total[0])
		return;
	largest = c->causes.items[0].delta / why_caused(c);
	begin(text, "  ");
	alloc_append(text, "%s is spread out: %u %s %.0f %% of it%s",
		     why_is_called_otherwise(c) ? "The change per call" : "The change", many,
		     functions ? plural(many, "function makes up", "functions make up") :
				 plural(many, "syscall makes up", "syscalls make up"),
		     100 * NEARLY_ALL,
		     fabs(largest) < WORTH_A_WORD ? ", none of them a tenth" : "");
	append_largest(text, largest, 1);
	view_append(text, "%s%s.",
		    functions && why_is_untimed(w, &c->causes, &c->causes.items[0]) ?
			    "no timed function of " :
			    "",
		    c->causes.items[0].name);
}

/* Return the change of the context at NODE in percent. */
static double change_of(const struct why *w, uint32_t node)
{
	vec_each(const struct why_context, c, w, contexts)
		if (c->node == node)
			return analyze_percent(c->delta, c->total[0]);
	return NAN;
}

/*
 * Append the contexts of CAUSE, and how much each context changed: "; 73 % of this in clone (+0.60 %), 27 % in [irq] (interrupts,
 * +0.12 %) and 5 others". IS_FIRST: explain names such as [irq].
 */
static void append_contexts(char **text, const struct why *w, const struct why_cause *cause,
			    bool is_first)
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
		view_append(text, "%s", w->pair.nodes[share->context].name);
		if (!isnan(pct)) {
			alloc_append(text, " (");
			if (is_first)
				view_append_context(text, w->pair.nodes[share->context].name);
			alloc_append(text, "%s)", view_why_number(OUTPUT_PERCENT, pct));
		}
		n++;
	}
	if (more)
		alloc_append(text, " and %u %s", more, plural(more, "other", "others"));
}

/* Return the highest certainty of C's causes. */
static enum why_sureness surest(const struct why_context *c)
{
	enum why_sureness most = WHY_CHANCE;

	for (uint32_t i = 0; i < c->causes.n_items; i++)
		if (why_is_named(c, i) > most)
			most = why_is_named(c, i);
	return most;
}

/* Return cause I's fraction of C's change. Return 1 or -1 if the cause exceeds the change by less than the uncertainty. */
static double share_of(const struct why_context *c, uint32_t i)
{
	double delta = c->causes.items[i].delta, all = why_caused(c);

	if (fabs(delta) > fabs(all) &&
	    fabs(delta) <= fabs(all) + why_significance_noise(&c->significance))
		delta = copysign(all, delta);
	return delta / all;
}

/* Return whether to print each cause's share of C's change: the change is as certain as SURE, and no such cause is much larger. */
static bool has_shares(const struct why_context *c, enum why_sureness sure)
{
	for (uint32_t i = 0; i < c->causes.n_items; i++)
		if (why_is_named(c, i) >= sure && share_of(c, i) > MORE_THAN_ALL)
			return false;
	return c->changed && c->changed >= sure;
}

/* Begin the sentence on cause I, "52 % of it is in " or "Another is in ". SURE: I's certainty. N: number of causes before I. */
static void append_share(char **text, const struct why *w, const struct why_context *c, uint32_t i,
			 enum why_sureness sure, uint32_t n)
{
	bool has_share = has_shares(c, sure),
	     is_likely = sure == WHY_LIKELY && !is_said_likely(w, c);
	const char *kind = !has_share && n  ? "another" :
			   has_share        ? "an opposite change" :
			   sure == WHY_SURE ? "a significant change" :
					      "a change";

	begin(text, "  ");
	if (is_likely)
		alloc_append(text, "%s, ", likely(w));
	if (has_share && share_of(c, i) > 0)
		alloc_append(text, "%.0f %% of %s is in ", 100 * share_of(c, i), change_name(c));
	else
		alloc_append(text, "%c%s is in ", is_likely ? *kind : toupper(*kind), kind + 1);
}

static void append_cause(char **text, const struct why *w, const struct why_context *c, uint32_t i,
			 enum why_sureness sure, uint32_t n)
{
	const struct why_cause *cause = &c->causes.items[i];
	const struct why_part *part = &c->causes.parts[cause->first_part];
	scoped_free char *sentence = view_why_cause(w, c, cause);

	append_share(text, w, c, i, sure, n);
	alloc_append(text, "%s", sentence);
	if (c->is_command &&
	    strcmp(cause->name, w->pair.nodes[c->causes.shares[cause->first_share].context].name) !=
		    0)
		append_contexts(text, w, cause, !n);
	view_why_append_reasons(text, w, cause, part);
	alloc_append(text, ".");
}

/* Append the part of C's change that no named cause explains, if it is large enough. */
static void append_remainder(char **text, const struct why *w, const struct why_context *c,
			     double remainder)
{
	if (!(fabs(remainder) >= WORTH_A_WORD * fabs(why_caused(c))) || fabs(remainder) < 1 ||
	    fabs(remainder) <= why_significance_noise(&c->significance))
		return;
	begin(text, "  The remaining ");
	view_why_append_change(text, w, c, remainder);
	alloc_append(text, " are smaller changes.");
}

/* Return the largest of C's causes that are less certain than SURE and larger than MOST (ticks), or NULL. */
static const struct why_cause *find_uncertain(const struct why_context *c, enum why_sureness sure,
					      double most)
{
	const struct why_cause *largest = NULL;

	for (uint32_t i = 0; i < c->causes.n_items; i++) {
		const struct why_cause *cause = &c->causes.items[i];

		if (why_significance_sureness(&cause->significance) < sure &&
		    fabs(cause->delta) > most) {
			largest = cause;
			most = fabs(cause->delta);
		}
	}
	return largest;
}

static void append_uncertain(char **text, const struct why *w, const struct why_context *c,
			     const struct why_cause *cause)
{
	begin(text, "  A larger change, in ");
	view_append(text, "%s (", cause->name);
	view_why_append_change(text, w, c, cause->delta);
	alloc_append(text, "), is not certain.");
}

static void append_causes(char **text, const struct why *w, const struct why_context *c)
{
	enum why_sureness sure = surest(c);
	double most = 0, remainder = why_caused(c) - (c->is_command ? w->outside : 0);
	const struct why_cause *uncertain = NULL;
	uint32_t n = 0;

	if (append_spread(text, w, c))
		return;
	if (!sure)
		append_spread_out(text, w, c);
	for (uint32_t i = 0; i < c->causes.n_items && n < MOST_CAUSES && sure; i++) {
		if (why_is_named(c, i) < sure)
			continue;
		append_cause(text, w, c, i, sure, n);
		remainder -= c->causes.items[i].delta;
		most = fmax(most, fabs(c->causes.items[i].delta));
		n++;
	}
	if (n)
		uncertain = find_uncertain(c, sure, most);
	if (uncertain)
		remainder -= uncertain->delta;
	if (has_shares(c, sure))
		append_remainder(text, w, c, remainder);
	if (uncertain)
		append_uncertain(text, w, c, uncertain);
}

/* ---- changes that C's change does not include ---- */

/* Append functions that moved to another context: "__fput moved from close [task work] to close, with 920,948 ...". */
static void append_moves(char **text, const struct why *w)
{
	const struct tree_pair_node *nodes = w->pair.nodes;
	bool any = false;

	vec_each(const struct tree_move, move, &w->pair, moves) {
		if (!why_is_of_command(nodes[move->from].name) &&
		    !why_is_of_command(nodes[move->to].name))
			continue;
		begin_item(text, &any, "", "; ");
		view_append(text, "%s moved from %s to %s, with %s per run", move->name,
			    nodes[move->from].name, nodes[move->to].name,
			    output_amount(OUTPUT_TIME, move->insns, w->p[0]->clock));
	}
	if (any)
		alloc_append(text, ".");
}

/*
 * Return whether to mention the context OF, whose time is not part of C's. Mention it if its change is certain, or large in [irq]
 * or [softirq]. Ignore the latter if W->cpu is set, since the kernel's CPU time of a command includes interrupts.
 */
static bool is_missed(const struct why *w, const struct why_context *c,
		      const struct why_context *of)
{
	return of->changed == WHY_SURE || (c->is_command && !w->cpu && why_is_interrupt(of->name) &&
					   fabs(of->delta) >= fmax(WORTH_A_WORD * fabs(c->delta),
								   HALF_A_PERCENT * c->total[0]));
}

/* Append the changed contexts that the command does not execute itself, such as interrupts. */
static void append_others(char **text, const struct why *w, const struct why_context *c)
{
	bool any = false;

	vec_each(const struct why_context, of, w, contexts) {
		if (of == c || why_is_of_command(of->name) || !is_missed(w, c, of))
			continue;
		begin_item(text, &any, "Not included: ", ", ");
		view_append(text, "%s (", of->name);
		view_append_context(text, of->name);
		view_why_append_delta(text, w, of->delta, "run");
		alloc_append(text, "%s)", of->changed == WHY_SURE ? "" : ", which is not certain");
	}
	if (any)
		alloc_append(text, ".");
}

/* Append the change of CPU time outside of syscalls and page faults, if it is known and large enough. */
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

/* Append a note on protections that cost cycles. EXTENT: counts of instructions show none of the cost (CATALOGUE_NO) or a part. */
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

static const struct catalogue_protection *only_switched(const struct why *w)
{
	return w->switched.n_items == 1 ? w->switched.items[0] : NULL;
}

/* Append a hint on options of `kprotperf record` that time single functions. */
static void append_hint(char **text, const struct why *w)
{
	const struct catalogue_protection *only = only_switched(w);

	begin(text, "  Record with ");
	if (only && only->functions)
		alloc_append(text, "--protection=%s or ", only->name);
	alloc_append(text, "--func to see where.");
}

/* If only one protection differs and the text does not name it, append its name. */
static void append_switched(char **text, const struct why *w)
{
	const struct catalogue_protection *only = only_switched(w);

	if (!only || strstr(*text, only->name))
		return;
	begin(text, "The only protection that differs between the sides is ");
	alloc_append(text, "%s%s.", only->name,
		     only->origin == CATALOGUE_COMPILER ?
			     ", whose code the compiler inserts everywhere" :
			     "");
}

/* C's change is called likely. Append the probability that it is chance or, if that is unknown, the reason. */
static void append_odds(char **text, const struct why *w, const struct why_context *c)
{
	double p =
		fmin(c->significance.p, c->causes.n_items ? c->causes.items[0].significance.p : 1);

	if (is_unclear(w))
		begin(text,
		      "  This is unclear: recordings of one kernel may differ as much. Record both "
		      "sides in turn, several times, and merge each side's files.");
	if (!w->tree.has_noise)
		return;
	begin(text, "  Comparing a kernel with itself shows as much in ");
	alloc_append(text, "%.0f %% of cases; use more --boots to be sure.", 100 * p);
}

char *view_why(const struct why *w, const struct why_context *c)
{
	char *text = NULL;

	if (!c)
		return alloc_strdup("Nothing to compare: neither recording contains any context.");
	if (!c->is_command) {
		append_context(&text, w, c);
	} else if (w->tree.has_callers || w->cpu || c->sureness) {
		append_whole(&text, w);
		append_moves(&text, w);
	}
	if (c->sureness && (c->is_command || !view_why_is_unopened(w, c)))
		append_causes(&text, w, c);
	if (c->sureness && c->is_command)
		append_outside(&text, w);
	if (c->sureness && view_why_is_unopened(w, c))
		append_hint(&text, w);
	if (c->sureness == WHY_LIKELY)
		append_odds(&text, w, c);
	append_others(&text, w, c);
	append_cycles(&text, w, CATALOGUE_NO);
	append_cycles(&text, w, CATALOGUE_PARTLY);
	if (c->sureness)
		append_switched(&text, w);
	return text;
}
