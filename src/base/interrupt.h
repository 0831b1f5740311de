/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The signals by which the user asks for an end: SIGINT, SIGTERM and SIGHUP.
 */
#ifndef KPROTPERF_BASE_INTERRUPT_H
#define KPROTPERF_BASE_INTERRUPT_H

#include <sys/types.h>

/* Catches them from now on. */
void interrupt_catch(void);
/* In a child, before it executes a command: they end it. */
void interrupt_default(void);

/* The signal that came last; 0: none. */
int interrupt_signal(void);

/*
 * One that is sent to this process alone is passed on to CHILD (0: nobody); one from the terminal reaches the whole
 * foreground group.
 */
void interrupt_forward(pid_t child);

#endif
