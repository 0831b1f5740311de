// SPDX-License-Identifier: GPL-2.0-or-later
/* How misses of the model's caches and TLBs change, beside instructions. */
#include "view/misses.h"

#include <math.h>
#include <string.h>

#include "analyze/stats/change.h"
#include "output/number.h"
#include "view/diff.h"

/* A change of less, in percent of itself before and of what all syscalls miss, is worth no sentence. */
#define LEAST_PCT    2.0
#define LEAST_OF_ALL 0.1

static const struct output_column sure[] = {
	COLUMN("plus_minus", COUNT, analyze_misses_row, plus_minus, .header = "+-DATA",
	       .rank = OUTPUT_IF_ANY),
};

static const struct output_group groups[] = {
	{ COLUMNS(view_misses_place) },
	{ .key = "delta", AT(analyze_misses_row, delta), COLUMNS(view_misses_delta) },
	{ COLUMNS(sure) },
	{ .key = "baseline", AT(analyze_misses_row, sides[0]), COLUMNS(view_misses_data) },
	{ .key = "hardened", AT(analyze_misses_row, sides[1]), COLUMNS(view_misses_data) },
};

static char *title(const void *data)
{
	return alloc_printf(
		"Misses in the model %s, hardened less baseline, per run, by estimated cycles of data",
		((const struct view_diff *)data)->misses.model);
}

const struct view_table diff_misses = {
	.name = "misses",
	.first = 5,
	.title_of = title,
	.legend = VIEW_MISSES_LEGEND,
	GROUPS(groups),
	VIEW_LIST(view_diff, misses.rows, misses.n_rows),
};

static double percent(double delta, double of)
{
	return of > 0 ? 100 * delta / of : NAN;
}

/* The function of ROW's context whose misses change most the same way; NULL: none. */
static const char *most_of(const struct analyze_misses *m, const struct analyze_misses_row *row)
{
	for (uint32_t i = 0; i < m->n_rows; i++)
		if (!strcmp(m->rows[i].context, row->context) &&
		    strcmp(m->rows[i].function, "*") != 0 &&
		    m->rows[i].delta.data * row->delta.data > 0)
			return m->rows[i].function;
	return NULL;
}

/* Is ROW a syscall as a whole, or page faults? What else there is differs between any two runs. */
static bool is_syscall(const struct analyze_misses_row *row)
{
	return !strcmp(row->function, "*") &&
	       (!strchr(row->context, '[') || !strcmp(row->context, "[page_fault]"));
}

/* The syscall whose misses change most, and by more than may be chance; NULL: none. */
static const struct analyze_misses_row *syscall_of(const struct analyze_misses *m)
{
	double all = 0;

	for (uint32_t i = 0; i < m->n_rows; i++)
		all += is_syscall(&m->rows[i]) ? m->rows[i].sides[0].data : 0;
	for (uint32_t i = 0; i < m->n_rows; i++) {
		const struct analyze_misses_row *row = &m->rows[i];
		double change = fabs(row->delta.data);

		if (is_syscall(row) && change >= LEAST_OF_ALL / 100 * all &&
		    change >= LEAST_PCT / 100 * row->sides[0].data && !(change <= row->plus_minus))
			return row;
	}
	return NULL;
}

char *view_diff_misses(const struct view_diff *c)
{
	const struct analyze_misses_row *row = syscall_of(&c->misses);
	char number[OUTPUT_NUMBER_MAX];
	double cycles, instructions;
	bool shown;

	if (!c->misses.model)
		return NULL;
	if (!row)
		return alloc_printf("Misses of data in the model %s: no significant change.",
				    c->misses.model);
	cycles = percent(row->delta.data, row->sides[0].data);
	instructions = percent(row->delta.instructions, row->sides[0].instructions);
	shown = fabs(instructions) >= ANALYZE_MARGIN_PCT && instructions * cycles > 0;
	return alloc_printf(
		"Misses of data in the model %s: %s has %s estimated cycles of them per run (%+.1f %%), most in "
		"%s; its instructions change by %+.2f %%%s.%s",
		c->misses.model, row->context,
		output_number(number, OUTPUT_DELTA, row->delta.data, c->diff.clock), cycles,
		most_of(&c->misses, row) ?: "no function more than others", instructions,
		shown ? "" : ", which does not show it",
		isnan(row->plus_minus) ? " One run per side: variation between runs unknown." : "");
}
