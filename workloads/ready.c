// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LEBench's select, poll and epoll of 10 and 1,000 TCP sockets, without waiting. The sockets are not
 * connected, so all of them are ready (hung up).
 *
 * Names: select poll epoll big-select big-poll big-epoll
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>

#include "common.h"

#define MAX_SOCKETS 1000

struct set {
	int fds[MAX_SOCKETS], n, last, epoll;
	fd_set wanted;
	struct pollfd polled[MAX_SOCKETS];
	struct epoll_event events[MAX_SOCKETS];
};

static int by_select(struct set *set, uint64_t *took)
{
	struct timeval none = { 0 };
	fd_set ready = set->wanted;
	uint64_t start = workload_now();
	int n = select(set->last + 1, &ready, NULL, NULL, &none);

	*took = workload_now() - start;
	return n;
}

static int by_poll(struct set *set, uint64_t *took)
{
	uint64_t start = workload_now();
	int n = poll(set->polled, set->n, 0);

	*took = workload_now() - start;
	return n;
}

static int by_epoll(struct set *set, uint64_t *took)
{
	uint64_t start = workload_now();
	int n = epoll_wait(set->epoll, set->events, set->n, 0);

	*took = workload_now() - start;
	return n;
}

static struct row {
	struct workload w;
	int sockets;
	int (*ask)(struct set *set, uint64_t *took);
} rows[] = {
	{ { "select", "select for reading of 10 TCP sockets, without waiting", 5000 },
	  10,
	  by_select },
	{ { "poll", "poll for reading of 10 TCP sockets, without waiting", 5000 }, 10, by_poll },
	{ { "epoll", "epoll_wait of 10 TCP sockets, without waiting", 5000 }, 10, by_epoll },
	{ { "big-select", "select for reading of 1,000 TCP sockets, without waiting", 200 },
	  1000,
	  by_select },
	{ { "big-poll", "poll for reading of 1,000 TCP sockets, without waiting", 200 },
	  1000,
	  by_poll },
	{ { "big-epoll", "epoll_wait of 1,000 TCP sockets, without waiting", 200 },
	  1000,
	  by_epoll },
};

static void more_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= FD_SETSIZE)
		return;
	limit.rlim_cur = limit.rlim_max < FD_SETSIZE ? limit.rlim_max : FD_SETSIZE;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void set_open(const struct row *row, struct set *set)
{
	struct epoll_event event = { .events = EPOLLIN };

	more_descriptors();
	FD_ZERO(&set->wanted);
	set->epoll = epoll_create1(0);
	if (set->epoll < 0)
		workload_fail(&row->w, errno, "epoll_create1");
	for (; set->n < row->sockets; set->n++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (fd < 0 || fd >= FD_SETSIZE)
			workload_fail(&row->w, fd < 0 ? errno : EMFILE,
				      "socket %d of %d (limits: ulimit -n)", set->n + 1,
				      row->sockets);
		set->fds[set->n] = set->last = fd;
		FD_SET(fd, &set->wanted);
		set->polled[set->n] = (struct pollfd){ .fd = fd, .events = POLLIN };
		if (epoll_ctl(set->epoll, EPOLL_CTL_ADD, fd, &event))
			workload_fail(&row->w, errno, "epoll_ctl");
	}
}

int main(int argc, char **argv)
{
	struct row *row = WORKLOAD_PICK(rows);
	static struct set set;
	uint64_t *times, i;
	int n;

	workload_init(&row->w, argc, argv);
	times = workload_times(&row->w);
	set_open(row, &set);
	for (i = 0; i < row->w.iterations; i++) {
		n = row->ask(&set, &times[i]);
		if (n != row->sockets)
			workload_fail(&row->w, n < 0 ? errno : 0, "%d of %d sockets are ready", n,
				      row->sockets);
	}
	workload_report(&row->w, times, NULL);
	return 0;
}
