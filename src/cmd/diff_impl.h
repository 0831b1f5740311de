/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of `kprotperf diff` share: options and figures in, tables or data out. */
#ifndef KPROTPERF_CMD_DIFF_IMPL_H
#define KPROTPERF_CMD_DIFF_IMPL_H

#include "analyze/attribution.h"
#include "analyze/diff.h"
#include "analyze/diff_paths.h"
#include "analyze/renames.h"
#include "analyze/select.h"
#include "cmd/annotate.h"
#include "cmd/view.h"

enum side {
	BASELINE,
	HARDENED,
	N_SIDES
};

/* What CSV holds. */
enum section {
	SECTION_CALLS, /* the default: syscalls and functions */
	SECTION_SYSCALLS,
	SECTION_FUNCTIONS,
	SECTION_RANGES,
	SECTION_WORKLOAD,
	SECTION_ENVIRONMENT,
	SECTION_ATTRIBUTION,
	SECTION_PATHS,
};

struct diff_options {
	struct view_options view;
	enum section section;
	bool fold, reverse, percentiles, strict;
	struct analyze_filter filter;
	char *filter_text; /* what it points into */
	const char *filter_arg; /* as it was given; NULL: not asked for */
	const char *sort; /* NULL: as analyze_diff_init() does */
	char **maps; /* "OLD=NEW" */
	uint32_t n_maps, cap_maps;
	double fail_above; /* percent; NAN: not asked for */
	const char *fail_row; /* NULL: any syscall */
	const char *control; /* a file; NULL: none */
	const char *files[N_SIDES];
	struct annotated_options annotated;
	const char *annotate; /* a function; NULL: not asked for */
	const char *vmlinux[N_SIDES];
};

/* Everything there is to print. */
struct diff_comparison {
	const struct diff_options *o;
	const struct profile *p[N_SIDES];
	struct analyze_diff diff;
	struct analyze_attribution attribution; /* empty but for on-CPU times */
	struct analyze_diff_paths paths;
	const struct analyze_renames *renames;
	char *conclusion;
};

void diff_write_table(const struct diff_comparison *c);
void diff_write_json(const struct diff_comparison *c);
void diff_write_csv(const struct diff_comparison *c);

#endif
