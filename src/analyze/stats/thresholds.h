/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All thresholds by which analysis and view decide what to report. Thresholds of significance are conventions. The remaining
 * ones were chosen on the recordings that docs/internals/why.md and docs/statistics.md name, as round as these allow.
 */
#pragma once

/* ---- shares of a change, of a time, or of a count ---- */

/* A part this large is called "nearly all". Among nested parts of at least this share of the largest, name the innermost. */
#define NEARLY_ALL 0.9
/* A change is spread over several functions if none of them has more than this part of it. */
#define LARGE_PART 0.75
/* A part this large is called "most". Report a change at the function or body that has this part of it. */
#define MOST 0.5
/* Name a second cause if it is this large. Asynchronous contexts, such as interrupts, vary by as much between boots. */
#define QUARTER 0.25
/*
 * Smaller parts are not mentioned. Figures that differ by less count as equal: the counts of one loop's lines differ by its
 * first and last iteration.
 */
#define WORTH_A_WORD 0.1
/* Lists leave out smaller parts. The time of a single call is taken as uncertain by this part of it. */
#define LITTLE 0.05
/* Shares that differ by less are equal. */
#define ABOUT_EQUAL 0.02
/* Ignore smaller changes on a real clock. Counts that differ by less are equal. */
#define ONE_PERCENT 0.01
/* Ignore smaller changes of counted instructions: layout, hashes and interrupted calls cause as much. */
#define HALF_A_PERCENT 0.005
/* Work counts as moved to another context if it is at least this share of the work in all contexts. */
#define WORTH_A_MOVE 0.002
/* Without repetitions, ignore changes of probed calls by a smaller share of the command's time. */
#define NEGLIGIBLE 0.001
/* With repetitions, or in exact recordings, ignore smaller changes: the state of the slab caches causes as much. */
#define SLAB_CACHES 0.0002

/* ---- ratios ---- */

/* Report a loop, or several calls, if code is executed at least this many times per call. */
#define MORE_THAN_ONE 1.1
/* A cause with a larger share of a change is partly offset by other causes. An estimated part this large is not reported. */
#define MORE_THAN_ALL 1.15
/* Causes that offset each other are together at most this many times the change that they explain. */
#define OFFSET_TIMES 2
/* Work that moved to another context may have grown or shrunk by up to this factor. */
#define MOVED_TIMES 1.5

/* ---- counts ---- */

/* From the same source, compilers make code that differs by up to this many instructions per call. */
#define FEW_INSTRUCTIONS 10

/* ---- significance ---- */

/* A p-value below this, after adjustment, is significant. Intervals have the same certainty. */
#define ANALYZE_SIGNIFICANT 0.05
/* Without a test, a change within this many standard deviations is chance. */
#define CHANCE_DEVIATIONS 2
/* The number of boots to ask for is enough with this probability. */
#define ANALYZE_POWER 0.80
