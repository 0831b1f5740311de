// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/number.h"

#define REPORT_FD_ENV "KPROTPERF_REPORT_FD"
#define REPORT_MAX    65536 /* bytes of reports read */
#define REPORT_LINES  64

/* Files open besides probes: programs, maps, links, the sampler's, what we were started with. */
#define FILES_BESIDES 1024

static struct rlimit files_before; /* zero: not changed */

void record_workload_need_files(uint32_t n)
{
	struct rlimit now, more;

	if (getrlimit(RLIMIT_NOFILE, &now) || now.rlim_cur >= n + FILES_BESIDES)
		return;
	more = now;
	more.rlim_cur = n + FILES_BESIDES;
	if (more.rlim_max < more.rlim_cur)
		more.rlim_max = more.rlim_cur;
	if (setrlimit(RLIMIT_NOFILE, &more)) {
		/* Without CAP_SYS_RESOURCE. */
		more = now;
		more.rlim_cur = now.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &more))
			return;
	}
	if (!files_before.rlim_cur)
		files_before = now;
}

static bool is_program(const char *path, bool *exists)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	*exists = true;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int record_workload_find(const char *command, char **path)
{
	const char *dirs = getenv("PATH") ?: "/usr/bin:/bin", *end;
	bool exists = false;

	*path = NULL;
	if (strchr(command, '/')) {
		if (is_program(command, &exists)) {
			*path = alloc_strdup(command);
			return 0;
		}
	} else {
		for (; *command && *dirs; dirs = *end ? end + 1 : end) {
			end = strchrnul(dirs, ':');
			*path = end == dirs ?
					alloc_strdup(command) :
					alloc_printf("%.*s/%s", (int)(end - dirs), dirs, command);
			if (is_program(*path, &exists))
				return 0;
			free(*path);
			*path = NULL;
		}
	}
	if (exists) {
		log_error("cannot run '%s': it is not an executable file", command);
		return WORKLOAD_NOT_EXECUTABLE;
	}
	log_error("cannot run '%s': no such program", command);
	return WORKLOAD_NOT_FOUND;
}

/* "big-fork iterations=20 mean_ns=1.5 …": unknown keys are left alone. */
static void report_parse(struct profile *p, uint32_t run, char *line)
{
	struct profile_report r = { .mean = NAN, .p50 = NAN, .min = NAN };
	char *save = NULL, *word = strtok_r(line, " \t", &save);

	if (!word)
		return;
	if (strlen(word) > PROFILE_NAME_MAX)
		word[PROFILE_NAME_MAX] = '\0';
	r.name = word;
	while ((word = strtok_r(NULL, " \t", &save))) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		if (!strcmp(word, "iterations"))
			number_unsigned(value, 0, UINT64_MAX, &r.iterations);
		else if (!strcmp(word, "mean_ns"))
			number_double(value, -INFINITY, INFINITY, &r.mean);
		else if (!strcmp(word, "p50_ns"))
			number_double(value, -INFINITY, INFINITY, &r.p50);
		else if (!strcmp(word, "min_ns"))
			number_double(value, -INFINITY, INFINITY, &r.min);
	}
	if (isnan(r.mean)) {
		log_warn("ignored the workload's report of '%s': it has no mean_ns", r.name);
		return;
	}
	profile_report_add(p, run, &r);
}

static void reports_read(struct profile *p, uint32_t run, int fd)
{
	char *text = alloc_array(REPORT_MAX + 1, 1), *save = NULL, *line;
	ssize_t n = pread(fd, text, REPORT_MAX, 0);
	unsigned int lines = 0;

	if (n > 0)
		for (line = strtok_r(text, "\n", &save); line && lines < REPORT_LINES;
		     line = strtok_r(NULL, "\n", &save), lines++)
			report_parse(p, run, line);
	free(text);
}

/* In the child: becomes the command, or tells through FD why it cannot. Never returns. */
static void child_main(const char *path, char *const *argv,
		       const struct record_workload_hooks *hooks, int report, int fd)
{
	char number[16];
	int err = 0;

	interrupt_default();
	if (files_before.rlim_cur)
		setrlimit(RLIMIT_NOFILE, &files_before);
	snprintf(number, sizeof(number), "%d", report);
	setenv(REPORT_FD_ENV, number, 1);
	if (hooks->prepare)
		err = hooks->prepare(hooks->arg);
	if (!err) {
		execv(path, argv);
		err = -errno;
	}
	if (write(fd, &err, sizeof(err)) != sizeof(err))
		_exit(WORKLOAD_NOT_EXECUTABLE + 1);
	_exit(WORKLOAD_NOT_EXECUTABLE);
}

/* Looks as long as PID runs, if there is anything to look at. */
static void wait_looking(pid_t pid, const struct record_workload_hooks *hooks)
{
	struct pollfd pfd = { .events = POLLIN };

	if (!hooks->look)
		return;
	pfd.fd = syscall(SYS_pidfd_open, pid, 0);
	if (pfd.fd < 0) {
		log_warn(
			"cannot monitor the command while it runs, so --max-overhead has no effect: %s",
			log_strerror(errno));
		return;
	}
	for (;;) {
		int n = poll(&pfd, 1, hooks->look_ms);

		if (n > 0 || (n < 0 && errno != EINTR))
			break;
		if (!n)
			hooks->look(hooks->arg);
	}
	close(pfd.fd);
}

/* The sum is exact to a microsecond, unlike its parts, which the kernel divides by ticks. */
static uint64_t cpu_time(const struct rusage *usage)
{
	uint64_t sec = usage->ru_utime.tv_sec + usage->ru_stime.tv_sec;
	uint64_t usec = usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;

	return (sec * 1000000 + usec) * 1000;
}

int record_workload_run(struct profile *p, uint32_t run, const char *path, char *const *argv,
			const struct record_workload_hooks *hooks)
{
	/* A memory file, unlike a pipe, takes whatever the command writes without a reader. */
	int report = memfd_create("kprotperf-report", 0), fds[2], status, failed = 0;
	struct rusage usage = {};
	uint64_t start;
	pid_t pid;

	if (report < 0 || pipe2(fds, O_CLOEXEC)) {
		int err = -errno;

		log_error("cannot start '%s': %s", path, log_strerror(err));
		if (report >= 0)
			close(report);
		return err;
	}
	fflush(NULL);
	start = clock_ns();
	pid = fork();
	if (pid == 0)
		child_main(path, argv, hooks, report, fds[1]);
	interrupt_forward(pid);
	close(fds[1]);
	if (pid < 0) {
		failed = -errno;
	} else {
		ssize_t n;

		do
			n = read(fds[0], &failed, sizeof(failed));
		while (n < 0 && errno == EINTR);
		wait_looking(pid, hooks);
		while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
			;
	}
	interrupt_forward(0);
	p->runs[run].wall = clock_ns() - start;
	p->runs[run].cpu = cpu_time(&usage);
	close(fds[0]);
	if (failed) {
		log_error("cannot run '%s': %s", path, log_strerror(failed));
	} else {
		p->runs[run].status =
			WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		reports_read(p, run, report);
	}
	close(report);
	return failed;
}

int record_workload_wait(int32_t pid, const struct record_workload_hooks *hooks)
{
	struct pollfd pfd = { .fd = -1, .events = POLLIN };

	if (pid) {
		pfd.fd = syscall(SYS_pidfd_open, pid, 0);
		if (pfd.fd < 0)
			return -errno;
	}
	while (!interrupt_signal() && poll(&pfd, 1, hooks->look ? hooks->look_ms : 200) <= 0)
		if (hooks->look)
			hooks->look(hooks->arg);
	if (pfd.fd >= 0)
		close(pfd.fd);
	return 0;
}
