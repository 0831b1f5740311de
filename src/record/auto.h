/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `record --auto`: what is timed is chosen from samples of a run of its own, and from how often it is called in another. */
#pragma once

#include "record/cost/measure.h"
#include "record/options.h"

struct profile;

/*
 * Has functions counted that samples of P, whose addresses have names, say are worth timing: those of protections first, then
 * those that take most themselves. COST is what timing a call takes, as a part of the command's CPU time. Names are for free().
 */
void record_auto_choose(struct record_counts *counts, const struct profile *p, double cost);

/*
 * Runs the command of O unprobed, sampled, counted, and then with functions timed, as often as the budget allows. The exit status.
 */
int record_auto(const struct record_options *o);
