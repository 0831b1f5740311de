// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Slab objects of many sizes, by System V messages: msgsnd allocates an object of the message's length plus 48 bytes by
 * kmalloc, and msgrcv frees it. A queue is filled before it is emptied, so slabs are allocated from the page allocator and freed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>

#include "common.h"

#define HEADER      48 /* size of struct msg_msg in bytes */
#define QUEUE_BYTES 16384 /* the kernel's default limit for a queue */

/* Sizes of the kmalloc caches. The kernel splits a message of a page or more. */
static const int objects[] = { 64, 96, 128, 192, 256, 512, 1024, 2048, 4096 };

#define N_OBJECTS (sizeof(objects) / sizeof(objects[0]))

struct message {
	long type;
	char text[4096];
};

static int queue = -1;

static void remove_queue(void)
{
	msgctl(queue, IPC_RMID, NULL);
}

static void fill_and_empty(const struct workload *w, struct message *message, int object)
{
	int length = object - HEADER, n = QUEUE_BYTES / object, i;

	for (i = 0; i < n; i++)
		if (msgsnd(queue, message, length, IPC_NOWAIT))
			workload_fail(w, errno, "msgsnd %d of %d, %d bytes", i + 1, n, length);
	for (i = 0; i < n; i++)
		if (msgrcv(queue, message, length, 0, IPC_NOWAIT) != length)
			workload_fail(w, errno, "msgrcv");
}

int main(int argc, char **argv)
{
	struct workload w = {
		.name = "slab-sizes",
		.timed =
			"a message queue filled and emptied with messages of 16 to 4,048 bytes, which are\n"
			"kernel objects of 64 to 4,096 bytes: 763 allocated, 763 freed",
		.iterations = 20,
	};
	struct message message;
	uint64_t *times, i, start;
	size_t size;

	workload_init(&w, argc, argv);
	times = workload_times(&w);
	memset(&message, 'x', sizeof(message));
	message.type = 1;
	queue = msgget(IPC_PRIVATE, 0600);
	if (queue < 0)
		workload_fail(&w, errno, "msgget");
	atexit(remove_queue);
	for (i = 0; i < w.iterations; i++) {
		start = workload_now();
		for (size = 0; size < N_OBJECTS; size++)
			fill_and_empty(&w, &message, objects[size]);
		times[i] = workload_now() - start;
	}
	workload_report(&w, times, NULL);
	return 0;
}
