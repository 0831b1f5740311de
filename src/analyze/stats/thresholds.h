/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thresholds that decide what analysis and reports mention. The levels of significance are conventions. The other thresholds were
 * chosen on the recordings in docs/internals/why.md and docs/statistics.md, and rounded.
 */
#pragma once

/* ---- fractions of a change, a time or a count ---- */

/* This fraction is called "nearly all". Of nested functions, name the innermost that has this fraction of the largest time. */
#define NEARLY_ALL 0.9
/* A change is spread over several functions if no function has more than this fraction of the change. */
#define LARGE_PART 0.75
/* This fraction is called "most". Report a change at the function or inlined function that has this fraction of the change. */
#define MOST 0.5
/* Name a second cause if it has this fraction of the change. Interrupts and other asynchronous work vary as much between boots. */
#define QUARTER 0.25
/*
 * Do not mention a smaller fraction. Counts that differ by less count as equal: counts of lines in one loop differ by the first
 * and last iteration.
 */
#define WORTH_A_WORD 0.1
/* Omit smaller fractions from lists. The time of a single call is uncertain by this fraction. */
#define LITTLE 0.05
/* Fractions that differ by less count as equal. */
#define ABOUT_EQUAL 0.02
/* Ignore a smaller change on a real clock. Counts that differ by less count as equal. */
#define ONE_PERCENT 0.01
/* Ignore a smaller change of counted instructions: code layout, hash values and interrupted calls cause as much. */
#define HALF_A_PERCENT 0.005
/* Treat work as moved to another context only if it is at least this fraction of all work. */
#define WORTH_A_MOVE 0.002
/* Without repetitions, ignore a change in timed calls that is a smaller fraction of the command's time. */
#define NEGLIGIBLE 0.001
/* With repetitions or in exact recordings, ignore a smaller change: the state of slab caches causes as much. */
#define SLAB_CACHES 0.0002

/* ---- ratios ---- */

/* Report a loop or several calls if code runs at least this often per call. */
#define MORE_THAN_ONE 1.1
/* If a cause has more than this share of a change, other causes offset it. Do not report parts estimated above this share. */
#define MORE_THAN_ALL 1.15
/* Causes that offset each other add up to at most this many times the change that they explain. */
#define OFFSET_TIMES 2
/* Work that moved to another context may have changed by up to this factor. */
#define MOVED_TIMES 1.5

/* Compilers make code from the same source that differs by up to this many instructions per call. */
#define FEW_INSTRUCTIONS 10

/* An adjusted p-value below this limit is significant. Intervals have the same certainty. */
#define ANALYZE_SIGNIFICANT 0.05
/* Without a statistical test, a change within this many standard deviations counts as chance. */
#define CHANCE_DEVIATIONS 2
/* The recommended number of boots is enough with this probability. */
#define ANALYZE_POWER 0.80
