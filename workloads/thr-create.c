// SPDX-License-Identifier: GPL-2.0-or-later
/* LEBench's "thr create": pthread_create, timed in the creator and in the new thread. */
#include <pthread.h>

#include "common.h"

struct job {
	uint64_t start, *child;
};

static void *thread_main(void *arg)
{
	struct job *job = arg;

	*job->child = workload_now() - job->start;
	return NULL;
}

int main(int argc, char **argv)
{
	struct workload w = {
		.name = "thr-create",
		.timed =
			"pthread_create, up to the creator's return from it (child_…: up to the new\n"
			"thread's first instructions); each thread is joined before the next",
		.iterations = 200,
	};
	uint64_t *times, *child, i, end;
	pthread_t thread;
	struct job job;
	int err;

	workload_init(&w, argc, argv);
	times = workload_times(&w);
	child = workload_times(&w);
	for (i = 0; i < w.iterations; i++) {
		job.child = &child[i];
		job.start = workload_now();
		err = pthread_create(&thread, NULL, thread_main, &job);
		end = workload_now();
		if (err)
			workload_fail(&w, err, "thread %llu of %llu", (unsigned long long)i + 1,
				      (unsigned long long)w.iterations);
		times[i] = end - job.start;
		pthread_join(thread, NULL);
	}
	workload_report(&w, times, child);
	return 0;
}
