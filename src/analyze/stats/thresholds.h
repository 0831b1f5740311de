/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All thresholds by which analysis and view decide what to say. Thresholds of significance are conventions. The others were
 * chosen on the recordings that docs/internals/why.md and docs/statistics.md name, and are as coarse as these allow.
 */
#pragma once

/* ---- shares of a change, of a time, or of a count ---- */

/* A part this large is called nearly all. Of several parts this close to the largest one, the innermost is named. */
#define NEARLY_ALL 0.9
/* A change is spread over several functions if the largest of them has at most this part of it. */
#define LARGE_PART 0.75
/* A part this large is called most. A change is said to be at a place that has this part of it. */
#define MOST 0.5
/* A second cause is named from here on. Contexts that begin by themselves vary by as much between boots. */
#define QUARTER 0.25
/*
 * Smaller parts are not mentioned. Two figures that differ by less agree: a loop's lines differ by the first and last
 * iteration.
 */
#define WORTH_A_WORD 0.1
/* Lists leave smaller parts out. The time of a single call is known no better. */
#define LITTLE 0.05
/* Shares that differ by less are equal. */
#define ABOUT_EQUAL 0.02
/* On a real clock a smaller change is none, and counts that differ by less are the same. */
#define ONE_PERCENT 0.01
/* A smaller change of counted instructions is none: layout, hashes and interrupted calls make as much. */
#define HALF_A_PERCENT 0.005
/* Work has moved to another context if it is at least this share of all. */
#define WORTH_A_MOVE 0.002
/* Without repetitions a smaller share of the command's time is no change. */
#define NEGLIGIBLE 0.001
/* With repetitions a smaller share is no change: the state of the slab caches makes as much. */
#define SLAB_CACHES 0.0002

/* ---- ratios ---- */

/* A loop has at least this many executions per call. An estimate may be this many times larger than the whole around it. */
#define MORE_THAN_ONE 1.1
/* A larger share of a change is partly offset by something else. */
#define MORE_THAN_ALL 1.15
/* Causes that offset each other are together at most this many times the change that they explain. */
#define OFFSET_TIMES 2
/* Work that moved may have grown or shrunk by up to this factor. */
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
