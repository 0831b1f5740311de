/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way through the kernel's return trampoline and back, without what it calls.
 *
 * Where one probed function ends in a jump to another, both return in one trip: the second costs less
 * than was calibrated, by this.
 */
#ifndef KPROTPERF_RECORD_TRIP_H
#define KPROTPERF_RECORD_TRIP_H

#include <stdint.h>

struct record_trip {
	uint64_t shared; /* the way there and back */
	uint64_t rest; /* what is done for each return after the handlers of all */
};

/*
 * Measures it on the function at ADDR, which running the BPF program RUN calls once, in ticks. The
 * calling task must not be followed. What it attaches is there until record_closer_wait(). -errno, not
 * reported.
 */
int record_trip_measure(int run, uint64_t addr, struct record_trip *trip);

#endif
