// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/probe/links.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "profile/profile.h"

/* Threads that run close(), which sleeps. */
static struct {
	vec_of(pthread_t, threads);
} pending;

static void *close_one(void *fd)
{
	close((int)(intptr_t)fd);
	return NULL;
}

void record_detach_deferred(int fd)
{
	sigset_t all, before;
	pthread_t thread;
	int err;

	/* Block all signals in the new thread, so that the main thread gets them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, close_one, (void *)(intptr_t)fd);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		close(fd);
	else
		vec_push(&pending, threads, thread);
}

/* Return whether there is one thread: the folder /proc/self/task has two links, and one more per thread. */
static bool is_only_thread(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) || st.st_nlink <= 3;
}

/*
 * A joined thread still shares the process's file table for a moment. While the table is shared, system calls on descriptors cost
 * more, including those that calibration times.
 */
static void wait_for_exits(void)
{
	const struct timespec step = { .tv_nsec = 100000 };

	for (int i = 0; i < 1000 && !is_only_thread(); i++)
		nanosleep(&step, NULL);
}

void record_detach_wait(void)
{
	if (!pending.n_threads)
		return;
	while (pending.n_threads)
		pthread_join(pending.threads[--pending.n_threads], NULL);
	free(pending.threads);
	pending.threads = NULL;
	pending.cap_threads = 0;
	wait_for_exits();
}

#define EXPEDITED_PATH "/sys/kernel/rcu_expedited"

static bool write_expedited(char value)
{
	int fd = open(EXPEDITED_PATH, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, &value, 1) == 1;

	if (fd >= 0)
		close(fd);
	return ok;
}

bool record_detach_hurry(void)
{
	char now = '1';
	int fd = open(EXPEDITED_PATH, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (read(fd, &now, 1) != 1)
		now = '1';
	close(fd);
	return now == '0' && write_expedited('1');
}

void record_detach_hurried(bool hurry)
{
	if (hurry)
		write_expedited('0');
}

/* A part of Linux 6.7's struct bpf_link_info. Declare it here, since the installed header files may be older. */
struct link_info {
	__u32 type, id, prog_id, pad;
	union {
		struct {
			__u64 addrs;
			__u32 count, flags;
			__u64 missed;
		} kprobe_multi;
		struct {
			__u32 type, pad;
			__u64 func_name;
			__u32 name_len, offset;
			__u64 addr, missed;
		} perf_event;
	};
};

_Static_assert(offsetof(struct link_info, kprobe_multi.missed) == 32, "as in the kernel");
_Static_assert(offsetof(struct link_info, perf_event.missed) == 48, "as in the kernel");
_Static_assert(sizeof(struct link_info) == 56,
	       "the kernel's was shorter before it reported misses");

uint64_t record_link_misses(int link)
{
	struct link_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(link, &info, &len))
		return PROFILE_NOT_COUNTED;
	if (info.type != BPF_LINK_TYPE_KPROBE_MULTI && info.type != BPF_LINK_TYPE_PERF_EVENT)
		return 0;
	/* LEN is the number of bytes that the kernel has filled in. Before 6.7 the kernel fills in fewer bytes. */
	if (len < sizeof(info))
		return PROFILE_NOT_COUNTED;
	return info.type == BPF_LINK_TYPE_PERF_EVENT ? info.perf_event.missed :
						       info.kprobe_multi.missed;
}

uint64_t record_misses_add(uint64_t a, uint64_t b)
{
	return a == PROFILE_NOT_COUNTED || b == PROFILE_NOT_COUNTED ? PROFILE_NOT_COUNTED : a + b;
}
