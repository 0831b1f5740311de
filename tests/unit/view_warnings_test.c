// SPDX-License-Identifier: GPL-2.0-or-later
/* Write warnings as text. */
#include "test.h"
#include "analyze/figures/environment.h"
#include "analyze/figures/table.h"
#include "view/words.h"

static void check(struct analyze_warning warning, const char *expected)
{
	char *text = view_warning(&warning);

	assert_string_equal(text, expected);
	free(text);
}

#define W(of, ...) ((struct analyze_warning){ .kind = ANALYZE_WARNING_##of, __VA_ARGS__ })
#define BOTH       .side = ANALYZE_SIDE_NONE

TEST(test_pairs)
{
	check(W(WORK, BOTH, .names = { "true", "fal\033se" }),
	      "different work: argument 0 is \"true\" on the baseline side and \"fal\\x1bse\" on "
	      "the hardened side");
	check(W(MACHINE, BOTH, .names = { "performance", NULL, PROFILE_ENV_GOVERNOR }),
	      "different frequency governors: performance and unknown");
	check(W(MACHINE, BOTH, .names = { NULL, "function tracer", PROFILE_ENV_TRACERS }),
	      "different tracing by other tools: none and function tracer");
	check(W(MECHANISMS, BOTH, .names = { "fentry", "kprobe", "f" }, .values = { 1 }),
	      "different probes, with different costs, on 1 function: f by fentry on the "
	      "baseline side, by kprobe on the hardened side (record both with the same --attach)");
	check(W(FREQ, BOTH, .values = { 0, 997 }),
	      "different sampling rates, which cost different amounts of time: 0 and 997 samples "
	      "per second");
	check(W(CONFIG, .side = ANALYZE_SIDE_HARDENED),
	      "unknown configuration of the hardened kernel: options are not compared");
	check(W(COST_ONE_SIDE, .side = ANALYZE_SIDE_BASELINE, .names = { "tracepoint" }),
	      "the cost of tracepoint probes is subtracted on the baseline side only, so "
	      "differences include it (--raw includes it on both sides)");
	check(W(SLOWDOWN, BOTH, .values = { 4.3, 66.7 }),
	      "probes slowed down the kernel by 4 % on the baseline side and by 67 % on the "
	      "hardened side: time-driven work such as RCU then runs at different points, which "
	      "alone may explain changes outside the timed functions (record fewer functions at "
	      "once)");
	check(W(LOAD, BOTH, .values = { 3.2, 41 }),
	      "different load: tasks waited for a CPU for 3.2 % of the time on the baseline side "
	      "and for 41 % of the time on the hardened side, which affects real-clock times "
	      "(record both sides again, alternately)");
	check(W(LOAD, BOTH, .code = ANALYZE_LOAD_STOLEN, .values = { 9, 0 }),
	      "different load: the hypervisor ran other guests for 9 % of the CPUs' time on the "
	      "baseline side and for 0 % of the CPUs' time on the hardened side, which affects "
	      "real-clock times (record both sides again, alternately)");
	check(W(LOAD, BOTH, .code = ANALYZE_LOAD_FREQUENCY, .values = { 132.4, 118 }),
	      "different CPU frequencies: 132 % of nominal on the baseline side and 118 % of "
	      "nominal on the hardened side, which affects real-clock times (record both sides "
	      "again, alternately)");
	check(W(LOAD, BOTH, .code = ANALYZE_LOAD_THROTTLING, .values = { 0, 2.5 }),
	      "different thermal throttling: 0 times per run on the baseline side and 2.5 times "
	      "per run on the hardened side, which affects real-clock times (record both sides "
	      "again, alternately)");
}

TEST(test_one)
{
	const struct profile_run failed = { .status = 1 };
	const struct profile_run killed = { .status = 139, .end = PROFILE_END_SIGNAL };
	const struct profile_run interrupted = { .status = 130, .end = PROFILE_END_NONE };

	check(W(LOSS, .side = ANALYZE_SIDE_BASELINE, .code = PROFILE_LOSS_DEPTH_EXCEEDED,
		.values = { 1234 }),
	      "baseline: 1,234 calls not timed: too many timed functions nested (time fewer "
	      "functions)");
	check(W(LOSS, BOTH, .code = PROFILE_LOSS_SAMPLES_NOT_RECEIVED, .values = { 1 }),
	      "1 sample missed while a task of the workload ran (lower --freq)");
	check(W(LOSS, BOTH, .code = PROFILE_LOSS_ENTRY_WITHOUT_RETURN, .values = { 1 }),
	      "1 call not timed: the return was missed");
	check(W(LOSS, BOTH, .code = PROFILE_LOSS_SWITCHES, .values = { 1 }),
	      "1 task switch not reported by the kernel: calls in between are missing or attributed "
	      "to another task");
	check(W(MISSED, BOTH, .names = { "often" }, .code = PROFILE_MECH_KPROBE, .values = { 90 }),
	      "90 calls of often not timed: kprobe missed the return, as happens when many tasks "
	      "sleep in a function (record --attach=fentry does not miss them)");
	check(W(MISSED, BOTH, .names = { "traced" }, .code = PROFILE_MECH_FENTRY, .values = { 1 }),
	      "1 call of traced not timed: fentry missed the return");
	check(W(UNACCOUNTED, BOTH, .values = { 1, 51 }),
	      "1 of 51 calls entered is not accounted for: counts and totals may be too low by "
	      "that many");
	check(W(UNACCOUNTED, BOTH, .values = { -2, 50 }),
	      "2 more calls were accounted for than the 50 that were entered: counts and totals "
	      "may be too high by that many");
	check(W(FAILED_RUNS, BOTH, .values = { 1, 2, 2 }, .run = &failed),
	      "1 of 2 runs failed: in run 2 the command exited with status 1");
	check(W(FAILED_RUNS, BOTH, .values = { 1, 1, 1 }, .run = &killed),
	      "the command was killed by SIGSEGV");
	check(W(FAILED_RUNS, BOTH, .values = { 1, 1, 1 }, .run = &interrupted),
	      "the command went on when SIGINT ended the recording");
	check(W(TASKS_LEFT, BOTH, .values = { 2 }),
	      "2 tasks outlived the command: what they did after it ended was not measured");
	check(W(NEGATIVE, BOTH, .names = { "alloc", "mmap" }, .values = { 1 },
		.code = ANALYZE_TIME_SELF),
	      "the calibration subtracts more than the probes cost in 1 row, above all from "
	      "the self time of alloc in mmap: negative values are shown as they are and are too "
	      "low; --raw shows uncorrected figures");
	check(W(COST_UNKNOWN, BOTH, .names = { "kprobe", "alloc" }, .values = { 1 }),
	      "the cost of kprobe probes is unknown and included in the times of 1 function "
	      "(alloc) and of everything that calls it");
	check(W(COST_UNKNOWN, BOTH, .names = { "tracepoint" }),
	      "the cost of tracepoint probes is unknown and included in the times of "
	      "syscalls and page faults");
	check(W(CLOCK, BOTH, .names = { "refined-jiffies" }, .values = { 4000000 }),
	      "the clock (refined-jiffies) advanced in steps of 4.0 ms, and so do all times and "
	      "probe costs: do not compare times (boot with another clock; dmesg | grep -i tsc "
	      "shows why this one is used)");
	check(W(INLINED, BOTH, .names = { "a, b, c and 9 others" }),
	      "calls that the compiler inlined are not in the figures of a, b, c and 9 others "
	      "(--range=NAME times them)");
	check(W(PREEMPT_RT, .side = ANALYZE_SIDE_HARDENED),
	      "hardened: PREEMPT_RT: too much probe cost is subtracted for calls made while a lock "
	      "is held, so times of functions that run under locks, and of their callers, are too "
	      "low (--raw shows uncorrected figures)");
}

RUN_TESTS(NULL, NULL)
