/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handle SIGINT, SIGTERM and SIGHUP, which end the program. A signal ignored at the start (nohup) stays ignored. */
#pragma once

#include <poll.h>
#include <sys/types.h>

/* Catch these signals and ignore SIGPIPE. interrupt_default() leaves SIGPIPE ignored. */
void interrupt_catch(void);
/* Restore the signals' former actions and mask, in a child that is about to execute a command. */
void interrupt_default(void);

/* Return the last signal (0: none) and how many times it came in a row. */
int interrupt_signal(void);
unsigned int interrupt_count(void);

/* Block these signals until interrupt_release(), so that no signal arrives between a last check and a fork. */
void interrupt_hold(void);
void interrupt_release(void);
/* Call poll(). Blocked signals are delivered during the call. */
int interrupt_poll(struct pollfd *pfds, nfds_t n, int timeout_ms);

/*
 * Forward signals to the process CHILD (0: to none): signals sent to this process alone, and signals from before CHILD existed. A
 * terminal's signals reach the whole foreground group anyway. Call this while signals are blocked.
 */
void interrupt_forward(pid_t child);
