/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unit of a profile's times. */
#pragma once

/* A profile measures time in ticks of one of these units. */
enum profile_clock {
	PROFILE_CLOCK_NS, /* nanoseconds of the monotonic clock */
	PROFILE_CLOCK_INSN, /* instructions of a guest, its clock under QEMU's icount */
};

/* Return the unit's name in JSON: "ns" or "insn". */
const char *profile_clock_unit(enum profile_clock clock);
/* Return the unit's name in a sentence: "ns" or "instructions". */
const char *profile_clock_words(enum profile_clock clock);
