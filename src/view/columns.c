// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/columns.h"

const struct output_column view_distribution[] = {
	COLUMN("p50", TIME, analyze_figures, p50), COLUMN("p90", TIME, analyze_figures, p90),
	COLUMN("p99", TIME, analyze_figures, p99), COLUMN("p999", TIME, analyze_figures, p999),
	COLUMN("min", TIME, analyze_figures, min), COLUMN("max", TIME, analyze_figures, max),
};

const struct output_column view_all_times[] = {
	COLUMN("oncpu_total", TIME, analyze_figures, totals[ANALYZE_TIME_ONCPU]),
	COLUMN("oncpu_mean", TIME, analyze_figures, means[ANALYZE_TIME_ONCPU]),
	COLUMN("wall_total", TIME, analyze_figures, totals[ANALYZE_TIME_WALL]),
	COLUMN("wall_mean", TIME, analyze_figures, means[ANALYZE_TIME_WALL]),
	COLUMN("self_total", TIME, analyze_figures, totals[ANALYZE_TIME_SELF]),
	COLUMN("self_mean", TIME, analyze_figures, means[ANALYZE_TIME_SELF]),
};

const char *view_range_mark(const struct analyze_range_side *side)
{
	if (side->source != ANALYZE_SOURCE_ESTIMATED)
		return NULL;
	return side->caveat ? "?~" : "~";
}
