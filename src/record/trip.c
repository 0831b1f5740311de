// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/trip.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "record/kprobe.h"

#define ROUNDS     51
#define MAX_PROBES 3

static int load_empty(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "kprotperf_trip", "GPL", insns,
			       sizeof(insns) / sizeof(insns[0]), NULL);

	return fd < 0 ? -errno : fd;
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The median time of a run. */
static int time_run(int run, uint64_t *median)
{
	uint64_t times[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts);
		uint64_t start = now();

		if (bpf_prog_test_run_opts(run, &opts))
			return -errno;
		times[i] = now() - start;
	}
	qsort(times, ROUNDS, sizeof(times[0]), compare);
	*median = times[ROUNDS / 2];
	return 0;
}

/* The time of a run with N empty probes on the function, all on its entry or all on its return. */
static int time_probed(int run, int empty, uint64_t addr, bool on_return, int n, uint64_t *median)
{
	int events[MAX_PROBES], err = 0, i;

	for (i = 0; i < n; i++) {
		events[i] = record_kprobe_open(addr, on_return);
		if (events[i] < 0) {
			err = events[i];
			break;
		}
		if (ioctl(events[i], PERF_EVENT_IOC_SET_BPF, empty) ||
		    ioctl(events[i], PERF_EVENT_IOC_ENABLE, 0)) {
			err = -errno;
			close(events[i]);
			break;
		}
	}
	err = err ?: time_run(run, median);
	while (i-- > 0)
		close(events[i]);
	return err;
}

/*
 * Two probes on one entry take the way there once and the way through a handler twice, and three take
 * one handler more: twice the time of two less three times... of which the way alone is left. Of
 * probes on returns what is left is the way there and the trip. (One probe alone goes another way.)
 */
static int time_way(int run, int empty, uint64_t addr, bool on_return, uint64_t *way)
{
	uint64_t none, two, three;
	int err;

	err = time_run(run, &none);
	err = err ?: time_probed(run, empty, addr, on_return, 2, &two);
	err = err ?: time_probed(run, empty, addr, on_return, 3, &three);
	if (!err)
		*way = 3 * two - 2 * three - none;
	return err;
}

int record_trip_measure(int run, uint64_t addr, uint64_t *trip)
{
	uint64_t on_entry, on_return;
	int empty = load_empty(), err;

	if (empty < 0)
		return empty;
	err = time_way(run, empty, addr, false, &on_entry);
	err = err ?: time_way(run, empty, addr, true, &on_return);
	close(empty);
	if (!err && (int64_t)(on_return - on_entry) < 0)
		err = -ERANGE;
	if (!err)
		*trip = on_return - on_entry;
	return err;
}
