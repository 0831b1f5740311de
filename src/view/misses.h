/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns for events of the cache model: misses in caches and TLBs. */
#pragma once

#include "analyze/figures/events.h"
#include "view/page/columns.h"

/* Columns of a struct analyze_misses_side, for one recording, for a difference (_delta), and for JSON and CSV only (_data). */
#define VIEW_MISSES_N (MODEL_N_EVENTS + 3)
extern const struct output_column view_misses[VIEW_MISSES_N], view_misses_delta[VIEW_MISSES_N],
	view_misses_data[VIEW_MISSES_N];

/* Columns of data misses per object (see VIEW_OBJECTS_LEGEND), for one recording, for a difference, and for JSON and CSV only. */
extern const struct output_column view_objects[6], view_objects_delta[6], view_objects_data[6];
extern const struct output_column view_objects_place[2];

/* Columns of struct analyze_misses_row: function, and calling context. */
extern const struct output_column view_misses_place[2];

/*
 * Return a sentence, for free(), on the syscall whose data misses changed most, and on the change of its instruction count. NULL:
 * the recordings have no cache model.
 */
char *view_misses_change(const struct analyze_misses *m);

#define VIEW_OBJECTS_LEGEND                                                                        \
	"OBJECT is a slab cache (of merged caches, the name of the first) or, in brackets, other " \
	"memory. CONTEXT *: all"

#define VIEW_MISSES_LEGEND                                                                                                    \
	"CYCLES is an estimate: events times the penalties of the model. DATA leaves out L1I, ITLB and BRANCH, which depend " \
	"on where a build places its code"
