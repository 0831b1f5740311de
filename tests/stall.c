// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `stall PERCENT COMMAND...` runs COMMAND, and stops single threads of the QEMU processes below it, like a busy host: each thread
 * is stopped for PERCENT of the time, 0.05 to 1.6 s per stop, while its guest's other threads run. So a guest's disk may be late
 * while its CPU is not, or one of its two CPUs may be late.
 */
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS    50
#define MEAN_TICKS 6.0
#define MOST_TICKS 32

static struct stopped {
	pid_t tid;
	int left; /* ticks until the thread continues */
} stopped[256];
static int n_stopped;
static unsigned long stops;

static double chance(void)
{
	return (double)random() / RAND_MAX;
}

static int is_stopped(pid_t tid)
{
	for (int i = 0; i < n_stopped; i++)
		if (stopped[i].tid == tid)
			return 1;
	return 0;
}

static void stop(pid_t tid)
{
	int status, ticks = 1;

	if (n_stopped == sizeof(stopped) / sizeof(stopped[0]) || ptrace(PTRACE_SEIZE, tid, 0, 0))
		return;
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
		return;
	if (status >> 16 != PTRACE_EVENT_STOP) {
		/* A signal arrived before the stop: deliver the signal. */
		ptrace(PTRACE_DETACH, tid, 0, WSTOPSIG(status));
		return;
	}
	while (ticks < MOST_TICKS && chance() > 1 / MEAN_TICKS)
		ticks++;
	stopped[n_stopped++] = (struct stopped){ tid, ticks };
	stops++;
}

static void resume_due(void)
{
	int kept = 0;

	for (int i = 0; i < n_stopped; i++) {
		pid_t tid = stopped[i].tid;

		/* A thread killed while it is stopped stays a zombie until its tracer waits for it. */
		if (waitpid(tid, NULL, __WALL | WNOHANG) == tid)
			continue;
		if (--stopped[i].left > 0)
			stopped[kept++] = stopped[i];
		else
			ptrace(PTRACE_DETACH, tid, 0, 0);
	}
	n_stopped = kept;
}

/* Return the parent of process PID, or 0 if unknown. Set *IS_QEMU to whether PID runs QEMU. */
static pid_t parent(pid_t pid, int *is_qemu)
{
	char path[64], comm[32] = "";
	int ppid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fscanf(f, "%*d (%31[^)]) %*c %d", comm, &ppid) != 2)
		ppid = 0;
	fclose(f);
	*is_qemu = !strncmp(comm, "qemu-system", 11);
	return ppid;
}

static int is_below(pid_t pid, pid_t root)
{
	int ignored;

	while (pid > 1 && pid != root)
		pid = parent(pid, &ignored);
	return pid == root;
}

struct plan {
	pid_t root;
	double start; /* probability per tick that a running thread is stopped */
};

static void each_number(const char *folder, void (*act)(pid_t, const struct plan *),
			const struct plan *plan)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			act(atoi(entry->d_name), plan);
	if (dir)
		closedir(dir);
}

static void visit_thread(pid_t tid, const struct plan *plan)
{
	if (!is_stopped(tid) && chance() < plan->start)
		stop(tid);
}

static void visit_process(pid_t pid, const struct plan *plan)
{
	char tasks[64];
	int is_qemu;

	if (!parent(pid, &is_qemu) || !is_qemu || !is_below(pid, plan->root))
		return;
	snprintf(tasks, sizeof(tasks), "/proc/%d/task", pid);
	each_number(tasks, visit_thread, plan);
}

int main(int argc, char **argv)
{
	double share = argc > 2 ? atof(argv[1]) / 100 : 0;
	struct plan plan = { .start = share / (1 - share) / MEAN_TICKS };
	int status;

	if (!(share > 0 && share < 1)) {
		fprintf(stderr, "usage: stall PERCENT COMMAND...\n");
		return 2;
	}
	srandom((unsigned int)time(NULL));
	plan.root = fork();
	if (plan.root < 0) {
		perror("fork");
		return 1;
	}
	if (!plan.root) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	while (waitpid(plan.root, &status, WNOHANG) == 0) {
		struct timespec tick = { .tv_nsec = TICK_MS * 1000000 };

		resume_due();
		each_number("/proc", visit_process, &plan);
		nanosleep(&tick, NULL);
	}
	fprintf(stderr, "# %lu stops of single threads\n", stops);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
