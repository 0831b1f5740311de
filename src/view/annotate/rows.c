// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/annotate/rows.h"

#include <math.h>

#include "base/sorted.h"

const struct output_column annotate_counted_columns[1] = {
	ROW_COLUMN(NULL, COUNT, figures.per_call, .header = "EXECUTED"),
};

struct annotate_figures annotate_figures_of(const struct analyze_annotation *a,
					    const struct analyze_hits *hits, double executions,
					    double per_call)
{
	struct analyze_estimated share = analyze_annotation_share(a, hits);

	return (struct annotate_figures){ .share = share.value,
					  .low = share.low,
					  .high = share.high,
					  .cost = analyze_annotation_cost(a, hits),
					  .self = hits->self,
					  .callees = hits->callees,
					  .late = hits->late,
					  .executions = executions,
					  .per_call = per_call };
}

double annotate_line(uint32_t line)
{
	return line ? line : NAN;
}

/* Return the executions; unknown ones count as none. */
static double executed(const struct annotate_row *row)
{
	return row->figures.per_call > 0 ? row->figures.per_call : 0;
}

static double hits_of(const struct annotate_row *row)
{
	return row->figures.self + row->figures.callees;
}

static int row_compare(const void *left, const void *right)
{
	const struct annotate_row *a = left, *b = right;
	double hits_a = hits_of(a), hits_b = hits_of(b);

	if (hits_a != hits_b)
		return compare_values(hits_b, hits_a);
	if (!(hits_a > 0) && executed(a) != executed(b))
		return compare_values(executed(b), executed(a));
	if (a->depth != b->depth)
		return compare_values(a->depth, b->depth);
	return compare_values(b->figures.self, a->figures.self);
}

static uint32_t rank(struct annotate_row *items, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (hits_of(&items[i]) > 0 || executed(&items[i]) > 0)
			items[kept++] = items[i];
	sort_array(items, kept, sizeof(*items), row_compare);
	return kept;
}

void annotate_rows_choose(struct view_rows *rows, const struct annotated *f,
			  const struct output_group counted[2])
{
	struct output_section *section = &rows->section;

	if (profile_is_exact(f->p))
		section->mark = NULL;
	if (counted && rows->for_people)
		section->n_rows = rank(rows->owned, section->n_rows);
	if (counted && f->a.counted) {
		section->groups = counted;
		section->n_groups = 2;
	}
}

const char *annotate_mark(const void *row, const struct output_group *group)
{
	(void)row;
	(void)group;
	return "~";
}

const char *annotate_cost_header(const struct analyze_annotation *a, bool is_of_call)
{
	if (a->event)
		return "EVENTS/RUN";
	if (a->clock == PROFILE_CLOCK_INSN)
		return is_of_call ? "COST/CALL" : "COST/RUN";
	return is_of_call ? "TIME/CALL" : "TIME/RUN";
}

const char *annotate_percent(double share)
{
	static char buf[48];

	snprintf(buf, sizeof(buf), "%.*f %%", share < 0.1 ? 2 : 1, share * 100);
	return buf;
}

void annotate_table_write(const struct view *v, const char *title, const struct view_rows *rows,
			  unsigned int top)
{
	if (!rows->section.n_rows)
		return;
	fputc('\n', v->out);
	view_text(v, "%s:", title);
	view_section(v, &rows->section, top);
}
