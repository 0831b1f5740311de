// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A mix of operations of typical programs (files, memory, pipes, sockets, timers, processes), with each system call once or a few
 * times. Together they reach many kernel functions, some of them deep in the call tree.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

static struct workload w = {
	.name = "syscall-mix",
	.timed = "55 system calls on files, memory, pipes, sockets, timers and a child, once each",
	.iterations = 50,
};

static char path[PATH_MAX]; /* path of a private directory */
static int folder = -1;

/* Fail with a message if CALL returns -1. */
#define must(call)                                             \
	({                                                     \
		__typeof__(call) _result = (call);             \
                                                               \
		if (_result == (__typeof__(call))-1)           \
			workload_fail(&w, errno, "%s", #call); \
		_result;                                       \
	})

/* This makes 19 system calls. */
static void files(char *page)
{
	struct stat st;
	int fd;

	must(mkdirat(folder, "d", 0700));
	fd = must(openat(folder, "d/a", O_CREAT | O_RDWR, 0600));
	must(write(fd, page, WORKLOAD_PAGE));
	must(pwrite(fd, page, 100, 10000));
	must(lseek(fd, 0, SEEK_SET));
	must(read(fd, page, WORKLOAD_PAGE));
	must(pread(fd, page, 100, 10000));
	must(syscall(SYS_fstat, fd, &st));
	must(ftruncate(fd, 5000));
	must(fsync(fd));
	must(close(fd));
	must(symlinkat("a", folder, "d/link"));
	must(readlinkat(folder, "d/link", page, 100));
	must(linkat(folder, "d/a", folder, "d/b", 0));
	must(renameat(folder, "d/b", folder, "d/c"));
	must(unlinkat(folder, "d/a", 0));
	must(unlinkat(folder, "d/c", 0));
	must(unlinkat(folder, "d/link", 0));
	must(unlinkat(folder, "d", AT_REMOVEDIR));
}

/* This makes 6 system calls. */
static void memory(void)
{
	size_t size = 64 * WORKLOAD_PAGE;
	char *map =
		must(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	map[0] = map[size - 1] = 1;
	map = must(mremap(map, size, 2 * size, MREMAP_MAYMOVE));
	must(mprotect(map, WORKLOAD_PAGE, PROT_READ));
	must(madvise(map, size, MADV_DONTNEED));
	must(munmap(map, size));
	must(munmap(map + size, size));
}

/* This makes 13 system calls. */
static void channels(char *page)
{
	int ends[2], copy;

	must(pipe(ends));
	must(write(ends[1], page, 1000));
	must(read(ends[0], page, 1000));
	must(close(ends[0]));
	must(close(ends[1]));
	must(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
	must(send(ends[0], page, 1000, 0));
	must(recv(ends[1], page, 1000, 0));
	copy = must(dup(ends[0]));
	must(shutdown(ends[0], SHUT_RDWR));
	must(close(ends[0]));
	must(close(ends[1]));
	must(close(copy));
}

/* This makes 11 system calls. */
static void waiting(void)
{
	struct itimerspec far = { .it_value.tv_sec = 1000 };
	struct epoll_event event = { .events = EPOLLIN };
	uint64_t one = 1;
	int counter, timer, set;

	counter = must(eventfd(0, 0));
	timer = must(timerfd_create(CLOCK_MONOTONIC, 0));
	must(timerfd_settime(timer, 0, &far, NULL));
	set = must(epoll_create1(0));
	must(epoll_ctl(set, EPOLL_CTL_ADD, counter, &event));
	must(write(counter, &one, sizeof(one)));
	must(epoll_wait(set, &event, 1, 0));
	must(read(counter, &one, sizeof(one)));
	must(close(set));
	must(close(timer));
	must(close(counter));
}

/* This makes 6 system calls; the child also calls exit_group. */
static void processes(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	int status;
	pid_t pid;

	must(sigaction(SIGUSR1, &ignore, &before));
	must(kill(getpid(), SIGUSR1));
	must(sigaction(SIGUSR1, &before, NULL));
	pid = must(fork());
	if (!pid)
		_exit(0);
	must(waitpid(pid, &status, 0));
}

/* Remove the directory, and files that a failed iteration may have left. */
static void remove_folder(void)
{
	static const char *const names[] = { "d/a", "d/b", "d/c", "d/link" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlinkat(folder, names[i], 0);
	unlinkat(folder, "d", AT_REMOVEDIR);
	rmdir(path);
}

static void open_folder(void)
{
	const char *in = getenv("TMPDIR");

	if (!in || !*in)
		in = "/tmp";
	if (snprintf(path, sizeof(path), "%s/syscall-mix.XXXXXX", in) >= (int)sizeof(path))
		workload_fail(&w, ENAMETOOLONG, "TMPDIR");
	if (!mkdtemp(path))
		workload_fail(&w, errno, "cannot create a directory in %s", in);
	atexit(remove_folder);
	folder = must(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

int main(int argc, char **argv)
{
	uint64_t *times, i, start;
	char *page;

	workload_init(&w, argc, argv);
	times = workload_times(&w);
	page = workload_buffer(&w, 1);
	open_folder();
	for (i = 0; i < w.iterations; i++) {
		start = workload_now();
		files(page);
		memory();
		channels(page);
		waiting();
		processes();
		times[i] = workload_now() - start;
	}
	workload_report(&w, times, NULL);
	return 0;
}
