// SPDX-License-Identifier: GPL-2.0-or-later
/* Of two exact recordings: what the change of the syscall that the conclusion names passes through. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "view/columns.h"
#include "view/diff.h"

#define AS_MUCH 0.005

struct line {
	struct analyze_step step;
	const char *label, *inlined;
};

static const struct output_column columns[] = {
	COLUMN(NULL, TEXT, line, label, .header = "FUNCTION"),
	COLUMN("name", TEXT, line, step.name),
	COLUMN("inlined", TEXT, line, inlined),
	COLUMN("baseline_total", TIME, line, step.totals[0], .header = "BASELINE/RUN"),
	COLUMN("hardened_total", TIME, line, step.totals[1], .header = "HARDENED/RUN"),
	COLUMN("delta_total", DELTA, line, step.delta, .header = "DELTA/RUN"),
	COLUMN("share", FRACTION, line, step.share, .header = "SHARE"),
};

/* Does the step behind I have as much of the change? Then that one says it. */
static bool is_passed(const struct analyze_passage *passage, uint32_t i)
{
	return i + 1 < passage->n_steps &&
	       fabs(passage->steps[i + 1].share - passage->steps[i].share) < AS_MUCH;
}

static struct line line_of(struct view_rows *rows, const struct analyze_step *step)
{
	bool inlined = step->kind == ANALYZE_FRAME_INLINED;
	struct line line = { .step = *step, .inlined = inlined ? "yes" : NULL };

	line.label = alloc_keep(&rows->texts,
				alloc_printf("%s%s", step->name, inlined ? " (inlined)" : ""));
	return line;
}

static void rows(struct view_rows *rows, const void *data)
{
	const struct analyze_passage *passage = &((const struct view_diff *)data)->passage;
	struct line *lines = view_rows_new(rows, passage->n_steps, sizeof(*lines));
	uint32_t n = 0;

	for (uint32_t i = 0; i < passage->n_steps; i++)
		if (!rows->for_people || !is_passed(passage, i))
			lines[n++] = line_of(rows, &passage->steps[i]);
	rows->section.n_rows = n;
}

static char *title(const void *data)
{
	const struct analyze_passage *passage = &((const struct view_diff *)data)->passage;
	return alloc_printf("What the change of %s passes through, outermost first, with callees",
			    passage->context ?: "a syscall");
}

const struct view_table diff_passage = {
	.name = "passage",
	.first = 12,
	.is_whole = true,
	.title_of = title,
	.legend =
		"SHARE is of the change of the syscall; functions with less than half of it are left out, and of several on end with as much all but the last",
	ONE_GROUP(columns),
	.rows = rows,
};
