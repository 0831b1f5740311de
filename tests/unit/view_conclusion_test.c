// SPDX-License-Identifier: GPL-2.0-or-later
/* The conclusion of a comparison, in words. */
#include <math.h>

#include "test.h"
#include "view/words.h"

static void check(const struct analyze_conclusion *c, const char *expected)
{
	char *text = view_conclusion(c);

	assert_string_equal(text, expected);
	free(text);
}

/* A conclusion from three boots per side. */
static struct analyze_conclusion slower(void)
{
	struct analyze_conclusion c = {
		.kind = ANALYZE_CONCLUSION_MEAN,
		.clock = PROFILE_CLOCK_INSN,
		.what = "clone",
		.delta = 2496034,
		.delta_pct = 20.2,
		.delta_total = 49920680,
		.cpu_pct = NAN,
		.outside_share = NAN,
		.calls = { 20, 20 },
		.change = analyze_change_none,
		.margin_pct = 1,
		.unit = ANALYZE_UNIT_BOOT,
		.repeated = true,
		.repetitions = { 3, 3 },
		.runs = { 3, 3 },
		.where = ANALYZE_WHERE_FUNCTION,
		.function = "allocate_slab",
		.function_share = 1,
		.body = { "shuffle_freelist", "allocate_slab", "mm/slub.c:1978", 0.97, 48000000,
			  true },
	};

	c.change.verdict = ANALYZE_VERDICT_SLOWER;
	c.change.plus_minus_pct = 0.05;
	return c;
}

TEST(test_syscalls)
{
	struct analyze_conclusion c = slower();

	check(&c,
	      "clone is 20.2 % slower (\u00b10.05 %, +2,496,034 instructions per call). 100 % of the "
	      "change is in allocate_slab, nearly all of it in shuffle_freelist (mm/slub.c:1978, "
	      "estimated from samples). Measured over 3 boots per side.");
	c.cpu_pct = 3.5;
	c.body.name = NULL;
	check(&c,
	      "clone is 20.2 % slower (\u00b10.05 %, +2,496,034 instructions per call, +3.50 % of the "
	      "command's CPU time). 100 % of the change is in allocate_slab. Measured over 3 boots "
	      "per side.");
	c.cpu_pct = NAN;
	c.body.name = "shuffle_freelist";
	/* The error of an estimate from samples is no offset. */
	c.body.share = 1.04;
	check(&c,
	      "clone is 20.2 % slower (\u00b10.05 %, +2,496,034 instructions per call). 100 % of the "
	      "change is in allocate_slab, nearly all of it in shuffle_freelist (mm/slub.c:1978, "
	      "estimated from samples). Measured over 3 boots per side.");
	c.body.share = 3;
	c.body.estimated = false;
	c.function = "a\033b";
	c.repetitions[1] = 4;
	check(&c,
	      "clone is 20.2 % slower (\u00b10.05 %, +2,496,034 instructions per call). 100 % of the "
	      "change is in a\\x1bb, where shuffle_freelist (mm/slub.c:1978) accounts for +48,000,000 "
	      "instructions per run, partly offset by the rest of the function. Measured over 3 and "
	      "4 boots.");
	c.body.name = NULL;
	c.kind = ANALYZE_CONCLUSION_CALLS;
	c.calls[1] = 1;
	c.clock = PROFILE_CLOCK_INSN;
	c.function_share = 1.02;
	c.repeated = false;
	check(&c,
	      "clone is called 1 time per run instead of 20. More than all of the change, partly "
	      "offset elsewhere, is in a\\x1bb. Measured over 3 runs per side.");
	c.calls[1] = 30;
	c.function_share = 1;
	check(&c,
	      "clone is called 30 times per run instead of 20. 100 % of the change is in a\\x1bb. "
	      "Measured over 3 runs per side.");
	c.kind = ANALYZE_CONCLUSION_ONE_SIDE;
	c.calls[0] = NAN;
	c.runs[1] = 1;
	c.where = ANALYZE_WHERE_NOT_RECORDED;
	check(&c,
	      "clone is called on the hardened side only (+49,920,680 instructions per run). Record "
	      "with --func to see where. Measured over 3 and 1 runs; variation between runs is "
	      "unknown.");
	c.body.name = "shuffle_freelist";
	c.body.share = 0.97;
	check(&c,
	      "clone is called on the hardened side only (+49,920,680 instructions per run). 97 % of "
	      "the change is in shuffle_freelist (mm/slub.c:1978). Measured over 3 and 1 runs; "
	      "variation between runs is unknown.");
}

TEST(test_unsure)
{
	struct analyze_conclusion c = slower();

	c.clock = PROFILE_CLOCK_NS;
	c.delta = 5;
	c.delta_pct = 0.5;
	c.where = ANALYZE_WHERE_NONE;
	c.body.location = NULL;
	c.body.share = 0.45;
	c.change.verdict = ANALYZE_VERDICT_SAME;
	c.change.p = 0.06;
	check(&c,
	      "clone is the same to within 1 % (+0.50 %, \u00b10.05 %, +5 ns per call). Less than a "
	      "tenth of the change is in any recorded function, but 45 % of it is in shuffle_freelist "
	      "(allocate_slab, estimated from samples). Measured over 3 boots per side.");
	c.change.p = 0.001;
	c.body.name = NULL;
	c.sampled = true;
	c.function = c.to_time = "allocate_slab";
	c.function_share = 0.97;
	c.function_error = 0.143;
	c.by_way[0] = "new_slab";
	check(&c,
	      "clone is 0.50 % slower (\u00b10.05 %, +5 ns per call), within the 1 % threshold for "
	      "equivalence. Less than a tenth of the change is in any recorded function, but 97 % of it "
	      "(\u00b114 %, from samples) is in allocate_slab, called via new_slab; record with "
	      "--func=allocate_slab to time it. Measured over 3 boots per side.");
	c.where = ANALYZE_WHERE_NOT_RECORDED;
	c.by_way[1] = "allocate_slab";
	c.by_way[2] = "get_random_u32";
	c.function_share = 1.02;
	check(&c,
	      "clone is 0.50 % slower (\u00b10.05 %, +5 ns per call), within the 1 % threshold for "
	      "equivalence. 100 % of the change (\u00b114 %, from samples) is in allocate_slab, called "
	      "via new_slab, allocate_slab and get_random_u32; record with --func=allocate_slab to "
	      "time it. Measured over 3 boots per side.");
	c.by_way[0] = c.to_time = NULL;
	c.function_share = 1.2;
	check(&c,
	      "clone is 0.50 % slower (\u00b10.05 %, +5 ns per call), within the 1 % threshold for "
	      "equivalence. More than all of the change (\u00b114 %, from samples), partly offset "
	      "elsewhere, is in allocate_slab. Measured over 3 boots per side.");
	c.function_share = 0.97;
	check(&c,
	      "clone is 0.50 % slower (\u00b10.05 %, +5 ns per call), within the 1 % threshold for "
	      "equivalence. 97 % of the change (\u00b114 %, from samples) is in allocate_slab. "
	      "Measured over 3 boots per side.");
	c.where = ANALYZE_WHERE_NONE;
	c.sampled = false;
	c.outside_share = 0.754;
	c.command_pct = 1.56;
	c.change.verdict = ANALYZE_VERDICT_UNCLEAR;
	c.change.boots_needed = 5;
	check(&c,
	      "clone shows no significant change (+0.50 %, \u00b10.05 %, +5 ns per call; about 5 boots "
	      "per side needed). Measured over 3 boots per side. 75 % of the change in the "
	      "command's CPU time (+1.56 %) is outside syscalls and page faults.");
	c.outside_share = 1.02;
	c.change.boots_needed = 1;
	check(&c,
	      "clone shows no significant change (+0.50 %, \u00b10.05 %, +5 ns per call; about 1 boot "
	      "per side needed). Measured over 3 boots per side. More than all of the change in the "
	      "command's CPU time (+1.56 %), partly offset elsewhere, is outside syscalls and page "
	      "faults.");
	c.outside_share = c.change.boots_needed = NAN;
	c.undecided = ANALYZE_REPETITIONS_ONE_RECORDING;
	check(&c,
	      "clone appears 0.50 % slower (\u00b10.05 %, +5 ns per call). Less than a tenth of the "
	      "change is in any recorded function. This is unclear: a side is a single recording. "
	      "Record both sides in turn, several times, and merge each side's files.");
	c.change.p = 0.3;
	check(&c,
	      "clone shows no significant change (+0.50 %, \u00b10.05 %, +5 ns per call). Smaller "
	      "changes cannot be resolved: a side is a single recording. Record both sides in turn, "
	      "several times, and merge each side's files.");
	c.undecided = ANALYZE_REPETITIONS_IN_A_ROW;
	check(&c,
	      "clone shows no significant change (+0.50 %, \u00b10.05 %, +5 ns per call). Smaller "
	      "changes cannot be resolved: each side's recordings were made in a row. Record both "
	      "sides in turn, several times, and merge each side's files, or pass as many recordings "
	      "of the baseline as --control.");
	c.undecided = ANALYZE_REPETITIONS_ENOUGH;
	c.kind = ANALYZE_CONCLUSION_UNTOLD;
	c.delta_pct = 0.03;
	c.delta_total = 100;
	c.least_pct = 1;
	check(&c,
	      "No significant change: the largest difference is in clone (+0.03 %, +100 ns per run), and "
	      "3 runs per side cannot resolve changes below 1 %.");
	c.runs[0] = c.runs[1] = 1;
	check(&c,
	      "No significant change: the largest difference is in clone (+0.03 %, +100 ns per run), and "
	      "1 run per side cannot resolve changes below 1 %.");
	c.runs[0] = c.runs[1] = 3;
	c.kind = ANALYZE_CONCLUSION_EQUAL;
	check(&c, "No syscall changed. Measured over 3 boots per side.");
	c.kind = ANALYZE_CONCLUSION_EMPTY;
	check(&c, "Nothing to compare: no syscalls were recorded.");
}

TEST(test_others)
{
	struct analyze_conclusion c = slower();

	c.clock = PROFILE_CLOCK_NS;
	c.kind = ANALYZE_CONCLUSION_WORKLOAD;
	c.what = "fork";
	c.delta = 1000;
	c.delta_pct = 10;
	c.unit = ANALYZE_UNIT_RUN;
	c.syscalls = ANALYZE_SYSCALLS_NOT_IT;
	check(&c,
	      "The workload fork is 10.0 % slower (\u00b10.05 %, +1.000 us per iteration, unprobed). "
	      "No significantly changed syscall accounts for a tenth of that. Measured over 3 runs "
	      "per side.");
	c.change.verdict = ANALYZE_VERDICT_SAME;
	c.syscalls = ANALYZE_SYSCALLS_NEGLIGIBLE;
	check(&c,
	      "The workload fork is the same to within 1 % (+10.0 %, \u00b10.05 %, +1.000 us per "
	      "iteration, unprobed). No syscall changed significantly by 0.1 % of the workload's "
	      "time or more. Measured over 3 runs per side.");
	c.kind = ANALYZE_CONCLUSION_SELF;
	c.what = "inner";
	c.context = "clone";
	c.delta_total = 1500;
	c.share = 0.75;
	check(&c,
	      "The self time of inner in clone, excluding timed callees, changed most: +1.500 us per "
	      "run, 75 % of the change of clone. Measured over 3 runs per side.");
	c.share = 12;
	check(&c,
	      "The self time of inner in clone, excluding timed callees, changed most: +1.500 us per "
	      "run, partly offset by the rest of clone. Measured over 3 runs per side.");
	c.share = -2;
	check(&c,
	      "The self time of inner in clone, excluding timed callees, changed most: +1.500 us per "
	      "run, more than offset by the rest of clone. Measured over 3 runs per side.");
	c.context = NULL;
	c.what = "clone";
	check(&c,
	      "The self time of clone, excluding timed callees, changed most: +1.500 us per run. "
	      "Measured over 3 runs per side.");
}

RUN_TESTS(NULL, NULL)
