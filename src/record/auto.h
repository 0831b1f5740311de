/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `record --auto` chooses the functions to time, by samples of one run and by counts of calls in another run. */
#pragma once

#include "record/cost/measure.h"
#include "record/options.h"

struct profile;

/*
 * Set COUNTS to the functions that are worth timing by the samples of P, whose addresses have names. Functions of protections come
 * first. Other functions follow by their number of samples, less the samples of their largest callee. COST is the cost of timing a
 * call, as a fraction of the command's CPU time. The caller frees the names.
 */
void record_auto_choose(struct record_counts *counts, const struct profile *p, double cost);

/*
 * Run the command of O several times: without probes, with samples, with counted calls, and then with timed functions as often as
 * the budget allows. Return the exit status.
 */
int record_auto(const struct record_options *o);
