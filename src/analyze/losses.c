// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/losses.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/accounting.h"
#include "analyze/cost.h"
#include "analyze/table.h"
#include "base/alloc.h"
#include "output/number.h"
#include "output/text.h"

/* Functions that a warning names before it leaves it at that. */
#define DETACHED_NAMED 3

void analyze_losses_sum(struct analyze_losses *losses, const struct profile *p)
{
	uint32_t run, i;

	for (i = 0; i < PROFILE_N_LOSSES; i++)
		losses->counts[i] = PROFILE_NOT_COUNTED;
	losses->samples_expected = losses->samples_received = PROFILE_NOT_COUNTED;
	for (run = 0; run < p->n_runs; run++) {
		const struct profile_run *r = &p->runs[run];

		if (r->kind == PROFILE_RUN_CONTROL)
			continue;
		for (i = 0; i < PROFILE_N_LOSSES; i++)
			profile_count_add(&losses->counts[i], r->losses[i]);
		profile_count_add(&losses->samples_expected, r->samples_expected);
		profile_count_add(&losses->samples_received, r->samples_received);
	}
}

bool analyze_losses_any(const struct analyze_losses *losses)
{
	uint32_t i;

	for (i = 0; i < PROFILE_N_LOSSES; i++)
		if (!profile_loss_is_info(i) && losses->counts[i] &&
		    losses->counts[i] != PROFILE_NOT_COUNTED)
			return true;
	return false;
}

static void add(struct analyze_warnings *w, const char *fmt, va_list args)
{
	char *text;

	if (vasprintf(&text, fmt, args) < 0)
		text = alloc_strdup("out of memory");
	vec_push(w, texts, output_text_escape(text));
	free(text);
}

void analyze_warnings_add(struct analyze_warnings *w, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add(w, fmt, args);
	va_end(args);
}

void analyze_warnings_invalidate(struct analyze_warnings *w, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	add(w, fmt, args);
	va_end(args);
	text = w->texts[w->n_texts - 1];
	memmove(&w->texts[w->n_invalidating + 1], &w->texts[w->n_invalidating],
		(w->n_texts - 1 - w->n_invalidating) * sizeof(*w->texts));
	w->texts[w->n_invalidating++] = text;
}

void analyze_warnings_deinit(struct analyze_warnings *w)
{
	uint32_t i;

	for (i = 0; i < w->n_texts; i++)
		free(w->texts[i]);
	free(w->texts);
	memset(w, 0, sizeof(*w));
}

static void warn_losses(struct analyze_warnings *w, const struct profile *p, const char *side)
{
	struct analyze_losses losses;
	char buf[OUTPUT_NUMBER_MAX];
	uint32_t i;

	analyze_losses_sum(&losses, p);
	for (i = 0; i < PROFILE_N_LOSSES; i++) {
		if (profile_loss_is_info(i) || !losses.counts[i] ||
		    losses.counts[i] == PROFILE_NOT_COUNTED)
			continue;
		analyze_warnings_add(
			w, "%s%s %s", side,
			output_number(buf, OUTPUT_COUNT, (double)losses.counts[i], p->clock),
			profile_loss_text(i));
	}
}

#define MISSED_SHOWN 3

/* The site with most returns missed of those that are not in SHOWN, or NULL. */
static const struct profile_site *most_missed(const struct profile *p,
					      const struct profile_site *const *shown, uint32_t n)
{
	const struct profile_site *most = NULL;
	uint32_t i, j;

	for (i = 0; i < p->n_sites; i++) {
		const struct profile_site *site = &p->sites[i];

		for (j = 0; j < n && shown[j] != site; j++)
			;
		if (j == n && site->missed && (!most || site->missed > most->missed))
			most = site;
	}
	return most;
}

/* Functions under kprobes lose returns when many tasks sleep in them; fentry does not. */
static void warn_missed(struct analyze_warnings *w, const struct profile *p, const char *side)
{
	const struct profile_site *shown[MISSED_SHOWN], *site;
	char n[OUTPUT_NUMBER_MAX];
	uint32_t i;

	for (i = 0; i < MISSED_SHOWN; i++) {
		site = shown[i] = most_missed(p, shown, i);
		if (!site)
			return;
		output_number(n, OUTPUT_COUNT, (double)site->missed, p->clock);
		analyze_warnings_add(w, "%s%s calls of %s are not timed: %s missed their return%s",
				     side, n, site->name, profile_mechanism_name(site->mech),
				     site->mech == PROFILE_MECH_FENTRY ?
					     "" :
					     ", as it does where many tasks sleep in a function "
					     "(record --attach=fentry does not)");
	}
}

static void warn_failed_runs(struct analyze_warnings *w, const struct profile *p, const char *side)
{
	uint32_t i, failed = 0, first = 0;

	for (i = 0; i < p->n_runs; i++)
		if (p->runs[i].status && !failed++)
			first = i;
	if (failed)
		analyze_warnings_add(
			w, "%sthe workload failed in %u of %u run%s (exit status %d in run %u)",
			side, failed, p->n_runs, p->n_runs == 1 ? "" : "s", p->runs[first].status,
			first + 1);
}

/* Once, with the first few names. */
static void warn_detached(struct analyze_warnings *w, const struct profile *p, const char *side)
{
	const char *names[DETACHED_NAMED] = { NULL };
	uint32_t i, n = 0;

	for (i = 0; i < p->n_sites; i++) {
		if (!p->sites[i].detached)
			continue;
		if (n < DETACHED_NAMED)
			names[n] = p->sites[i].name;
		n++;
	}
	if (n)
		analyze_warnings_add(
			w,
			"%s--max-overhead detached %u function%s while the command ran (%s%s%s%s%s%s): "
			"calls and totals are of what came before, and means of what encloses them may be too high",
			side, n, n == 1 ? "" : "s", names[0], names[1] ? ", " : "",
			names[1] ? names[1] : "", names[2] ? ", " : "", names[2] ? names[2] : "",
			n > DETACHED_NAMED ? ", ..." : "");
}

/* What of ROW is below zero although it is a time, or -1. */
static int negative_time(const struct analyze_row *row)
{
	int time;

	for (time = 0; time < ANALYZE_N_TIMES; time++)
		if (row->figures.totals[time] < 0)
			return time;
	return -1;
}

struct negatives {
	uint32_t n;
	const struct analyze_row *worst;
	int time; /* of the worst */
};

static void find_negatives(struct negatives *found, const struct analyze_rows *rows)
{
	uint32_t i;

	for (i = 0; i < rows->n_rows; i++) {
		const struct analyze_row *row = &rows->rows[i];
		int time = negative_time(row);

		/* A sum is below zero only where one of its contexts is. */
		if (time < 0 || (row->context && !strcmp(row->context, ANALYZE_ALL_CONTEXTS)))
			continue;
		found->n++;
		if (!found->worst ||
		    row->figures.totals[time] < found->worst->figures.totals[found->time]) {
			found->worst = row;
			found->time = time;
		}
	}
}

/* Once, however many there are: they have one cause. */
static void warn_negative(struct analyze_warnings *w, const struct profile *p, const char *side)
{
	struct negatives found = { 0 };
	struct analyze_table table;

	analyze_table_init(&table, p, &(struct analyze_options){ 0 });
	find_negatives(&found, &table.syscalls);
	find_negatives(&found, &table.functions);
	if (found.n)
		analyze_warnings_add(
			w,
			"%sthe calibration subtracts more than the probes cost in %u row%s, most from "
			"the %s of %s%s%s: what is below zero is shown as it is, and is too low; --raw "
			"shows the uncorrected figures",
			side, found.n, found.n == 1 ? "" : "s", analyze_time_text(found.time),
			found.worst->name, found.worst->context ? " in " : "",
			found.worst->context ? found.worst->context : "");
	analyze_table_deinit(&table);
}

static void warn_unaccounted(struct analyze_warnings *w, const struct profile *p, const char *side)
{
	struct analyze_accounting a;
	char n[OUTPUT_NUMBER_MAX], entries[OUTPUT_NUMBER_MAX];

	analyze_accounting_init(&a, p);
	if (!a.known || !a.unaccounted)
		return;
	output_number(n, OUTPUT_COUNT, fabs((double)a.unaccounted), p->clock);
	output_number(entries, OUTPUT_COUNT, (double)a.entries, p->clock);
	analyze_warnings_add(w,
			     a.unaccounted > 0 ?
				     "%s%s of %s calls entered are not accounted for: counts and "
				     "totals may be too low by as many" :
				     "%s%s calls more than the %s entered were counted: counts and "
				     "totals may be too high by as many",
			     side, n, entries);
}

static void warn_unknown_cost(struct analyze_warnings *w, const struct profile *p, const char *side)
{
	struct analyze_costs costs;
	uint32_t i;

	analyze_costs_init(&costs, p);
	for (i = 0; i < costs.n_rows; i++) {
		const struct analyze_cost *row = &costs.rows[i];

		if (!analyze_cost_is_unknown(row))
			continue;
		if (row->functions > 0)
			analyze_warnings_add(
				w,
				"%swhat %s probes cost is not known: it is left in the times of %.0f "
				"function%s (%s%s) and of all around them",
				side, row->name, row->functions, row->functions == 1 ? "" : "s",
				row->example, row->functions == 1 ? "" : ", ...");
		else
			analyze_warnings_add(
				w,
				"%swhat %s probes cost is not known: it is left in the times of "
				"syscalls and page faults",
				side, row->name);
	}
	analyze_costs_deinit(&costs);
}

void analyze_warnings_of_profile(struct analyze_warnings *w, const struct profile *p,
				 const char *side, bool raw)
{
	if (!p->n_runs)
		analyze_warnings_add(w, "%sthe file holds no runs", side);
	warn_losses(w, p, side);
	warn_missed(w, p, side);
	warn_unaccounted(w, p, side);
	warn_detached(w, p, side);
	warn_failed_runs(w, p, side);
	if (raw)
		return;
	warn_negative(w, p, side);
	warn_unknown_cost(w, p, side);
}
