// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * prctl(PR_SET_NAME): a short system call that calls one short kernel function, __set_task_comm(), once.
 * A probe on that function or on system calls adds its cost to each iteration.
 */
#include <errno.h>
#include <sys/prctl.h>

#include "common.h"

static void call(const struct workload *w)
{
	if (prctl(PR_SET_NAME, "set-name"))
		workload_fail(w, errno, "prctl(PR_SET_NAME)");
}

int main(int argc, char **argv)
{
	struct workload w = {
		.name = "set-name",
		.timed = "prctl(PR_SET_NAME), with one reading of the clock",
		.iterations = 10000,
	};
	uint64_t *times;

	workload_init(&w, argc, argv);
	times = workload_times(&w);
	workload_time_each(&w, times, call);
	workload_report(&w, times, NULL);
	return 0;
}
