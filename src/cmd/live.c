// SPDX-License-Identifier: GPL-2.0-or-later
/* The output of record --interval. */
#include <math.h>
#include <unistd.h>

#include "cmd/view.h"
#include "view/names.h"
#include "view/report.h"

#define ROWS 10
/* To a terminal's top, and nothing below. */
#define CLEAR "\033[H\033[2J"

/* Forget minima and maxima: those of the run are not those of an interval. */
static void forget_extremes(struct analyze_rows *rows)
{
	for (uint32_t i = 0; i < rows->n_rows; i++)
		rows->rows[i].figures.min = rows->rows[i].figures.max = NAN;
}

void cmd_show_live(const struct profile *p, uint64_t ns)
{
	static const char *const sections[] = { "syscalls", "functions" };
	struct view_report r = { .common = {
					 p->clock, view_time_headers[ANALYZE_TIME_ONCPU], { p } } };
	const struct view_request request = {
		.list = &view_report_list,
		.data = &r,
		.sections = sections,
		.n_sections = 1 + (p->n_sites > 1),
		.top = ROWS,
	};

	uint64_t wall = p->runs[p->n_runs - 1].wall;

	analyze_table_init(&r.table, p, &r.figures);
	if (wall < ns) {
		forget_extremes(&r.table.syscalls);
		forget_extremes(&r.table.functions);
	}
	analyze_rows_sort_by_total(&r.table.syscalls);
	analyze_rows_sort_by_total(&r.table.functions);
	/* The output of a command stays. */
	fprintf(stderr, "%sFrom %.1f to %.1f s:\n\n",
		!p->n_args && isatty(STDERR_FILENO) ? CLEAR : "\n", (ns - wall) / 1e9, ns / 1e9);
	view_write_table(stderr, &request);
	fflush(stderr);
	analyze_table_deinit(&r.table);
}
