// SPDX-License-Identifier: GPL-2.0-or-later
/* Columns for the uncertainty of a difference. */
#include "view/page/columns.h"
#include "view/diff.h"
#include "view/names.h"

const struct output_column view_plus_minus[] = {
	COLUMN("plus_minus", TIME, analyze_change, plus_minus, .header = "+-", .rank = 2),
};

const struct output_column view_verdict[] = {
	COLUMN("verdict", TEXT, analyze_change, verdict, .names = view_verdicts,
	       .header = "VERDICT", .rank = 1),
	COLUMN("noise", TIME, analyze_change, noise, .header = "NOISE", .rank = 2,
	       .estimable = true),
	COLUMN("under_noise", FLAG, analyze_change, under_noise),
	COLUMN("p", PROBABILITY, analyze_change, p, .header = "P", .rank = 4),
	COLUMN("boots_needed", COUNT, analyze_change, boots_needed, .header = "BOOTS", .rank = 5),
	COLUMN("ci", INTERVAL, analyze_change, ci),
	COLUMN("ci_pct", INTERVAL, analyze_change, ci_pct),
	COLUMN("p_unadjusted", PROBABILITY, analyze_change, p_single),
	COLUMN("repetitions_baseline", COUNT, analyze_change, repetitions[0]),
	COLUMN("repetitions_hardened", COUNT, analyze_change, repetitions[1]),
};

const char *view_noise_mark(const void *row, const struct output_group *group)
{
	const struct analyze_change *change = (const void *)((const char *)row + group->offset);

	return group->columns == view_verdict && change->under_noise ? "under " : NULL;
}
