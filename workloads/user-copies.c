// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies of 1 byte to 64 KiB from and to user memory, by send and recv on an AF_UNIX stream. The kernel copies to and from slab
 * objects and pages. Hardened usercopy checks the lengths, known only at run time. It does not check reads and writes of the page
 * cache, which copy within pages.
 */
#include <errno.h>
#include <sys/socket.h>

#include "common.h"

#define SIZES 17 /* powers of two from 1 to 65,536 */

static void copy(const struct workload *w, const int ends[2], char *buffer, size_t size)
{
	ssize_t n = send(ends[0], buffer, size, 0);

	if (n == (ssize_t)size)
		n = recv(ends[1], buffer, size, 0);
	if (n != (ssize_t)size)
		workload_fail(w, n < 0 ? errno : EIO, "%zu bytes through a socket", size);
}

int main(int argc, char **argv)
{
	struct workload w = {
		.name = "user-copies",
		.timed =
			"send and recv of 1, 2, 4, … 65,536 bytes on an AF_UNIX stream: 17 copies from\n"
			"user memory, 17 to it",
		.iterations = 300,
	};
	int ends[2], room = 1 << 18, size;
	uint64_t *times, i, start;
	char *buffer;

	workload_init(&w, argc, argv);
	times = workload_times(&w);
	buffer = workload_buffer(&w, 16);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		workload_fail(&w, errno, "socketpair");
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	for (i = 0; i < w.iterations; i++) {
		start = workload_now();
		for (size = 0; size < SIZES; size++)
			copy(&w, ends, buffer, (size_t)1 << size);
		times[i] = workload_now() - start;
	}
	workload_report(&w, times, NULL);
	return 0;
}
