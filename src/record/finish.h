/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "record/plan.h"

/*
 * Writes P, which has been recorded by PLAN, then looks its names up in a process of its own, which replaces the file, and sums up
 * what was recorded. The exit status: that of the first run that failed.
 */
int record_finish(struct record_plan *plan, const struct record_options *o, struct profile *p);
