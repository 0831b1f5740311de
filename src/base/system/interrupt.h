/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The signals by which the user asks for an end: SIGINT, SIGTERM and SIGHUP. One that is ignored from the start, as by nohup,
 * stays ignored.
 */
#pragma once

#include <poll.h>
#include <sys/types.h>

/* Catches them from now on. That nobody reads what is said ends this process no longer either (SIGPIPE, not restored below). */
void interrupt_catch(void);
/* In a child, before it executes a command: they do what they did before, held or not. */
void interrupt_default(void);

/* The signal that came last; 0: none. How often in a row it did. */
int interrupt_signal(void);
unsigned int interrupt_count(void);

/* Holds them back, from a last look to a fork, until released. */
void interrupt_hold(void);
void interrupt_release(void);
/* poll(), while which held signals come through. */
int interrupt_poll(struct pollfd *pfds, nfds_t n, int timeout_ms);

/*
 * To be called while they are held. One that is sent to this process alone, or came before CHILD (0: nobody) was there, is
 * passed on; one from the terminal reaches the whole foreground group.
 */
void interrupt_forward(pid_t child);
