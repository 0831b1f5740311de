/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns of counts by a model of a CPU. */
#pragma once

#include "analyze/figures/events.h"
#include "view/page/columns.h"

/* Columns of struct analyze_misses_side: for one side, for a difference, and for data alone. */
#define VIEW_MISSES_N (MODEL_N_EVENTS + 3)
extern const struct output_column view_misses[VIEW_MISSES_N], view_misses_delta[VIEW_MISSES_N],
	view_misses_data[VIEW_MISSES_N];

/* Likewise for data, by object. */
extern const struct output_column view_objects[6], view_objects_delta[6], view_objects_data[6];
extern const struct output_column view_objects_place[2];

/* The place: the function, and its context. */
extern const struct output_column view_misses_place[2];

/*
 * Return a sentence on the syscall whose misses of data change most, and whether its instructions show that; NULL:
 * there is no model. For free().
 */
char *view_misses_change(const struct analyze_misses *m);

#define VIEW_OBJECTS_LEGEND                                                                        \
	"OBJECT is a slab cache (of merged caches, the name of the first) or, in brackets, other " \
	"memory. CONTEXT *: all"

#define VIEW_MISSES_LEGEND                                                                                                    \
	"CYCLES is an estimate: events times the penalties of the model. DATA leaves out L1I, ITLB and BRANCH, which depend " \
	"on where a build places its code"
