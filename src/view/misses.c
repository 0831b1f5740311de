// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/misses.h"

#include <math.h>
#include <string.h>

#include "analyze/stats/change.h"
#include "output/number.h"
#include "view/names.h"

#define EVENT(type, key, event, text, ...) \
	COLUMN(key, type, analyze_misses_side, events[event], .header = text, ##__VA_ARGS__)
#define EVENTS(type, header_of)                                                \
	COLUMN("instructions", type, analyze_misses_side, instructions,        \
	       .header = header_of("INSTRUCTIONS")),                           \
		COLUMN("cycles", type, analyze_misses_side, cycles,            \
		       .header = header_of("CYCLES")),                         \
		COLUMN("data_cycles", type, analyze_misses_side, data,         \
		       .header = header_of("DATA")),                           \
		EVENT(type, "l1i", MODEL_L1I, header_of("L1I")),               \
		EVENT(type, "l1d", MODEL_L1D, header_of("L1D")),               \
		EVENT(type, "l2", MODEL_L2, header_of("L2")),                  \
		EVENT(type, "llc", MODEL_LLC, header_of("LLC")),               \
		EVENT(type, "itlb", MODEL_ITLB, header_of("ITLB"), .rank = 3), \
		EVENT(type, "dtlb", MODEL_DTLB, header_of("DTLB"), .rank = 1), \
		EVENT(type, "stlb", MODEL_STLB, header_of("STLB"), .rank = 2), \
		EVENT(type, "branch", MODEL_BRANCH, header_of("BRANCH"), .rank = 1)
#define DATA_EVENTS(type, header_of)                                                           \
	COLUMN("data_cycles", type, analyze_misses_side, data, .header = header_of("CYCLES")), \
		EVENT(type, "l1d", MODEL_L1D, header_of("L1D")),                               \
		EVENT(type, "l2", MODEL_L2, header_of("L2")),                                  \
		EVENT(type, "llc", MODEL_LLC, header_of("LLC")),                               \
		EVENT(type, "dtlb", MODEL_DTLB, header_of("DTLB")),                            \
		EVENT(type, "stlb", MODEL_STLB, header_of("STLB"))
#define SHOWN(text)  text
#define HIDDEN(text) NULL

const struct output_column view_misses[] = { EVENTS(COUNT, SHOWN) };
const struct output_column view_misses_delta[] = { EVENTS(DELTA, SHOWN) };
const struct output_column view_misses_data[] = { EVENTS(COUNT, HIDDEN) };

const struct output_column view_objects[] = { DATA_EVENTS(COUNT, SHOWN) };
const struct output_column view_objects_delta[] = { DATA_EVENTS(DELTA, SHOWN) };
const struct output_column view_objects_data[] = { DATA_EVENTS(COUNT, HIDDEN) };

const struct output_column view_objects_place[] = {
	COLUMN("object", TEXT, analyze_misses_row, function, .header = "OBJECT"),
	COLUMN("syscall", TEXT, analyze_misses_row, context, .header = "CONTEXT"),
};

const struct output_column view_misses_place[] = {
	COLUMN("name", TEXT, analyze_misses_row, function, .header = "FUNCTION (SELF)"),
	COLUMN("syscall", TEXT, analyze_misses_row, context, .header = "CONTEXT"),
};

/* Return the function that causes most of the change in ROW's context, as ", 95 % of that in dequeue_signal"; for free(). */
static char *most_of(const struct analyze_misses *m, const struct analyze_misses_row *row)
{
	char *text = alloc_strdup("");

	for (uint32_t i = 0; i < m->n_rows; i++) {
		const struct analyze_misses_row *of = &m->rows[i];

		if (strcmp(of->context, row->context) != 0 || !strcmp(of->function, "*") ||
		    !(of->delta.data * row->delta.data > 0))
			continue;
		view_append_share(&text, ", ", of->delta.data / row->delta.data, "that");
		alloc_append(&text, " in %s", of->function);
		break;
	}
	return text;
}

/*
 * Return whether ROW is the sum over all functions in a syscall or in page faults. Misses of other contexts differ between any two
 * runs. Return false for them, and for execve, which is the first to read the command's files.
 */
static bool is_syscall(const struct analyze_misses_row *row)
{
	return !strcmp(row->function, "*") &&
	       (!strchr(row->context, '[') ||
		!strcmp(row->context, profile_context_name(PROFILE_CONTEXT_PAGE_FAULT))) &&
	       strcmp(row->context, "execve") != 0;
}

/*
 * Return the row of the syscall whose misses changed most, among significant changes; NULL: there are none. Correct P for the
 * number of syscalls with large changes. Set *ALL to the baseline's misses in all syscalls.
 */
static const struct analyze_misses_row *syscall_of(const struct analyze_misses *m, double *all)
{
	scoped_free const struct analyze_misses_row **large =
		alloc_array(m->n_rows, sizeof(*large));
	scoped_free double *p = alloc_array(m->n_rows, sizeof(*p));
	uint32_t n = 0;

	*all = 0;
	for (uint32_t i = 0; i < m->n_rows; i++)
		*all += is_syscall(&m->rows[i]) ? m->rows[i].sides[0].data : 0;
	vec_each(const struct analyze_misses_row, row, m, rows) {
		double change = fabs(row->delta.data);

		if (!is_syscall(row) || !(change >= NEGLIGIBLE * *all) ||
		    !(change >= ABOUT_EQUAL * row->sides[0].data))
			continue;
		large[n] = row;
		p[n++] = row->p;
	}
	analyze_adjust(p, n);
	for (uint32_t i = 0; i < n; i++)
		if (!(p[i] >= ANALYZE_SIGNIFICANT))
			return large[i];
	return NULL;
}

char *view_misses_change(const struct analyze_misses *m)
{
	double cycles, instructions, all;
	const struct analyze_misses_row *row = syscall_of(m, &all);
	scoped_free char *most = NULL;
	bool shown;

	if (!m->model)
		return NULL;
	if (!row)
		return alloc_printf("Data misses in model %s: no significant change.", m->model);
	cycles = analyze_percent(row->delta.data, row->sides[0].data);
	instructions = analyze_percent(row->delta.instructions, row->sides[0].instructions);
	shown = fabs(instructions) >= ANALYZE_MARGIN_PCT && instructions * cycles > 0;
	most = most_of(m, row);
	return alloc_printf(
		"Data misses in model %s: %s has %s estimated cycles of misses per run (%+.1f %%, "
		"%+.2f %% of the misses of all syscalls)%s; the context's instruction count changes by %+.2f "
		"%%%s.%s",
		m->model, row->context,
		output_number(OUTPUT_DELTA, row->delta.data, PROFILE_CLOCK_INSN), cycles,
		analyze_percent(row->delta.data, all), most, instructions,
		shown ? "" : ", which does not reflect that",
		isnan(row->plus_minus) ? " With 1 run per side this may be chance; use lab ab "
					 "--boots=3 to be sure." :
					 "");
}
