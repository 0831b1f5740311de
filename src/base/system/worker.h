/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work in a child process, whose death does not end this process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Return 0 on success. The function runs in a child process: only its changes of files survive. */
typedef int (*worker_fn)(void *arg);

/*
 * Start FN(ARG) in a child process. The child may take SPACE bytes of addresses more than this process has (0: no limit). The
 * kernel kills it first if the machine runs out of memory. WORKER_UNLIMITED: neither. Return the child's pid, or -errno.
 */
#define WORKER_UNLIMITED UINT64_MAX
pid_t worker_start(worker_fn fn, void *arg, uint64_t space);

/*
 * Wait for the end of the child PID. Return NULL if FN succeeded, else the reason for a message: a static string. Set *CPU (unless
 * NULL) to the child's CPU time in ns. A signal that asks this process to end is passed on to the child.
 */
const char *worker_wait(pid_t pid, uint64_t *cpu);
extern const char worker_failed[]; /* the reason if FN did not return 0 */

/* Return whether the child is still running. If not, set *CPU as worker_wait() does; worker_wait() is not needed then. */
bool worker_is_running(pid_t pid, uint64_t *cpu);
