/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unit of time. */
#pragma once

/* The unit of a profile's times, called a tick. */
enum profile_clock {
	PROFILE_CLOCK_NS, /* nanoseconds of the monotonic clock */
	PROFILE_CLOCK_INSN, /* guest instructions: the lab's icount mode */
};

/* "ns" or "insn": the unit as JSON names it. */
const char *profile_clock_unit(enum profile_clock clock);
/* "ns" or "instructions": the unit in a sentence. */
const char *profile_clock_words(enum profile_clock clock);
