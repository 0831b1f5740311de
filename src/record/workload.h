/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run the user's command, wait for its end, and read its reports. */
#pragma once

#include <stdint.h>

#include "base/system/privileges.h"
#include "profile/profile.h"

/* Exit statuses with the meaning that they have in a shell. */
#define WORKLOAD_NOT_EXECUTABLE 126
#define WORKLOAD_NOT_FOUND      127

/*
 * Find COMMAND like execvp(). Return 0 and set *PATH, which the caller frees; or return WORKLOAD_NOT_EXECUTABLE or
 * WORKLOAD_NOT_FOUND, reported.
 */
int record_workload_find(const char *command, char **path);

/* Hooks, which are called during the run with the argument ARG, and other settings. NULL: no hook. */
struct record_workload_hooks {
	/* Called in the child before execve(). If the result is not 0, the command is not executed. */
	int (*prepare)(void *arg);
	void (*look)(void *arg); /* called every LOOK_MS until the command ends */
	int look_ms;
	int look_fd; /* descriptor whose input also causes a call of LOOK; 0, -1: none */
	void *arg;
	uint64_t limit; /* time in ns after which the command gets SIGTERM; 0: no limit */
	const struct invoker *user; /* user that runs the command; NULL: that of this process */
};

/*
 * Run PATH with ARGV. Set wall time, CPU time and status of run RUN of P, and add the reports that the command wrote to
 * KPROTPERF_REPORT_FD. At the limit the command gets SIGTERM; if it dies of SIGTERM, its status is 0. The terminal sends Ctrl-C to
 * the command, too. So the first interrupt ends the wait only if the command ends; the second interrupt ends the wait at once.
 * Return -EINTR, not reported, if an interrupt came before the command was started. Other errors are reported.
 */
int record_workload_run(struct profile *p, uint32_t run, const char *path, char *const *argv,
			const struct record_workload_hooks *hooks);

/* Check that the process PID exists and can be recorded. Return 0 or -errno, reported. */
int record_workload_check(int32_t pid);

/* Wait until an interrupt, the limit or, if PID is not 0, the end of process PID. Return 0 or -errno, not reported. */
int record_workload_wait(int32_t pid, const struct record_workload_hooks *hooks);
