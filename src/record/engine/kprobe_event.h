/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Place kprobes as perf events, which the kernel removes when the process dies. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Place a probe on the entry or return of the function at ADDR. The probe has no program yet. Return its descriptor or -errno, not
 * reported. An address identifies the function, because several functions may have the same name.
 */
int record_kprobe_open(uint64_t addr, bool on_return);

/* Run the program PROG, with COOKIE, at each hit of the probe EVENT. Return the descriptor of the link, or -errno. */
int record_kprobe_link(int prog, int event, uint64_t cookie);
/* Place a probe whose hits run PROG with COOKIE. Return the link's descriptor or -errno. If PROG is negative, return PROG. */
int record_kprobe_attach(int prog, uint64_t addr, bool on_return, uint64_t cookie);

/* Test whether the kernel accepts a kprobe at ADDR. Return 0 or -errno. */
int record_kprobe_try(uint64_t addr);
