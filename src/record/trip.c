// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/trip.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/closer.h"
#include "record/kprobe.h"
#include "record/series.h"

#define N_ON_ENTRY 2
#define N_PROBES   4 /* the other two on the return */

struct timed {
	uint64_t all, after;
};

/* *stamp = bpf_ktime_get_ns(), the one value of the map. */
static int load_stamp(int map)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns },
		{ .code = BPF_LD | BPF_IMM | BPF_DW,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE,
		  .imm = map },
		{},
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "kprotperf_trip", "GPL", insns,
			       sizeof(insns) / sizeof(insns[0]), NULL);

	return fd < 0 ? -errno : fd;
}

/* The median times of a run, and from the last probe's stamp to the run's end. */
static int time_run(int run, int map, struct timed *timed)
{
	struct record_series all, after;

	for (int i = 0; i < RECORD_ROUNDS; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts);
		uint64_t start = clock_ns(), end, stamp;
		uint32_t key = 0;

		if (bpf_prog_test_run_opts(run, &opts))
			return -errno;
		end = clock_ns();
		if (bpf_map_lookup_elem(map, &key, &stamp))
			return -errno;
		all.values[i] = end - start;
		after.values[i] = end - stamp;
	}
	timed->all = record_series_median(&all);
	timed->after = record_series_median(&after);
	return 0;
}

/* One more probe on the function; its descriptor. */
static int probe(int prog, uint64_t addr, bool on_return)
{
	int event = record_kprobe_open(addr, on_return), err;

	if (event < 0)
		return event;
	if (ioctl(event, PERF_EVENT_IOC_SET_BPF, prog) || ioctl(event, PERF_EVENT_IOC_ENABLE, 0)) {
		err = -errno;
		close(event);
		return err;
	}
	return event;
}

/* Each run is timed with one more probe than the one before. */
static int time_probes(int run, int map, int prog, uint64_t addr, struct timed *timed)
{
	int events[N_PROBES], n, err = 0;

	for (n = 0; n < N_PROBES && !err; n++) {
		events[n] = probe(prog, addr, n >= N_ON_ENTRY);
		if (events[n] < 0) {
			err = events[n];
			break;
		}
		err = time_run(run, map, &timed[n]);
	}
	/* Left there, they would change what kprobe.multi costs. */
	while (n-- > 0)
		record_closer_add(events[n]);
	return err;
}

/*
 * The first probe on the return takes the trip and a handler, the second one more handler; and what the
 * kernel does for it after both. Two probes on the entry come before them, since one alone is reached
 * another way than several.
 */
int record_trip_measure(int run, uint64_t addr, struct record_trip *trip)
{
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "kprotperf_trip", sizeof(uint32_t),
				 sizeof(uint64_t), 1, NULL);
	struct timed timed[N_PROBES];
	const struct timed *none = &timed[N_ON_ENTRY - 1], *one = none + 1, *two = none + 2;
	int prog, err;

	if (map < 0)
		return -errno;
	prog = load_stamp(map);
	err = prog < 0 ? prog : time_probes(run, map, prog, addr, timed);
	if (prog >= 0)
		close(prog);
	close(map);
	if (err)
		return err;
	if (two->after < one->after || 2 * one->all <= none->all + two->all)
		return -ERANGE;
	trip->shared = 2 * one->all - none->all - two->all;
	trip->rest = two->after - one->after;
	return 0;
}
