// SPDX-License-Identifier: GPL-2.0-or-later
/* What the change of the main context passes through. */
#include <math.h>

#include "base/alloc.h"
#include "view/page/columns.h"
#include "view/diff.h"

/* Shares that are the same for who reads them. */
#define AS_MUCH           0.005
#define AS_MUCH_ESTIMATED 0.1

struct line {
	struct analyze_step step;
	const char *label, *inlined;
	double low, high, error; /* of an estimate */
};

static const struct output_column columns[] = {
	COLUMN(NULL, TEXT, line, label, .header = "FUNCTION"),
	COLUMN("name", TEXT, line, step.name),
	COLUMN("inlined", TEXT, line, inlined),
	COLUMN("baseline_total", TIME, line, step.totals[0], .header = "BASELINE/RUN"),
	COLUMN("hardened_total", TIME, line, step.totals[1], .header = "HARDENED/RUN"),
	COLUMN("delta_total", DELTA, line, step.delta.value, .header = "DELTA/RUN"),
	COLUMN(NULL, TIME, line, error, .header = "+-", .rank = OUTPUT_IF_ANY),
	COLUMN("delta_low", DELTA, line, low),
	COLUMN("delta_high", DELTA, line, high),
	COLUMN("share", FRACTION, line, step.share, .header = "SHARE"),
};

/* Does the step behind I have as much of the change? Then that one says it. */
static bool is_passed(const struct analyze_passage *passage, uint32_t i)
{
	double as_much = passage->exact ? AS_MUCH : AS_MUCH_ESTIMATED;

	return i + 1 < passage->n_steps &&
	       fabs(passage->steps[i + 1].share - passage->steps[i].share) < as_much;
}

static struct line line_of(struct view_rows *rows, const struct analyze_step *step, bool exact)
{
	bool inlined = step->kind == ANALYZE_FRAME_INLINED;
	struct line line = { .step = *step,
			     .inlined = inlined ? "yes" : NULL,
			     .low = exact ? NAN : step->delta.low,
			     .high = exact ? NAN : step->delta.high,
			     .error = exact ? NAN : (step->delta.high - step->delta.low) / 2 };

	line.label = alloc_keep(&rows->texts,
				alloc_printf("%s%s", step->name, inlined ? " (inlined)" : ""));
	return line;
}

static void rows(struct view_rows *rows, const void *data)
{
	const struct analyze_passage *passage = &((const struct view_diff *)data)->why.passage;
	struct line *lines = view_rows_new(rows, passage->n_steps, sizeof(*lines));
	uint32_t n = 0;

	for (uint32_t i = 0; i < passage->n_steps; i++)
		if (!rows->for_people || !is_passed(passage, i))
			lines[n++] = line_of(rows, &passage->steps[i], passage->exact);
	rows->section.n_rows = n;
}

static char *title(const void *data)
{
	const struct analyze_passage *passage = &((const struct view_diff *)data)->why.passage;

	return alloc_printf("Call path of the change in %s, outermost first, including callees%s",
			    passage->context ?: "a syscall",
			    passage->exact ? "" : " (estimated from samples)");
}

const struct view_table diff_passage = {
	.name = "passage",
	.first = 12,
	.is_whole = true,
	.title_of = title,
	.legend = "SHARE is of the syscall's change. Functions with less than half of it are "
		  "omitted; of consecutive functions with the same share, only the last is shown",
	ONE_GROUP(columns),
	.rows = rows,
};
