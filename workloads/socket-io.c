// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LEBench's send and recv on an AF_UNIX stream socket. Both ends belong to this process, so no task is woken
 * and only the system call is timed.
 *
 * Names: send recv big-send big-recv
 */
#include <errno.h>
#include <sys/socket.h>

#include "common.h"

#define BIG 96000

static struct row {
	struct workload w;
	unsigned int bytes;
	enum {
		SEND,
		RECV
	} timed;
} rows[] = {
	{ { "send", "send of one byte on an AF_UNIX stream; it is received before the next",
	    10000 },
	  1,
	  SEND },
	{ { "recv", "recv of one byte that waits on an AF_UNIX stream", 10000 }, 1, RECV },
	{ { "big-send",
	    "send of 96,000 bytes on an AF_UNIX stream; they are received before the next", 500 },
	  BIG,
	  SEND },
	{ { "big-recv", "recv of 96,000 bytes that wait on an AF_UNIX stream", 500 }, BIG, RECV },
};

static uint64_t turn(const struct row *row, const int ends[2], char *buffer)
{
	uint64_t start, sent, received;
	ssize_t n;

	start = workload_now();
	n = send(ends[0], buffer, row->bytes, 0);
	sent = workload_now();
	if (n != (ssize_t)row->bytes)
		workload_fail(&row->w, n < 0 ? errno : EIO, "send");
	if (row->timed == RECV)
		start = workload_now();
	n = recv(ends[1], buffer, row->bytes, 0);
	received = workload_now();
	if (n != (ssize_t)row->bytes)
		workload_fail(&row->w, n < 0 ? errno : EIO, "recv");
	return row->timed == SEND ? sent - start : received - start;
}

int main(int argc, char **argv)
{
	struct row *row = WORKLOAD_PICK(rows);
	int ends[2], room = 4 * BIG;
	uint64_t *times, i;
	char *buffer;

	workload_init(&row->w, argc, argv);
	times = workload_times(&row->w);
	buffer = workload_buffer(&row->w, (BIG + WORKLOAD_PAGE - 1) / WORKLOAD_PAGE);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		workload_fail(&row->w, errno, "socketpair");
	/* Make room for one message: the default may be too small. */
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	for (i = 0; i < row->w.iterations; i++)
		times[i] = turn(row, ends, buffer);
	workload_report(&row->w, times, NULL);
	return 0;
}
