// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/engine/counters.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

#define HARDWARE(name, event)                                   \
	{                                                       \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##event \
	}
#define SOFTWARE(name, event)                                   \
	{                                                       \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##event \
	}

/* perf's list of events, without dummy and bpf-output, which count nothing. As in perf, some events have two names. */
static const struct record_event named[] = {
	HARDWARE("cycles", CPU_CYCLES),
	HARDWARE("cpu-cycles", CPU_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("cache-references", CACHE_REFERENCES),
	HARDWARE("cache-misses", CACHE_MISSES),
	HARDWARE("branches", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", BRANCH_MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("idle-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	HARDWARE("idle-cycles-backend", STALLED_CYCLES_BACKEND),
	HARDWARE("ref-cycles", REF_CPU_CYCLES),
	SOFTWARE("cpu-clock", CPU_CLOCK),
	SOFTWARE("task-clock", TASK_CLOCK),
	SOFTWARE("page-faults", PAGE_FAULTS),
	SOFTWARE("faults", PAGE_FAULTS),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ),
	SOFTWARE("context-switches", CONTEXT_SWITCHES),
	SOFTWARE("cs", CONTEXT_SWITCHES),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS),
	SOFTWARE("migrations", CPU_MIGRATIONS),
	SOFTWARE("cgroup-switches", CGROUP_SWITCHES),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS),
	SOFTWARE("emulation-faults", EMULATION_FAULTS),
};

/* The first half ("L1-dcache-") or the second half ("load-misses") of perf's name for a cache event. */
struct word {
	const char *name;
	uint64_t config;
};

static const struct word caches[] = {
	{ "L1-dcache-", PERF_COUNT_HW_CACHE_L1D }, { "L1-icache-", PERF_COUNT_HW_CACHE_L1I },
	{ "LLC-", PERF_COUNT_HW_CACHE_LL },        { "dTLB-", PERF_COUNT_HW_CACHE_DTLB },
	{ "iTLB-", PERF_COUNT_HW_CACHE_ITLB },     { "branch-", PERF_COUNT_HW_CACHE_BPU },
	{ "node-", PERF_COUNT_HW_CACHE_NODE },
};

#define CACHE(op, result) \
	(PERF_COUNT_HW_CACHE_OP_##op << 8 | PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct word accesses[] = {
	{ "loads", CACHE(READ, ACCESS) },          { "load-misses", CACHE(READ, MISS) },
	{ "stores", CACHE(WRITE, ACCESS) },        { "store-misses", CACHE(WRITE, MISS) },
	{ "prefetches", CACHE(PREFETCH, ACCESS) }, { "prefetch-misses", CACHE(PREFETCH, MISS) },
};

static bool find_cache(const char *name, struct record_event *event)
{
	for (size_t i = 0; i < ARRAY_SIZE(caches); i++) {
		size_t n = strlen(caches[i].name);

		for (size_t k = 0; k < ARRAY_SIZE(accesses); k++) {
			if (strncasecmp(name, caches[i].name, n) ||
			    strcmp(name + n, accesses[k].name))
				continue;
			*event = (struct record_event){ name, PERF_TYPE_HW_CACHE,
							caches[i].config | accesses[k].config };
			return true;
		}
	}
	return false;
}

/* Parse a raw event such as "r1a8": the hexadecimal number of an event of this CPU model. */
static bool find_raw(const char *name, struct record_event *event)
{
	size_t digits = *name == 'r' ? strspn(name + 1, "0123456789abcdefABCDEF") : 0;

	if (!digits || digits > 16 || name[1 + digits])
		return false;
	*event = (struct record_event){ name, PERF_TYPE_RAW, strtoull(name + 1, NULL, 16) };
	return true;
}

bool record_event_find(const char *name, struct record_event *event)
{
	for (size_t i = 0; i < ARRAY_SIZE(named); i++)
		if (!strcmp(name, named[i].name)) {
			*event = named[i];
			return true;
		}
	return find_cache(name, event) || find_raw(name, event);
}

bool record_event_is_instructions(const struct record_event *event, bool is_icount)
{
	if (event->type == PERF_TYPE_SOFTWARE)
		return is_icount && (event->config == PERF_COUNT_SW_CPU_CLOCK ||
				     event->config == PERF_COUNT_SW_TASK_CLOCK);
	return event->type == PERF_TYPE_HARDWARE && event->config == PERF_COUNT_HW_INSTRUCTIONS;
}

struct record_counters {
	vec_of(int, fds);
};

/* Return whether the event FD has had a hardware counter ever since it was opened. */
static bool counts(int fd)
{
	struct {
		uint64_t value, enabled, running;
	} now;

	return read(fd, &now, sizeof(now)) == sizeof(now) && now.enabled == now.running;
}

/* Report that EVENT cannot be counted on CPU because of the error ERR, and return ERR. -EBUSY means that no counter is free. */
static int refuse_event(const struct record_event *event, uint32_t cpu, int err)
{
	bool is_software = event->type == PERF_TYPE_SOFTWARE;

	if (err == -EBUSY)
		log_error("cannot count %s: all counters of CPU %u are taken (count fewer "
			  "events at once; the NMI watchdog has one: sysctl "
			  "kernel.nmi_watchdog=0)",
			  event->name, cpu);
	else if (!is_software &&
		 (err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP || err == -EINVAL))
		log_error("cannot count %s: %s", event->name,
			  access("/sys/bus/event_source/devices/cpu", F_OK) ?
				  "this machine has no performance counters that the kernel can "
				  "use, as most virtual machines (software events such as "
				  "page-faults and context-switches are counted anywhere)" :
				  "this CPU has no such event (perf list shows those it has)");
	else
		log_error("cannot count %s: %s", event->name, log_strerror(err));
	return err;
}

/* Pin the event, so that it always has a hardware counter, or never. Events that share a counter would need scaled counts. */
static int open_event(const struct record_event *event, uint32_t cpu, uint64_t period)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->type,
		.config = event->config,
		.sample_period = period,
		.pinned = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int event_open(struct record_counters *c, const struct record_event *event, uint32_t first,
		      uint32_t n_cpus, const struct bpf_map *map)
{
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		uint32_t at = first + cpu;
		int fd = open_event(event, cpu, 0);

		/* -ENODEV means that this CPU is offline. For the first CPU, -ENODEV means that the event does not exist. */
		if (fd == -ENODEV && cpu)
			continue;
		if (fd < 0)
			return refuse_event(event, cpu, fd);
		vec_push(c, fds, fd);
		if (!counts(fd))
			return refuse_event(event, cpu, -EBUSY);
		if (bpf_map_update_elem(bpf_map__fd(map), &at, &fd, BPF_ANY))
			return refuse_event(event, cpu, -errno);
	}
	return 0;
}

int record_counters_open(const struct record_event *events, uint32_t n, uint32_t n_cpus,
			 const struct bpf_map *map, struct record_counters **out)
{
	struct record_counters *c = alloc_new(struct record_counters);
	int err = 0;

	for (uint32_t i = 0; i < n && !err; i++)
		err = event_open(c, &events[i], i * n_cpus, n_cpus, map);
	*out = NULL;
	if (err)
		record_counters_destroy(c);
	else
		*out = c;
	return err;
}

void record_counters_destroy(struct record_counters *c)
{
	if (!c)
		return;
	while (c->n_fds)
		close(c->fds[--c->n_fds]);
	free(c->fds);
	free(c);
}

uint64_t record_counters_stopped(const struct record_counters *c)
{
	uint64_t n = 0;

	vec_each(const int, fd, c, fds)
		n += !counts(*fd);
	return n;
}

/* ---- sampler ---- */

int record_sampler_attach(struct bpf_program *prog, uint64_t period, uint32_t cpu,
			  struct bpf_link **link)
{
	static const struct record_event clock = SOFTWARE("cpu-clock", CPU_CLOCK);
	int fd = open_event(&clock, cpu, period), err;

	if (fd < 0)
		return fd;
	*link = bpf_program__attach_perf_event(prog, fd);
	if (*link)
		return 0;
	err = -errno;
	close(fd);
	return err;
}
