/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Do work in a child process, so that a crash does not end this process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Do the work in a child process, where changes of memory are lost, and return 0 on success. */
typedef int (*worker_fn)(void *arg);

/*
 * Start FN(ARG) in a child process. The child may use SPACE bytes of address space more than this process (0: no limit), and the
 * kernel kills it first if memory runs out. WORKER_UNLIMITED: no limit, not killed first. Return the child's pid, or -errno.
 */
#define WORKER_UNLIMITED UINT64_MAX
pid_t worker_start(worker_fn fn, void *arg, uint64_t space);

/*
 * Wait for the end of the child PID. Return NULL if FN succeeded, else the reason as a static string. Set *CPU (unless NULL) to
 * the child's CPU time in ns. Signals that ask this process to end are forwarded to the child.
 */
const char *worker_wait(pid_t pid, uint64_t *cpu);
extern const char worker_failed[]; /* reason if FN did not return 0 */

/* Return whether the child still runs. If it has ended, set *CPU as worker_wait() does; do not call worker_wait() then. */
bool worker_is_running(pid_t pid, uint64_t *cpu);
