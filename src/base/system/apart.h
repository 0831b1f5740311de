/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work in a process of its own, whose death costs nothing else. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* 0: done; all that it changes but files is lost. */
typedef int (*apart_fn)(void *arg);

/*
 * Starts FN(ARG) in a child, which may take SPACE bytes of addresses more than this process has (0: no limit), and goes first
 * where the machine runs out of memory; APART_ALIKE: neither. The process, or -errno.
 */
#define APART_ALIKE UINT64_MAX
pid_t apart_start(apart_fn fn, void *arg, uint64_t space);

/*
 * Waits for it. NULL where it has done it, else what became of it, for a message: a static string. Its CPU time in *CPU (NULL: not
 * asked for), in ns. Where a signal asks for an end meanwhile, it gets it too.
 */
const char *apart_wait(pid_t pid, uint64_t *cpu);
extern const char apart_failed[]; /* this one where FN returned something else than 0 */

/* Does it go on? Once it does not, it needs no apart_wait(); *CPU as there. */
bool apart_goes_on(pid_t pid, uint64_t *cpu);
