/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user's command: started, waited for, and heard, exactly once for each call.
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
 * Finds COMMAND as execvp() would. 0 with the path in *PATH, for free(); else reports it and
 * returns WORKLOAD_NOT_EXECUTABLE or WORKLOAD_NOT_FOUND.
 */
int record_workload_find(const char *command, char **path);

/* Callbacks during the run, with ARG; NULL: none. */
struct record_workload_hooks {
	int (*prepare)(
		void *arg); /* in the child before it executes the command; non-zero ends it */
	void (*look)(void *arg); /* every LOOK_MS, while waiting for the end */
	int look_ms;
	int look_fd; /* and when this has input, of which LOOK leaves none; 0, -1: nothing */
	void *arg;
	uint64_t limit; /* ns after which the end is asked for; 0: never */
	const struct invoker *user; /* as whom the command runs; NULL: as this process does */
};

/*
 * Runs PATH with ARGV. Fills wall and status of run RUN of P and adds what the command said of
 * itself through KPROTPERF_REPORT_FD. At the limit the command gets SIGTERM, and the status of one
 * that dies of it is 0. Interrupts from the terminal reach the command, which has
 * them from there, and only end this process's wait through the command's death, or by coming twice. -EINTR where one
 * came before the command was started; other errors are reported.
 */
int record_workload_run(struct profile *p, uint32_t run, const char *path, char *const *argv,
			const struct record_workload_hooks *hooks);

/* Check that there is a process PID to record. Return 0 or -errno, reported. */
int record_workload_check(int32_t pid);

/* Waits until interrupted, up to the limit or, if PID is not 0, until that process ends. */
int record_workload_wait(int32_t pid, const struct record_workload_hooks *hooks);
