// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Imitate a server: use each descriptor and its 4 KiB of user memory, in the order in which the descriptors were opened. So the
 * kernel's objects are accessed in the order of their allocation. A signalfd's object has 8 bytes and shares a cache line with its
 * neighbours. An eventfd's object has its own cache line.
 *
 * Names: signalfd-rounds eventfd-rounds
 */
#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common.h"

#define DESCRIPTORS 4000
#define LINE        64

struct row {
	struct workload w;
	int (*open)(void);
};

static int open_signalfd(void)
{
	sigset_t none;

	sigemptyset(&none);
	return signalfd(-1, &none, SFD_NONBLOCK);
}

static int open_eventfd(void)
{
	return eventfd(0, EFD_NONBLOCK);
}

static struct row rows[] = {
	{ { "signalfd-rounds",
	    "read of 4,000 signalfds, none of them ready, and of 4 KiB of memory after each", 10 },
	  open_signalfd },
	{ { "eventfd-rounds",
	    "read of 4,000 eventfds, none of them ready, and of 4 KiB of memory after each", 10 },
	  open_eventfd },
};

static int fds[DESCRIPTORS];
static volatile char *memory;

static void look_at_all(const struct workload *w)
{
	char event[sizeof(struct signalfd_siginfo)];

	for (int i = 0; i < DESCRIPTORS; i++) {
		if (read(fds[i], event, sizeof(event)) >= 0 || errno != EAGAIN)
			workload_fail(w, errno, "read");
		for (int at = 0; at < WORKLOAD_PAGE; at += LINE)
			(void)memory[i * WORKLOAD_PAGE + at];
	}
}

int main(int argc, char **argv)
{
	const struct rlimit limit = { DESCRIPTORS + 64, DESCRIPTORS + 64 };
	struct row *row = WORKLOAD_PICK(rows);
	struct workload *w = &row->w;
	uint64_t *times;

	workload_init(w, argc, argv);
	times = workload_times(w);
	memory = workload_buffer(w, DESCRIPTORS);
	if (setrlimit(RLIMIT_NOFILE, &limit))
		workload_fail(w, errno, "cannot open %d files", DESCRIPTORS);
	for (int i = 0; i < DESCRIPTORS; i++) {
		fds[i] = row->open();
		if (fds[i] < 0)
			workload_fail(w, errno, "descriptor %d", i + 1);
	}
	workload_time_each(w, times, look_at_all);
	workload_report(w, times, NULL);
	return 0;
}
