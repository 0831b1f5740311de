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
#define N_ON_ENTRY 2
#define N_PROBES   4 /* the other two on the return */

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

/* One more empty probe on the function; its descriptor. */
static int probe(int empty, uint64_t addr, bool on_return)
{
	int event = record_kprobe_open(addr, on_return), err;

	if (event < 0)
		return event;
	if (ioctl(event, PERF_EVENT_IOC_SET_BPF, empty) || ioctl(event, PERF_EVENT_IOC_ENABLE, 0)) {
		err = -errno;
		close(event);
		return err;
	}
	return event;
}

/* Each run is timed with one more probe than the one before. */
static int time_probes(int run, int empty, uint64_t addr, uint64_t *times)
{
	int events[N_PROBES], n, err = 0;

	for (n = 0; n < N_PROBES && !err; n++) {
		events[n] = probe(empty, addr, n >= N_ON_ENTRY);
		if (events[n] < 0) {
			err = events[n];
			break;
		}
		err = time_run(run, &times[n]);
	}
	/* Left there, they would change what kprobe.multi costs. */
	while (n-- > 0)
		close(events[n]);
	return err;
}

/*
 * The first probe on the return takes the trip and a handler, the second one more handler. Two probes
 * on the entry come before them, since one alone is reached another way than several.
 */
int record_trip_measure(int run, uint64_t addr, uint64_t *trip)
{
	uint64_t times[N_PROBES];
	int empty = load_empty(), err;

	if (empty < 0)
		return empty;
	err = time_probes(run, empty, addr, times);
	close(empty);
	if (err)
		return err;
	*trip = 2 * times[N_ON_ENTRY] - times[N_ON_ENTRY - 1] - times[N_ON_ENTRY + 1];
	return (int64_t)*trip > 0 ? 0 : -ERANGE;
}
