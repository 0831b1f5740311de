// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/system/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/system/interrupt.h"

/* AddressSanitizer reserves more address space than any limit allows. */
#ifdef __SANITIZE_ADDRESS__
#define LIMITS false
#else
#define LIMITS true
#endif

/* Return the size of this process's address space in bytes, or 0 if unknown. */
static uint64_t space_now(void)
{
	char line[128];

	if (!file_read_line("/proc/self/statm", line, sizeof(line)))
		return 0;
	return strtoull(line, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit(uint64_t space)
{
	const struct rlimit limit = { space_now() + space, space_now() + space };
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		file_write_all(fd, "1000", 4);
		close(fd);
	}
	if (space && LIMITS)
		setrlimit(RLIMIT_AS, &limit);
}

pid_t worker_start(worker_fn fn, void *arg, uint64_t space)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid < 0 ? -errno : pid;
	interrupt_default();
	if (space != WORKER_UNLIMITED)
		limit(space);
	_exit(fn(arg) ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* Call wait4(), and set *CPU to the ended child's CPU time in ns. */
static pid_t reap(pid_t pid, int *status, int options, uint64_t *cpu)
{
	struct rusage usage;
	pid_t ended = wait4(pid, status, options, &usage);

	if (ended == pid && cpu)
		*cpu = ((uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
			(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)) *
		       1000;
	return ended;
}

const char worker_failed[] = "the helper process failed";

const char *worker_wait(pid_t pid, uint64_t *cpu)
{
	static char text[64];
	int status = 0;

	interrupt_forward(pid);
	while (reap(pid, &status, 0, cpu) < 0)
		if (errno != EINTR)
			return "cannot wait for the helper process";
	interrupt_forward(0);
	if (WIFEXITED(status))
		return WEXITSTATUS(status) ? worker_failed : NULL;
	snprintf(text, sizeof(text), "the helper process was killed by signal %d (%s)",
		 WTERMSIG(status), strsignal(WTERMSIG(status)));
	return text;
}

bool worker_is_running(pid_t pid, uint64_t *cpu)
{
	int status;

	return !reap(pid, &status, WNOHANG, cpu);
}
