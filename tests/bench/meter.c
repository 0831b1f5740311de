// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * meter FILE CMD [ARG...]: run CMD, and write to FILE its start and end (CLOCK_MONOTONIC), its processor time, and the peak memory
 * of its largest process.
 * meter now: print CLOCK_MONOTONIC. A tool that runs this as its command thereby shows when it was ready.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static unsigned long long usec(struct timeval t)
{
	return t.tv_sec * 1000000ULL + t.tv_usec;
}

int main(int argc, char **argv)
{
	unsigned long long began;
	struct rusage usage;
	int status;
	FILE *file;
	pid_t pid;

	if (argc == 2 && !strcmp(argv[1], "now")) {
		printf("now=%llu\n", now());
		return 0;
	}
	if (argc < 3) {
		fputs("usage: meter FILE CMD [ARG...] | meter now\n", stderr);
		return 2;
	}
	file = fopen(argv[1], "we");
	if (!file) {
		fprintf(stderr, "meter: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	began = now();
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		fprintf(stderr, "meter: %s: %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0) {
		fprintf(stderr, "meter: fork: %s\n", strerror(errno));
		return 1;
	}
	fprintf(file, "began=%llu\nended=%llu\ncpu_us=%llu\nmaxrss_kb=%ld\n", began, now(),
		usec(usage.ru_utime) + usec(usage.ru_stime), usage.ru_maxrss);
	if (fclose(file)) {
		fprintf(stderr, "meter: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
