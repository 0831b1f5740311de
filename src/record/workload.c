// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/workload.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/system/privileges.h"
#include "base/system/clock.h"
#include "base/system/interrupt.h"
#include "base/log.h"
#include "record/reports.h"

#define NEVER UINT64_MAX /* a time limit that is never reached */

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

/* Return this process's environment with the descriptor for reports and, if USER is not NULL, the account of USER. */
static struct alloc_texts environment(int report, const struct invoker *user)
{
	const struct passwd *account = user ? getpwuid(user->uid) : NULL;
	struct alloc_texts env = {};
	size_t n_own;

	alloc_keep(&env, alloc_printf(RECORD_REPORT_FD_ENV "=%d", report));
	if (account) {
		alloc_keep(&env, alloc_printf("HOME=%s", account->pw_dir));
		alloc_keep(&env, alloc_printf("USER=%s", account->pw_name));
		alloc_keep(&env, alloc_printf("LOGNAME=%s", account->pw_name));
	}
	n_own = env.n_texts;
	for (char **text = environ; *text; text++) {
		size_t n = strcspn(*text, "=") + 1, i = 0;

		while (i < n_own && strncmp(*text, env.texts[i], n) != 0)
			i++;
		if (i == n_own)
			alloc_keep(&env, alloc_strdup(*text));
	}
	vec_push(&env, texts, NULL);
	return env;
}

struct start {
	const char *path;
	char *const *argv;
	char **env;
	const struct record_workload_hooks *hooks;
	int err; /* -errno if the command did not start; 0: it runs */
};

/* Execute the command in the child. The child shares the recorder's memory, and the recorder waits until execve(). */
static int child_main(void *arg)
{
	struct start *s = arg;
	const struct record_workload_hooks *hooks = s->hooks;

	open_files_restore();
	if (!s->err && hooks->user)
		s->err = invoker_become(hooks->user) ?: capabilities_raise();
	interrupt_default();
	signal(SIGPIPE, SIG_DFL);
	if (!s->err && hooks->prepare)
		s->err = hooks->prepare(hooks->arg);
	if (!s->err) {
		execve(s->path, s->argv, s->env);
		s->err = -errno;
	}
	return WORKLOAD_NOT_EXECUTABLE;
}

/* Return the CPU time so far of the process PID, which has not ended, in ns. */
static uint64_t cpu_time_so_far(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Return user time plus system time in ns. The sum is exact to a microsecond, but the kernel splits it by counting ticks. */
static uint64_t cpu_time(const struct rusage *usage)
{
	uint64_t sec = usage->ru_utime.tv_sec + usage->ru_stime.tv_sec;
	uint64_t usec = usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;

	return (sec * 1000000 + usec) * 1000;
}

static uint64_t limit_of(const struct record_workload_hooks *hooks, uint64_t start)
{
	return hooks->limit ? start + hooks->limit : NEVER;
}

/* Return the time in ms, rounded up, until the LOOK hook is due or the time LIMIT is reached; -1: neither will happen. */
static int pause_before(const struct record_workload_hooks *hooks, uint64_t limit)
{
	int look = hooks->look ? hooks->look_ms : -1;
	uint64_t now = clock_ns(), left = limit > now ? (limit - now + 999999) / 1000000 : 0;

	if (limit == NEVER || (look >= 0 && (uint64_t)look < left))
		return look;
	return left < INT_MAX ? (int)left : INT_MAX;
}

/* Wait until the process of PIDFD (-1: none) ends, LOOK is due or LIMIT is reached. If the process ended, return > 0. */
static int wait_a_while(int pidfd, const struct record_workload_hooks *hooks, uint64_t limit)
{
	struct pollfd pfds[] = { { .fd = pidfd, .events = POLLIN },
				 { .fd = hooks->look_fd ?: -1, .events = POLLIN } };
	int n = interrupt_poll(pfds, ARRAY_SIZE(pfds), pause_before(hooks, limit));

	return n > 0 && !pfds[0].revents ? 0 : n;
}

/*
 * Wait until the process PID ends, and call the LOOK hook meanwhile. When *LIMIT is reached, send SIGTERM to PID and set *LIMIT to
 * NEVER. Return false if the user's second signal has ended the wait.
 */
static bool wait_for(pid_t pid, const struct record_workload_hooks *hooks, uint64_t *limit)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	bool ended = false;

	if (pidfd < 0)
		log_warn("cannot monitor the command while it runs: %s", log_strerror(errno));
	/* Two signals may have come while the command was started. */
	while (!ended && pidfd >= 0 && interrupt_count() <= 1) {
		int n = wait_a_while(pidfd, hooks, *limit);

		ended = n > 0 || (n < 0 && errno != EINTR);
		if (!n && hooks->look)
			hooks->look(hooks->arg);
		if (!ended && clock_ns() >= *limit) {
			kill(pid, SIGTERM);
			*limit = NEVER;
		}
	}
	ended |= pidfd < 0;
	if (pidfd >= 0)
		close(pidfd);
	return ended;
}

/* Wait for the process PID, and set CPU time, wall time and status of R, its run. */
static void wait_and_fill(struct profile_run *r, pid_t pid, uint64_t start,
			  const struct record_workload_hooks *hooks)
{
	uint64_t limit = limit_of(hooks, start);
	struct rusage usage = {};
	int status;

	if (wait_for(pid, hooks, &limit)) {
		while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
			;
		r->cpu = cpu_time(&usage);
		if (!WIFSIGNALED(status)) {
			r->status = WEXITSTATUS(status);
		} else if (!(hooks->limit && limit == NEVER && WTERMSIG(status) == SIGTERM &&
			     !interrupt_signal())) { /* killed, not by the SIGTERM at the limit */
			r->status = 128 + WTERMSIG(status);
			r->end = PROFILE_END_SIGNAL;
		}
	} else {
		log_note("the command (process %d) continues to run but is no longer measured",
			 pid);
		r->cpu = cpu_time_so_far(pid);
		r->status = 128 + interrupt_signal();
		r->end = PROFILE_END_NONE;
	}
	r->wall = clock_ns() - start;
}

/*
 * Start the command while signals are held, so that no signal is lost between the check and the start. The child shares the
 * recorder's memory: otherwise execve() would have to tear down a copy of that memory.
 */
static int run_without_signals(struct profile_run *r, struct start *s)
{
	static char stack[1 << 18] __attribute__((aligned(16)));
	uint64_t start;
	pid_t pid;

	if (interrupt_signal())
		return -EINTR;
	fflush(NULL);
	start = clock_ns();
	pid = clone(child_main, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, s);
	if (pid < 0)
		return -errno;
	interrupt_forward(pid);
	wait_and_fill(r, pid, start, s->hooks);
	interrupt_forward(0);
	return s->err;
}

int record_workload_run(struct profile *p, uint32_t run, const char *path, char *const *argv,
			const struct record_workload_hooks *hooks)
{
	int report = record_reports_open(), failed = report < 0 ? report : 0;

	if (!failed) {
		struct alloc_texts env = environment(report, hooks->user);
		struct start start = { path, argv, env.texts, hooks, 0 };

		interrupt_hold();
		failed = run_without_signals(&p->runs[run], &start);
		interrupt_release();
		alloc_texts_free(&env);
	}
	if (failed && failed != -EINTR)
		log_error("cannot run '%s': %s", path, log_strerror(failed));
	if (!failed)
		record_reports_read(p, run, report);
	if (report >= 0)
		close(report);
	return failed;
}

int record_workload_check(int32_t pid)
{
	struct pollfd pfd = { .fd = syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	int err = pfd.fd < 0 ? -errno : 0;

	if (err == -ESRCH)
		log_error("no process %d", pid);
	else if (err == -EINVAL || err == -ENOENT)
		log_error("%d is a thread of another process: -p takes the process's number (Tgid "
			  "in /proc/%d/status)",
			  pid, pid);
	else if (err)
		log_error("cannot watch process %d: %s", pid, log_strerror(err));
	if (err)
		return err;
	if (poll(&pfd, 1, 0) > 0) {
		log_error("process %d has exited: its parent has not waited for it yet", pid);
		err = -ESRCH;
	}
	close(pfd.fd);
	return err;
}

int record_workload_wait(int32_t pid, const struct record_workload_hooks *hooks)
{
	uint64_t limit = limit_of(hooks, clock_ns());
	int pidfd = -1;

	if (pid) {
		pidfd = syscall(SYS_pidfd_open, pid, 0);
		if (pidfd < 0)
			return -errno;
	}
	interrupt_hold();
	while (!interrupt_signal() && clock_ns() < limit && wait_a_while(pidfd, hooks, limit) <= 0)
		if (hooks->look)
			hooks->look(hooks->arg);
	interrupt_release();
	if (pidfd >= 0)
		close(pidfd);
	return 0;
}
