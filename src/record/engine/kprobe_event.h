/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Place kprobes as perf events, which the kernel removes when the process dies. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Place a probe on the entry or the return of the function at ADDR, without a program yet. Return the descriptor or -errno, not
 * reported. The function is given by address because several functions may have the same name.
 */
int record_kprobe_open(uint64_t addr, bool on_return);

/* Run the program PROG, with COOKIE, at each hit of the probe EVENT. Return the descriptor of the link, or -errno. */
int record_kprobe_link(int prog, int event, uint64_t cookie);
/* Place a probe, and run PROG at each hit. Return the link's descriptor or -errno. If PROG is negative, return PROG. */
int record_kprobe_attach(int prog, uint64_t addr, bool on_return, uint64_t cookie);

/* Try to place a kprobe at ADDR. Return 0 or -errno. */
int record_kprobe_try(uint64_t addr);
