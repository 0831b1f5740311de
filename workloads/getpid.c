// SPDX-License-Identifier: GPL-2.0-or-later
/* LEBench's "getpid": kernel entry and exit. */
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

static void call(const struct workload *w)
{
	(void)w;
	syscall(SYS_getpid);
}

int main(int argc, char **argv)
{
	struct workload w = {
		.name = "getpid",
		.timed = "the raw system call, with one reading of the clock",
		.iterations = 10000,
	};
	uint64_t *times;

	workload_init(&w, argc, argv);
	times = workload_times(&w);
	workload_time_each(&w, times, call);
	workload_report(&w, times, NULL);
	return 0;
}
