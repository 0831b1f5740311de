/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The signals by which the user asks for an end: SIGINT, SIGTERM and SIGHUP. A signal that is ignored from the start, as by
 * nohup, stays ignored.
 */
#pragma once

#include <poll.h>
#include <sys/types.h>

/* Catch the signals, and ignore SIGPIPE. interrupt_default() does not restore SIGPIPE. */
void interrupt_catch(void);
/* Restore the signals' former actions and mask, in a child that is about to execute a command. */
void interrupt_default(void);

/* Return the signal that came last (0: none), and the number of times that it came in a row. */
int interrupt_signal(void);
unsigned int interrupt_count(void);

/* Hold the signals back until interrupt_release(), so that none comes between a last check and a fork. */
void interrupt_hold(void);
void interrupt_release(void);
/* Call poll(); held signals are delivered during the call. */
int interrupt_poll(struct pollfd *pfds, nfds_t n, int timeout_ms);

/*
 * Pass signals on to CHILD (0: to nobody): those sent to this process alone, and those that came before CHILD existed. A signal
 * from the terminal reaches the whole foreground group anyway. Call this while signals are held.
 */
void interrupt_forward(pid_t child);
