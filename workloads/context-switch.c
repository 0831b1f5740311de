// SPDX-License-Identifier: GPL-2.0-or-later
/* LEBench's "context switch": send one byte to another process on the same CPU, and one byte back, over two pipes. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

static void pass(const struct workload *w, int to, int from, uint64_t *took)
{
	uint64_t start = workload_now();
	char byte = 'x';

	if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
		workload_fail(w, errno, "pipe");
	*took = workload_now() - start;
}

/* Send each byte back until the pipe is closed. */
static void answer(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1)
		if (write(to, &byte, 1) != 1)
			_exit(1);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct workload w = {
		.name = "context-switch",
		.timed =
			"a round trip: a byte written to another process on the same CPU, and one read\n"
			"back, over two pipes; two context switches",
		.iterations = 2000,
	};
	int there[2], back[2], status = 0;
	uint64_t *times, i;
	cpu_set_t cpu;
	pid_t pid;

	workload_init(&w, argc, argv);
	times = workload_times(&w);
	CPU_ZERO(&cpu);
	CPU_SET(sched_getcpu(), &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu))
		workload_fail(&w, errno, "sched_setaffinity");
	if (pipe(there) || pipe(back))
		workload_fail(&w, errno, "pipe");
	pid = fork();
	if (!pid) {
		close(there[1]);
		close(back[0]);
		answer(there[0], back[1]);
	}
	if (pid < 0)
		workload_fail(&w, errno, "fork");
	close(there[0]);
	close(back[1]);
	for (i = 0; i < w.iterations; i++)
		pass(&w, there[1], back[0], &times[i]);
	close(there[1]);
	if (waitpid(pid, &status, 0) != pid || status)
		workload_fail(&w, 0, "the other process failed, wait status %#x", status);
	workload_report(&w, times, NULL);
	return 0;
}
