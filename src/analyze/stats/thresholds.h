/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every threshold by which analysis and view decide what to say. Those of tests of significance are conventions; the others
 * were chosen on the recordings that docs/internals/why.md and docs/statistics.md name, and are as coarse as these allow.
 */
#pragma once

/* ---- shares of a change, of a time, or of a count ---- */

/* What has so much of it is said to have nearly all, and what has it from further inside is named instead. */
#define NEARLY_ALL 0.9
/* What several have alike is spread out if none of them has more. */
#define LARGE_PART 0.75
/* What has less is not the place where something is. */
#define MOST 0.5
/* A second cause is named from here on; a context that begins by itself varies by that between boots. */
#define QUARTER 0.25
/*
 * A part from here on is worth a word; two figures that differ by less of them agree: of a loop's lines the first and last
 * iteration differ.
 */
#define WORTH_A_WORD 0.1
/* Less is left out of lists; the time of a single call is known no better. */
#define LITTLE 0.05
/* Two shares that differ by less are equal. */
#define ABOUT_EQUAL 0.02
/* On a real clock less is no change, and counts that differ by less are the same. */
#define ONE_PERCENT 0.01
/* Where instructions are counted less is no change: layout, hashes and interrupted calls do as much. */
#define HALF_A_PERCENT 0.005
/* Work that moved has at least this share of all. */
#define WORTH_A_MOVE 0.002
/* Without repetitions, less of what the command takes is no change. */
#define NEGLIGIBLE 0.001
/* With them: what a few calls find in the slab caches does as much. */
#define SLAB_CACHES 0.0002

/* ---- ratios ---- */

/* Executions per call from which on there is a loop. An estimate may be so much larger than what it is part of. */
#define MORE_THAN_ONE 1.1
/* With a larger share of a change something else offsets a part of it. */
#define MORE_THAN_ALL 1.15
/* Work that moved may have become more or less up to so many times. */
#define MOVED_TIMES 1.5

/* ---- counts ---- */

/* Of so many instructions per call compilers make other code of the same source. */
#define FEW_INSTRUCTIONS 10

/* ---- significance ---- */

/* What goes for "differs": a p-value below this, after adjustment. Intervals are as sure. */
#define ANALYZE_SIGNIFICANT 0.05
/* Standard deviations within which a change is chance, where there is no test. */
#define CHANCE_DEVIATIONS 2
/* How often the number of boots that is asked for is to be enough. */
#define ANALYZE_POWER 0.80
