/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes of inlined bodies, from the control flow of the functions around them.
 */
#pragma once

#include "record/target/range.h"
#include "kernel/debuginfo/index.h"

/* Choose where the probes of RANGES go. Give up the inlined bodies that cannot be timed. */
void record_ranges_plan(struct record_ranges *ranges, struct record_symbols *symbols);

/*
 * Find for each of RANGES, as if it were the only one, whether it can be timed and how many probes it needs, without
 * making points. Like record_ranges_plan(), this changes the order of RANGES.
 */
void record_ranges_survey(struct record_ranges *ranges, struct record_symbols *symbols);
/* Return the range of IN's BODY; NULL if it is not among RANGES. */
const struct record_range *record_ranges_find(const struct record_ranges *ranges,
					      struct record_image *in,
					      const struct kernel_body *body);
