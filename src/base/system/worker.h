/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work in a process of its own, whose death costs nothing else. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Return 0 on success. It runs in a child: only its changes of files survive. */
typedef int (*worker_fn)(void *arg);

/*
 * Starts FN(ARG) in a child, which may take SPACE bytes of addresses more than this process has (0: no limit), and goes first
 * where the machine runs out of memory; WORKER_UNLIMITED: neither. The process, or -errno.
 */
#define WORKER_UNLIMITED UINT64_MAX
pid_t worker_start(worker_fn fn, void *arg, uint64_t space);

/*
 * Waits for the process's end. Returns NULL if FN succeeded, else the reason for a message: a static string. *CPU becomes its CPU
 * time in ns; NULL: it is not asked for. A signal that asks this process to end is passed on.
 */
const char *worker_wait(pid_t pid, uint64_t *cpu);
extern const char worker_failed[]; /* the reason if FN did not return 0 */

/* Is the process still running? If not, worker_wait() is not needed. *CPU: see there. */
bool worker_is_running(pid_t pid, uint64_t *cpu);
