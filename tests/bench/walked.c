// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * walked KIB N [spin|call]: measure the mean time of N calls of getppid() by CLOCK_MONOTONIC, each after a walk over KIB of
 * memory. Print and report the mean as workloads do. It excludes times above eight times the median: interrupts caused these.
 * spin: a process on another CPU spins meanwhile. call: it makes the same system call.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LINE        64
#define INTERRUPTED 8

static unsigned long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ul + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const unsigned long *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void move_to(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* Start a process that calls or spins on CPU 1. The caller stays on CPU 0. */
static pid_t begin_beside(int calls)
{
	pid_t parent = getpid(), pid = fork();

	move_to(pid ? 0 : 1);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent || calls)
		for (volatile int i = 0; !calls && i < 1000000; i++)
			;
	_exit(0);
}

int main(int argc, char **argv)
{
	size_t size = argc > 2 ? strtoul(argv[1], NULL, 0) << 10 : 0;
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 0) : 0, kept = 0;
	unsigned long *times = calloc(n + 1, sizeof(*times));
	const char *fd = getenv("KPROTPERF_REPORT_FD");
	volatile char *memory = calloc(1, size + 1);
	pid_t beside = argc > 3 ? begin_beside(!strcmp(argv[3], "call")) : 0;
	double sum = 0;

	if (!n || !times || !memory) {
		fputs("usage: walked KIB N [spin|call]\n", stderr);
		return 2;
	}
	for (unsigned long i = 0; i < n; i++) {
		unsigned long start;

		for (size_t at = 0; at < size; at += LINE)
			memory[at]++;
		start = now();
		syscall(SYS_getppid);
		times[i] = now() - start;
	}
	if (beside > 0)
		kill(beside, SIGKILL);
	qsort(times, n, sizeof(*times), compare);
	for (; kept < n && times[kept] <= INTERRUPTED * times[n / 2]; kept++)
		sum += times[kept];
	for (int i = 0; i < 2; i++)
		if (!i || fd)
			dprintf(i ? atoi(fd) : 1,
				"walked iterations=%lu mean_ns=%.2f p50_ns=%lu min_ns=%lu\n", n,
				sum / kept, times[n / 2], times[0]);
	return 0;
}
