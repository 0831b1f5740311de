// SPDX-License-Identifier: GPL-2.0-or-later
/* why: the answer. */
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

#define MOST_CAUSES 3 /* in sentences; the table has all */

/* Return whether the sides are single recordings on a real clock, or were made in a row. */
static bool is_unclear(const struct why *w)
{
	return !w->tree.has_noise && !w->tree.has_callers && w->p[0]->clock != PROFILE_CLOCK_INSN;
}

const char *view_why_likely(const struct why *w)
{
	return is_unclear(w) ? "Possibly" : "Most likely";
}

const char *view_why_doubt(const struct why *w)
{
	return is_unclear(w) ? "This is unclear: recordings of one kernel may differ as much. "
			       "Record both sides in turn, several times, and merge each side's "
			       "files." :
			       "";
}

const char *view_why_number(enum output_type type, double value)
{
	return output_number(type, value, PROFILE_CLOCK_INSN);
}

void view_why_append_delta(char **text, const struct why *w, double delta, const char *per)
{
	enum profile_clock clock = w->p[0]->clock;

	if (w->tree.has_callers)
		delta = round(delta); /* counted */
	alloc_append(text, "%s%s per %s", output_number(OUTPUT_DELTA, delta, clock),
		     view_unit(clock, delta), per);
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

/* Return the name of the change that C's causes are shares of. */
static const char *change_name(const struct why_context *c)
{
	if (why_is_called_otherwise(c))
		return "the change per call";
	return c->moved != 0 ? "the rest of the change" : "the change";
}

/* " is 20.0 % slower", or "faster" */
static void append_percent(char **text, double pct)
{
	const char *number = view_why_number(OUTPUT_PERCENT, pct);

	alloc_append(text, " is %s %s", number + (number[0] == '+' || number[0] == '-'),
		     pct < 0 ? "faster" : "slower");
}

/* Return whether C's change as a whole is as sure as its causes. */
static bool has_changed(const struct why_context *c)
{
	return c->changed && c->changed >= c->told;
}

/* Return the verb for a run of context C, in a clause or in brackets: a syscall is called, others occur. */
static const char *verb(const struct why_context *c, bool bracketed)
{
	if (strchr(c->name, '['))
		return bracketed ? "occurring" : " occurs";
	return bracketed ? "called" : " is called";
}

/* " is called on the hardened side only, 1,000 times per run" */
static void append_side(char **text, const struct why_context *c, bool bracketed)
{
	int side = c->total[0] > 0 ? 0 : 1;

	alloc_append(text, "%s on the %s side only", verb(c, bracketed),
		     side ? "hardened" : "baseline");
	if (c->calls[side] > 0 && !c->by_itself)
		alloc_append(text, ", %s %s per run", view_why_number(OUTPUT_COUNT, c->calls[side]),
			     plural(c->calls[side], "time", "times"));
}

/* "; 95 % interval: -1,200 to +3,400 instructions per run", of C's change, where it is known. */
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
 * Return "clone is 20.0 % slower (+2,483,000 instructions per call, +12.1 % of the command's instructions)", for free(). If that
 * may be chance, UNSURE is a verb such as " differs most", which the same figures follow with their interval.
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
	view_append_name(&text, c->name);
	alloc_append(&text, "%s%s", unsure ?: "", begin);
	if (alone) {
		append_side(&text, c, unsure);
	} else if (why_is_called_otherwise(c)) {
		alloc_append(&text, "%s %s %s per run instead of %s", verb(c, unsure),
			     view_why_number(OUTPUT_COUNT, c->calls[1]),
			     plural(c->calls[1], "time", "times"),
			     view_why_number(OUTPUT_COUNT, c->calls[0]));
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

/* "; the largest part, 40 %, is in " */
static void append_largest(char **text, double share, int digits)
{
	alloc_append(text, "; the largest part");
	if (!view_is_more_than_all(share))
		alloc_append(text, ", %.*f %%,", digits, 100 * share);
	alloc_append(text, " is in ");
}

bool view_why_append_spread(char **text, const struct why *w, const struct why_context *c)
{
	struct why_spread s = why_spread_find(w, c);
	enum why_sureness sure = why_significance_sureness(&s.significance);
	scoped_free char *begin =
		sure == WHY_SURE ? alloc_strdup(". ") : alloc_printf(". %s, ", view_why_likely(w));

	if (!s.most || sure == WHY_CHANCE ||
	    fabs(s.delta + s.rest) < WORTH_A_WORD * fabs(why_caused(c)) ||
	    (c->causes.n_items && fabs(s.delta + s.rest) < fabs(c->causes.items[0].delta)))
		return false;
	view_append_share(text, begin, (s.delta + s.rest) / why_caused(c), change_name(c));
	alloc_append(text, " is spread over %u functions, which %s%s ", s.n_functions,
		     s.most->kind == WHY_GONE ? "no longer " : "",
		     s.most->inlined ? "execute" : "call");
	view_append_name(text, s.name);
	alloc_append(text, "%s: ", s.most->kind == WHY_NEW ? " on the hardened side only" : "");
	view_why_append_change(text, w, c, s.delta);
	if (fabs(s.rest) >= WORTH_A_WORD * fabs(s.delta)) {
		alloc_append(text, "; the rest of these functions accounts for ");
		view_why_append_change(text, w, c, s.rest);
	}
	append_largest(text, s.most->delta / s.delta, 0);
	view_append_name(text, c->causes.items[s.most->cause].name);
	view_why_append_reasons(text, w, &c->causes.items[s.most->cause], s.most);
	alloc_append(text, ".");
	return true;
}

/* Return the sum of all causes of C that are to be named. */
static double named_delta(const struct why_context *c)
{
	double sum = 0;

	for (uint32_t i = 0; i < c->causes.n_items; i++)
		if (why_is_named(c, i))
			sum += c->causes.items[i].delta;
	return sum;
}

/* Append the share that CAUSE has of C's change; N causes are named before it. */
static void append_share(char **text, const struct why *w, const struct why_context *c,
			 const struct why_cause *cause, uint32_t n)
{
	bool sure =
		c->told < WHY_SURE || why_significance_sureness(&cause->significance) == WHY_SURE;
	double all = has_changed(c) ? why_caused(c) : named_delta(c), share = cause->delta / all;

	/* Within the error of the whole, more than all is all. */
	if (share > 1 && fabs(cause->delta) <= fabs(all) + why_significance_noise(&c->significance))
		share = 1;
	if (fabs(all) < fabs(cause->delta) * MOST)
		alloc_append(text,
			     n ? " The other is in " : ". Opposite changes cancel out. One is in ");
	else if (!has_changed(c) || (n && view_is_more_than_all(share)))
		alloc_append(text, n ? " Another is in " : ". A significant change is in ");
	else if (share < 0)
		alloc_append(text, "%s%s%s opposite change is in ", n ? " " : ". ",
			     sure ? "" : view_why_likely(w), sure ? "An" : ", an");
	else if (n)
		alloc_append(text, " %s%s %.0f %% is in ", sure ? "" : view_why_likely(w),
			     sure ? "Another" : ", another", 100 * share);
	else {
		scoped_free char *begin =
			sure ? alloc_strdup(". ") : alloc_printf(". %s, ", view_why_likely(w));

		view_append_share(text, begin, share, change_name(c));
		alloc_append(text, " is in ");
	}
}

/* If the named causes make up more than C's change, append REST, by which the others reduce it. */
static void append_rest(char **text, const struct why *w, const struct why_context *c, double rest)
{
	if (!has_changed(c) || !(rest / why_caused(c) <= -WORTH_A_WORD))
		return;
	alloc_append(text, " The rest of ");
	view_append_name(text, c->name);
	alloc_append(text, " accounts for ");
	view_why_append_change(text, w, c, rest);
	alloc_append(text, ".");
}

/* ". The change is spread out: 58 functions make up 90 % of it", or nothing but ".". */
void view_why_append_spread_out(char **text, const struct why *w, const struct why_context *c)
{
	bool functions = w->tree.has_callers || view_why_has_functions(w);
	uint32_t many = why_spread_functions(c, NEARLY_ALL);
	double largest;

	/* More calls explain the change, and no code the little that remains. */
	if (!c->causes.n_items || fabs(why_caused(c)) < HALF_A_PERCENT * c->total[0]) {
		alloc_append(text, ".");
		return;
	}
	largest = c->causes.items[0].delta / why_caused(c);
	alloc_append(text, ". %s is spread out: %u %s %.0f %% of it%s",
		     why_is_called_otherwise(c) ? "The change per call" : "The change", many,
		     functions ? plural(many, "function makes up", "functions make up") :
				 plural(many, "syscall makes up", "syscalls make up"),
		     100 * NEARLY_ALL,
		     fabs(largest) < WORTH_A_WORD ? ", none of them a tenth" : "");
	append_largest(text, largest, 1);
	if (functions && why_is_untimed(w, &c->causes, &c->causes.items[0]))
		alloc_append(text, "no timed function of ");
	view_append_name(text, c->causes.items[0].name);
	alloc_append(text, ".");
}

static void append_causes(char **text, const struct why *w, const struct why_context *c)
{
	uint32_t n = 0;
	double rest = why_caused(c);

	if (view_why_append_spread(text, w, c))
		return;
	if (view_why_is_unopened(w, c)) {
		alloc_append(text, ". Record with --func to see where.");
		return;
	}
	for (uint32_t i = 0; i < c->causes.n_items && n < MOST_CAUSES; i++) {
		const struct why_cause *cause = &c->causes.items[i];
		scoped_free char *sentence = NULL;

		if (!why_is_named(c, i))
			continue;
		sentence = view_why_cause(w, c, cause);
		append_share(text, w, c, cause, n);
		alloc_append(text, "%s", sentence);
		view_why_append_reasons(text, w, cause, &c->causes.parts[cause->first_part]);
		alloc_append(text, ".");
		rest -= cause->delta;
		n++;
	}
	if (n)
		append_rest(text, w, c, rest);
	else
		view_why_append_spread_out(text, w, c);
}

/* Append the only protection that differs, if the text does not name it. */
void view_why_append_switched(char **text, const struct why *w)
{
	const struct catalogue_protection *only =
		w->switched.n_items == 1 ? w->switched.items[0] : NULL;

	if (!only || strstr(*text, only->name))
		return;
	alloc_append(text, " The only protection that differs between the sides is %s%s.",
		     only->name,
		     only->origin == CATALOGUE_COMPILER ?
			     ", whose code the compiler inserts everywhere" :
			     "");
}

/* Append how sure a change of C is that is likely only. */
static void append_odds(char **text, const struct why *w, const struct why_context *c)
{
	if (is_unclear(w)) {
		alloc_append(text, " %s", view_why_doubt(w));
	} else if (!w->tree.has_noise) {
		alloc_append(text, " Measured over ");
		view_append_sides(text, w->tree.n_runs, view_units[ANALYZE_UNIT_RUN]);
		alloc_append(text, "; variation between runs is unknown.");
	} else {
		alloc_append(
			text,
			" Comparing a kernel with itself shows as much in %.0f %% of cases; use more --boots to be sure.",
			100 * fmin(c->significance.p,
				   c->causes.n_items ? c->causes.items[0].significance.p : 1));
	}
}

/* Append the other contexts of the same syscall that changed, since work may move between C and the work that it queues. */
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
		view_append_context(text, of->name);
		view_why_append_delta(text, w, of->delta, "run");
		alloc_append(text, ")");
		before = ", ";
	}
	if (*before == ',')
		alloc_append(text, ".");
}

/* Return "In clone, a significant change is in ...": the causes, their sum, and CHANGE of the whole, which is less sure. */
static char *begin_with_causes(const struct why *w, const struct why_context *c, const char *change)
{
	scoped_free char *causes = NULL;
	char *text = alloc_strdup("In ");
	double sum = named_delta(c);

	append_causes(&causes, w, c);
	causes[2] = (char)tolower(causes[2]); /* behind ". " */
	view_append_name(&text, c->name);
	alloc_append(&text, ", %s That is %.3g %% of the context's instructions", causes + 2,
		     percent(sum, c->total[0]));
	if (is_per_call(c)) {
		alloc_append(&text, ", ");
		view_why_append_delta(&text, w, sum / fmin(c->calls[0], c->calls[1]), "call");
	}
	alloc_append(&text, "; as a whole, %s.", change);
	return text;
}

/* "; __fput, 916,944 instructions per run, moved here from close [task work]" */
static void append_moves(char **text, const struct why *w, const struct why_context *c)
{
	vec_each(const struct tree_move, move, &w->pair, moves) {
		bool here = move->to == c->node;

		if (!here && move->from != c->node)
			continue;
		alloc_append(text, "; ");
		view_append_name(text, move->name);
		alloc_append(text, ", %s%s per run, moved %s ",
			     output_number(OUTPUT_TIME, move->insns, w->p[0]->clock),
			     view_unit(w->p[0]->clock, move->insns), here ? "here from" : "to");
		view_append_name(text, w->pair.nodes[here ? move->from : move->to].name);
	}
}

static char *begin_with_change(const struct why *w, const struct why_context *c, const char *change)
{
	bool likely = c->told == WHY_LIKELY;
	char *text = alloc_printf("%s%s%s", likely ? view_why_likely(w) : "", likely ? ", " : "",
				  change);

	append_moves(&text, w, c);
	append_causes(&text, w, c);
	return text;
}

char *view_why(const struct why *w, const struct why_context *c)
{
	scoped_free char *change = NULL;
	char *text;

	if (!c)
		return alloc_strdup("Nothing to compare: neither recording contains any context.");
	change = change_text(w, c,
			     !c->told ? (c == w->contexts ? " differs most" : " differs") :
			     !has_changed(c) && w->tree.has_noise ? " shows no significant change" :
								    NULL);
	if (!c->told)
		return alloc_printf("No significant change: %s%s.", change,
				    w->tree.has_noise ? "" :
							"; 1 run per side cannot resolve less");
	text = c->told == WHY_SURE && !has_changed(c) && c->causes.n_items ?
		       begin_with_causes(w, c, change) :
		       begin_with_change(w, c, change);
	append_moved(&text, w, c);
	view_why_append_switched(&text, w);
	if (c->told == WHY_LIKELY)
		append_odds(&text, w, c);
	return text;
}
