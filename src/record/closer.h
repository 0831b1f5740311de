/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes taken down in the background. Closing a link or a perf event makes the kernel wait for a grace
 * period, or several, which is tens of milliseconds of sleep; of those closed at once some share theirs, and
 * the CPU is free meanwhile.
 */
#ifndef KPROTPERF_RECORD_CLOSER_H
#define KPROTPERF_RECORD_CLOSER_H

/* Closes FD by and by. Its probe may still be hit until record_closer_wait() has returned. */
void record_closer_add(int fd);

/* Until all are closed. To be called before what is left attached matters, and before any fork(). */
void record_closer_wait(void);

#endif
