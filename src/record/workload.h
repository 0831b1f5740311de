/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Run the user's command, wait for it, and read its reports.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/system/privileges.h"
#include "profile/profile.h"

/* Exit statuses, as a shell's. */
#define WORKLOAD_NOT_EXECUTABLE 126
#define WORKLOAD_NOT_FOUND      127

/*
 * Find COMMAND as execvp() would. Return 0 with the path in *PATH, for free(); or WORKLOAD_NOT_EXECUTABLE or WORKLOAD_NOT_FOUND,
 * reported.
 */
int record_workload_find(const char *command, char **path);

/* Callbacks during the run, with ARG; NULL: none. */
struct record_workload_hooks {
	/* Called in the child before execve(). Non-zero: do not execute the command. */
	int (*prepare)(void *arg);
	void (*look)(void *arg); /* called every LOOK_MS until the command ends */
	int look_ms;
	int look_fd; /* also call LOOK when this has input; LOOK reads all of it; 0, -1: none */
	void *arg;
	uint64_t limit; /* ns after which the command gets SIGTERM; 0: never */
	const struct invoker *user; /* user that runs the command; NULL: that of this process */
};

/*
 * Run PATH with ARGV. Fill wall, CPU time and status of run RUN of P, and add the reports that the command wrote to
 * KPROTPERF_REPORT_FD. At the limit the command gets SIGTERM; if it dies of that, its status is 0. The terminal sends interrupts to
 * the command, too: the first one ends the wait only if it ends the command, a second one ends the wait at once. Return -EINTR, not
 * reported, if an interrupt came before the command was started; other errors are reported.
 */
int record_workload_run(struct profile *p, uint32_t run, const char *path, char *const *argv,
			const struct record_workload_hooks *hooks);

/* Check that there is a process PID to record. Return 0 or -errno, reported. */
int record_workload_check(int32_t pid);

/* Wait until interrupted, until the limit or, if PID is not 0, until the process PID ends. Return 0 or -errno, not reported. */
int record_workload_wait(int32_t pid, const struct record_workload_hooks *hooks);
