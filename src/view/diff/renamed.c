// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions whose names differ between the kernels, and which are compared as one function. */
#include "view/page/columns.h"
#include "view/diff.h"
#include "view/names.h"

struct renamed {
	const char *baseline, *hardened, *name;
	enum analyze_renaming_how how;
	bool unseen; /* neither called nor sampled in either recording */
};

static const struct output_column columns[] = {
	COLUMN("baseline", TEXT, renamed, baseline, .header = "BASELINE"),
	COLUMN("hardened", TEXT, renamed, hardened, .header = "HARDENED"),
	COLUMN("name", TEXT, renamed, name),
	COLUMN("how", TEXT, renamed, how, .names = view_renamings, .header = "HOW KNOWN"),
};

static void rows(struct view_rows *rows, const void *data)
{
	const struct analyze_renames *renames = ((const struct view_diff *)data)->renames;
	struct renamed *all = view_rows_new(rows, renames->n_rows, sizeof(*all));

	for (uint32_t i = 0; i < renames->n_rows; i++) {
		const struct analyze_renaming *row = &renames->rows[i];
		bool is_baseline = row->side == VIEW_BASELINE;

		all[i] = (struct renamed){
			.baseline = is_baseline ? row->old : row->new,
			.hardened = is_baseline ? row->new : row->old,
			.name = row->new,
			.how = row->how,
			.unseen = !row->seen,
		};
	}
}

const struct view_table diff_renamed = {
	.name = "renamed",
	.first = 3,
	.title = "Renamed functions, compared as one",
	ONE_GROUP(columns),
	.redundant = offsetof(struct renamed, unseen),
	.rows = rows,
};
