// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/losses.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "output/number.h"
#include "output/text.h"

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

void analyze_warnings_add(struct analyze_warnings *w, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = alloc_strdup("out of memory");
	va_end(args);
	vec_push(w, texts, output_text_escape(text));
	free(text);
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

static void warn_negative(struct analyze_warnings *w, const struct profile *p, const char *side)
{
	uint32_t i, negative = 0;
	const struct profile_cell *worst = NULL;

	for (i = 0; i < p->n_cells; i++) {
		const struct profile_stats *s = &p->cells[i].stats;

		if (s->cost <= s->oncpu)
			continue;
		negative++;
		if (!worst || s->cost - s->oncpu > worst->stats.cost - worst->stats.oncpu)
			worst = &p->cells[i];
	}
	if (negative)
		analyze_warnings_add(
			w,
			"%sthe calibrated probe cost exceeds the time measured in %u "
			"cell%s, most in %s (%s): those figures are below zero and wrong",
			side, negative, negative == 1 ? "" : "s", p->sites[worst->site].name,
			p->contexts[worst->context].name);
}

void analyze_warnings_of_profile(struct analyze_warnings *w, const struct profile *p,
				 const char *side)
{
	if (!p->n_runs)
		analyze_warnings_add(w, "%sthe file holds no runs", side);
	warn_losses(w, p, side);
	warn_failed_runs(w, p, side);
	warn_negative(w, p, side);
}
