// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collect/load.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

#define NS_PER_SEC 1000000000ull
#define NS_PER_US  1000ull
#define LINE_SIZE  4096
#define MSR_EVENTS "/sys/bus/event_source/devices/msr"
#define CPU_DIR    "/sys/devices/system/cpu"

enum meter {
	METER_APERF,
	METER_MPERF,
	N_METERS,
};

struct record_meters {
	char *root;
	uint32_t n_cpus;
	/* One descriptor for each CPU that was there at the start. */
	struct meter_fds {
		vec_of(int, fds);
	} meters[N_METERS];
};

/* The number that FORMAT finds in the first line of NAME below M's root. */
static bool read_number(const struct record_meters *m, const char *name, const char *format,
			unsigned long long *n)
{
	scoped_free char *path = alloc_printf("%s%s", m->root, name);
	char line[LINE_SIZE];

	return file_read_line(path, line, sizeof(line)) && sscanf(line, format, n) == 1;
}

/*
 * A CPU counts the cycles it is not halted for twice: as they were, and as they would have been at its nominal
 * frequency. The kernel has both as perf events, where the processor has them.
 */
static void meter_open(struct record_meters *m, enum meter which, const char *event)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	unsigned long long type, config;

	if (!read_number(m, MSR_EVENTS "/type", "%llu", &type) ||
	    !read_number(m, event, "event=%llx", &config))
		return;
	attr.type = (uint32_t)type;
	attr.config = config;
	for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++) {
		int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd >= 0)
			vec_push(&m->meters[which], fds, fd);
	}
}

struct record_meters *record_meters_create(const char *root)
{
	struct record_meters *m = alloc_new(struct record_meters);
	long n = sysconf(_SC_NPROCESSORS_CONF);

	m->root = alloc_strdup(root);
	m->n_cpus = n > 0 ? (uint32_t)n : 1;
	meter_open(m, METER_APERF, MSR_EVENTS "/events/aperf");
	meter_open(m, METER_MPERF, MSR_EVENTS "/events/mperf");
	return m;
}

void record_meters_destroy(struct record_meters *m)
{
	if (!m)
		return;
	for (int i = 0; i < N_METERS; i++) {
		while (m->meters[i].n_fds)
			close(m->meters[i].fds[--m->meters[i].n_fds]);
		free(m->meters[i].fds);
	}
	free(m->root);
	free(m);
}

static uint64_t read_meter(const struct record_meters *m, enum meter which)
{
	uint64_t sum = PROFILE_NOT_COUNTED, count;

	vec_each(const int, fd, &m->meters[which], fds)
		if (read(*fd, &count, sizeof(count)) == sizeof(count))
			profile_count_add(&sum, count);
	return sum;
}

static uint64_t read_aperf(const struct record_meters *m)
{
	return read_meter(m, METER_APERF);
}

static uint64_t read_mperf(const struct record_meters *m)
{
	return read_meter(m, METER_MPERF);
}

static uint64_t read_waited(const struct record_meters *m)
{
	unsigned long long n;

	if (!read_number(m, "/proc/pressure/cpu", "some %*s %*s %*s total=%llu", &n))
		return PROFILE_NOT_COUNTED;
	return n * NS_PER_US;
}

static uint64_t read_stolen(const struct record_meters *m)
{
	const long tick = sysconf(_SC_CLK_TCK);
	unsigned long long n;

	if (tick <= 0 || !read_number(m, "/proc/stat", "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &n))
		return PROFILE_NOT_COUNTED;
	return n * (NS_PER_SEC / (unsigned long long)tick);
}

/* Each CPU has the count of its core and of its package, which others may share. */
static uint64_t read_throttled(const struct record_meters *m)
{
	static const char *const names[] = { "core_throttle_count", "package_throttle_count" };
	uint64_t sum = PROFILE_NOT_COUNTED;
	unsigned long long n;

	for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++)
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			scoped_free char *name =
				alloc_printf(CPU_DIR "/cpu%u/thermal_throttle/%s", cpu, names[i]);

			if (read_number(m, name, "%llu", &n))
				profile_count_add(&sum, n);
		}
	return sum;
}

static const struct {
	enum profile_loss kind;
	uint64_t (*read)(const struct record_meters *m);
} loads[RECORD_N_LOADS] = {
	{ PROFILE_INFO_WAITED, read_waited },       { PROFILE_INFO_STOLEN, read_stolen },
	{ PROFILE_INFO_THROTTLED, read_throttled }, { PROFILE_INFO_APERF, read_aperf },
	{ PROFILE_INFO_MPERF, read_mperf },
};

struct record_load record_load_read(const struct record_meters *m)
{
	struct record_load load;

	for (int i = 0; i < RECORD_N_LOADS; i++)
		load.counts[i] = loads[i].read(m);
	return load;
}

void record_load_store(const struct record_meters *m, const struct record_load *before,
		       struct profile *p, uint32_t run)
{
	struct record_load now = record_load_read(m);

	for (int i = 0; i < RECORD_N_LOADS; i++) {
		uint64_t from = before->counts[i], to = now.counts[i];
		bool known = from != PROFILE_NOT_COUNTED && to != PROFILE_NOT_COUNTED && to >= from;

		p->runs[run].losses[loads[i].kind] = known ? to - from : PROFILE_NOT_COUNTED;
	}
}
