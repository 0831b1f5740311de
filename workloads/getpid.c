// SPDX-License-Identifier: GPL-2.0-or-later
/* LEBench's "getpid": the way into the kernel and out again. */
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

int main(int argc, char **argv)
{
	struct workload w = {
		.name = "getpid",
		.timed = "the raw system call, with one reading of the clock",
		.iterations = 10000,
	};
	uint64_t *times, i, start;

	workload_init(&w, argc, argv);
	times = workload_times(&w);
	for (i = 0; i < w.iterations; i++) {
		start = workload_now();
		syscall(SYS_getpid);
		times[i] = workload_now() - start;
	}
	workload_report(&w, times, NULL);
	return 0;
}
