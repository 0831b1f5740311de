// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/closer.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

/* Each close() sleeps in a thread of its own. */
static struct {
	pthread_t *threads;
	uint32_t n_threads, cap_threads;
} closer;

static void *close_one(void *fd)
{
	close((int)(intptr_t)fd);
	return NULL;
}

void record_closer_add(int fd)
{
	sigset_t all, before;
	pthread_t thread;
	int err;

	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, close_one, (void *)(intptr_t)fd);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		close(fd);
	else
		vec_push(&closer, threads, thread);
}

/* A directory has two links, and one for each directory in it. */
static bool is_alone(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) || st.st_nlink <= 3;
}

/*
 * A thread that can be joined still has the process's files for a moment. Where they are shared, every system
 * call on a descriptor costs more, those that calibration times among them.
 */
static void wait_for_exits(void)
{
	const struct timespec step = { .tv_nsec = 100000 };

	for (int i = 0; i < 1000 && !is_alone(); i++)
		nanosleep(&step, NULL);
}

void record_closer_wait(void)
{
	if (!closer.n_threads)
		return;
	while (closer.n_threads)
		pthread_join(closer.threads[--closer.n_threads], NULL);
	free(closer.threads);
	closer.threads = NULL;
	closer.cap_threads = 0;
	wait_for_exits();
}
