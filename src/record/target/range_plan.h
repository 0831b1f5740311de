/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plan the probes of inlined functions, by the control flow of the functions that contain them. */
#pragma once

#include "record/target/range.h"
#include "kernel/debuginfo/index.h"

/* Choose the addresses of the probes of RANGES. Give up inlined functions that cannot be timed. */
void record_ranges_plan(struct record_ranges *ranges, struct record_symbols *symbols);

/*
 * Find whether each of RANGES can be timed, and how many probes it needs if it is the only one. Make no points. Like
 * record_ranges_plan(), this changes the order of RANGES.
 */
void record_ranges_survey(struct record_ranges *ranges, struct record_symbols *symbols);
/* Return the element of RANGES for IN's inlined call BODY; NULL: there is none. */
const struct record_range *record_ranges_find(const struct record_ranges *ranges,
					      struct record_image *in,
					      const struct kernel_body *body);
