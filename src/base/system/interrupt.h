/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The signals by which the user asks for an end: SIGINT, SIGTERM and SIGHUP. One that is ignored from the start, as by nohup,
 * stays ignored.
 */
#pragma once

#include <poll.h>
#include <sys/types.h>

/* Catches them from now on, and ignores SIGPIPE, which interrupt_default() does not restore. */
void interrupt_catch(void);
/* For a child that will execute a command: restores what the signals did before, held or not. */
void interrupt_default(void);

/* The signal that came last (0: none), and the number of times that it came in a row. */
int interrupt_signal(void);
unsigned int interrupt_count(void);

/* Holds them back until released: between the last look and a fork. */
void interrupt_hold(void);
void interrupt_release(void);
/* poll(), while which held signals come through. */
int interrupt_poll(struct pollfd *pfds, nfds_t n, int timeout_ms);

/*
 * To be called while they are held. One that is sent to this process alone, or came before CHILD (0: nobody) was there, is
 * passed on; one from the terminal reaches the whole foreground group.
 */
void interrupt_forward(pid_t child);
