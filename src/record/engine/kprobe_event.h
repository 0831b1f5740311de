/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kprobes as perf events: they leave nothing behind when their process dies.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Place a probe on the entry or the return of the function at ADDR, without a program yet. Return the descriptor or
 * -errno, not reported. A function is given by address, since several may have the same name.
 */
int record_kprobe_open(uint64_t addr, bool on_return);

/* Run the program PROG at each hit of EVENT, a probe, with COOKIE. Return the link, which keeps the event, or -errno. */
int record_kprobe_link(int prog, int event, uint64_t cookie);
/* Place a probe, and run PROG at each hit. Return the link or -errno; PROG may be an -errno, which is returned. */
int record_kprobe_attach(int prog, uint64_t addr, bool on_return, uint64_t cookie);

/* Try a kprobe at ADDR. Return 0 or -errno. */
int record_kprobe_try(uint64_t addr);
