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

/* Events per sample. Primes, so that a loop is not hit in the same place again and again. */
#define COMMON 1000003 /* of the CPU's events, and of ns */
#define RARER  100003
#define MISSES 10007
#define EACH   1 /* of the kernel's events */

#define HARDWARE(name, event, period)                                   \
	{                                                               \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##event, period \
	}
#define SOFTWARE(name, event, period)                                   \
	{                                                               \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##event, period \
	}

/* perf's own list, but for what counts nothing (dummy, bpf-output); where an event has two names there, both. */
static const struct record_event named[] = {
	HARDWARE("cycles", CPU_CYCLES, COMMON),
	HARDWARE("cpu-cycles", CPU_CYCLES, COMMON),
	HARDWARE("instructions", INSTRUCTIONS, COMMON),
	HARDWARE("cache-references", CACHE_REFERENCES, COMMON),
	HARDWARE("cache-misses", CACHE_MISSES, MISSES),
	HARDWARE("branches", BRANCH_INSTRUCTIONS, COMMON),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS, COMMON),
	HARDWARE("branch-misses", BRANCH_MISSES, MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES, COMMON),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND, COMMON),
	HARDWARE("idle-cycles-frontend", STALLED_CYCLES_FRONTEND, COMMON),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND, COMMON),
	HARDWARE("idle-cycles-backend", STALLED_CYCLES_BACKEND, COMMON),
	HARDWARE("ref-cycles", REF_CPU_CYCLES, COMMON),
	SOFTWARE("cpu-clock", CPU_CLOCK, COMMON),
	SOFTWARE("task-clock", TASK_CLOCK, COMMON),
	SOFTWARE("page-faults", PAGE_FAULTS, EACH),
	SOFTWARE("faults", PAGE_FAULTS, EACH),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN, EACH),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ, EACH),
	SOFTWARE("context-switches", CONTEXT_SWITCHES, EACH),
	SOFTWARE("cs", CONTEXT_SWITCHES, EACH),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS, EACH),
	SOFTWARE("migrations", CPU_MIGRATIONS, EACH),
	SOFTWARE("cgroup-switches", CGROUP_SWITCHES, EACH),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS, EACH),
	SOFTWARE("emulation-faults", EMULATION_FAULTS, EACH),
};

/* "L1-dcache" and "load-misses": what a cache's event is made of, in perf's words. */
struct word {
	const char *name;
	uint64_t config, period; /* the latter of an access */
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
	{ "loads", CACHE(READ, ACCESS), RARER },
	{ "load-misses", CACHE(READ, MISS), MISSES },
	{ "stores", CACHE(WRITE, ACCESS), RARER },
	{ "store-misses", CACHE(WRITE, MISS), MISSES },
	{ "prefetches", CACHE(PREFETCH, ACCESS), RARER },
	{ "prefetch-misses", CACHE(PREFETCH, MISS), MISSES },
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
							caches[i].config | accesses[k].config,
							accesses[k].period };
			return true;
		}
	}
	return false;
}

/* "r1a8": a number of the CPU's own. */
static bool find_raw(const char *name, struct record_event *event)
{
	size_t digits = *name == 'r' ? strspn(name + 1, "0123456789abcdefABCDEF") : 0;

	if (!digits || digits > 16 || name[1 + digits])
		return false;
	*event = (struct record_event){ name, PERF_TYPE_RAW, strtoull(name + 1, NULL, 16), RARER };
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
	struct counter_fds {
		vec_of(int, fds);
	} open;
};

/* Set *COUNT to the count so far. False: it stopped, since it got no counter. */
static bool read_event(int fd, uint64_t *count)
{
	struct {
		uint64_t value, enabled, running;
	} now;

	if (read(fd, &now, sizeof(now)) != sizeof(now) || now.enabled != now.running)
		return false;
	*count = now.value;
	return true;
}

/* Says that EVENT cannot be had on CPU because of ERR (-EBUSY: it stopped), which it returns. */
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

/* A pinned event has a counter all the time or never: none shares one, and no count is scaled. */
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
		uint64_t count;

		/* A CPU that is not there; of the first, the event is not. */
		if (fd == -ENODEV && cpu)
			continue;
		if (fd < 0)
			return refuse_event(event, cpu, fd);
		vec_push(&c->open, fds, fd);
		if (!read_event(fd, &count))
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
	while (c->open.n_fds)
		close(c->open.fds[--c->open.n_fds]);
	free(c->open.fds);
	free(c);
}

uint64_t record_counters_stopped(const struct record_counters *c)
{
	uint64_t n = 0, count;

	vec_each(const int, fd, &c->open, fds)
		n += !read_event(*fd, &count);
	return n;
}

/* ---- sampler ---- */

struct sampler_cpu {
	struct bpf_link *link; /* owns the event's descriptor */
	int fd;
	uint64_t clock_before; /* its count at the last reset */
};

struct record_sampler {
	uint64_t period;
	vec_of(struct sampler_cpu, cpus);
	uint64_t expected; /* after a stop */
};

static int refuse(const struct record_event *event, int cpu, int err)
{
	if (event)
		return refuse_event(event, cpu, err);
	log_error("cannot sample on CPU %d: %s (--freq=0 records without samples)", cpu,
		  log_strerror(err));
	return err;
}

static int cpu_start(struct sampler_cpu *sc, struct bpf_program *prog,
		     const struct record_event *event, uint64_t period, int cpu)
{
	struct record_event clock;
	int err = 0;

	if (!event)
		record_event_find("cpu-clock", &clock);
	sc->fd = open_event(event ?: &clock, cpu, period);
	if (sc->fd < 0)
		return sc->fd;
	if (!read_event(sc->fd, &sc->clock_before))
		err = -EBUSY;
	if (!err && !(sc->link = bpf_program__attach_perf_event(prog, sc->fd)))
		err = -errno;
	if (err)
		close(sc->fd);
	return err;
}

int record_sampler_start(struct bpf_program *prog, const struct record_event *event,
			 uint64_t period, struct record_sampler **out)
{
	struct record_sampler *s = alloc_new(struct record_sampler);
	int n = libbpf_num_possible_cpus(), err;

	*out = NULL;
	s->period = period;
	for (int cpu = 0; cpu < n; cpu++) {
		struct sampler_cpu sc = {};

		err = cpu_start(&sc, prog, event, period, cpu);
		/* A CPU that is not there; on the first, the event is not. */
		if (err == -ENODEV && (cpu || !event))
			continue;
		if (err) {
			record_sampler_destroy(s);
			return refuse(event, cpu, err);
		}
		vec_push(s, cpus, sc);
	}
	*out = s;
	record_sampler_reset(s);
	return 0;
}

/* For the software CPU clock the count is the time in ns that the event was enabled. */
static uint64_t clock_of(const struct sampler_cpu *sc)
{
	uint64_t count;

	return read_event(sc->fd, &count) ? count : sc->clock_before;
}

uint64_t record_sampler_expected(struct record_sampler *s)
{
	if (!s)
		return 0;
	if (s->n_cpus)
		s->expected = 0;
	for (uint32_t i = 0; i < s->n_cpus; i++)
		s->expected += (clock_of(&s->cpus[i]) - s->cpus[i].clock_before) / s->period;
	return s->expected;
}

void record_sampler_reset(struct record_sampler *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_cpus; i++)
		s->cpus[i].clock_before = clock_of(&s->cpus[i]);
}

void record_sampler_stop(struct record_sampler *s)
{
	if (!s)
		return;
	record_sampler_expected(s);
	while (s->n_cpus)
		bpf_link__destroy(s->cpus[--s->n_cpus].link);
}

void record_sampler_destroy(struct record_sampler *s)
{
	if (!s)
		return;
	record_sampler_stop(s);
	free(s->cpus);
	free(s);
}
