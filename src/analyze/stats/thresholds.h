/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thresholds that decide what analysis and reports mention. The levels of significance are conventions. The other thresholds were
 * chosen on the recordings in docs/internals/why.md and docs/statistics.md, and rounded.
 */
#pragma once

/* ---- fractions of a change, a time or a count ---- */

/* Reports call this fraction "nearly all". They name the innermost of nested functions that has this part of the largest time. */
#define NEARLY_ALL 0.9
/* A change is spread over several functions if no function has more than this fraction of the change. */
#define LARGE_PART 0.75
/* Reports call this fraction "most". They name the function or inlined function that has this fraction of a change. */
#define MOST 0.5
/* Name a second cause if it has this fraction of a change. Time of interrupts and other asynchronous work varies by as much. */
#define QUARTER 0.25
/*
 * Do not mention a smaller fraction. Treat two numbers of executions as equal if they differ by less: the lines of one loop differ
 * by the first and last iteration.
 */
#define WORTH_A_WORD 0.1
/* Omit smaller fractions from lists. The time of a single call is uncertain by this fraction. */
#define LITTLE 0.05
/* Treat two fractions as equal if they differ by less. */
#define ABOUT_EQUAL 0.02
/* Ignore a smaller change of times in ns. Treat two counts as equal if they differ by less. */
#define ONE_PERCENT 0.01
/* Ignore a smaller change of counted instructions. Code layout, hash values and interrupted calls change it by as much. */
#define HALF_A_PERCENT 0.005
/* Ignore work that moved to another context if it is less than this fraction of all work. */
#define WORTH_A_MOVE 0.002
/* Without repetitions, ignore a change of timed calls if it is a smaller fraction of the command's time. */
#define NEGLIGIBLE 0.001
/* With repetitions or in exact recordings, ignore a smaller change. The state of slab caches causes changes up to this size. */
#define SLAB_CACHES 0.0002

/* ---- ratios ---- */

/* Report a loop or several calls if code runs at least this often per call. */
#define MORE_THAN_ONE 1.1
/* A cause with more than this share of a change is offset by other causes. An estimate from samples above it is not reported. */
#define MORE_THAN_ALL 1.15
/* Causes with opposite effects explain a change only if their sizes add up to at most this many times the change. */
#define OFFSET_TIMES 2
/* Work that moved to another context may have changed by up to this factor. */
#define MOVED_TIMES 1.5

/* From the same source, compilers make code that differs by up to this many instructions per call. */
#define FEW_INSTRUCTIONS 10

/* An adjusted p-value below this limit is significant. Intervals miss the true value with this probability. */
#define ANALYZE_SIGNIFICANT 0.05
/* Without a statistical test, take a change within this many standard deviations as chance. */
#define CHANCE_DEVIATIONS 2
/* The recommended number of boots is enough with this probability. */
#define ANALYZE_POWER 0.80
