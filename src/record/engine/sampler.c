// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/engine/sampler.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

struct sampler_cpu {
	struct bpf_link *link; /* owns the event's descriptor */
	int fd;
	uint64_t clock_before; /* at the last reset */
};

struct record_sampler {
	uint64_t period;
	struct sampler_cpu *cpus;
	uint32_t n_cpus, cap_cpus;
	uint64_t expected; /* after a stop */
};

int record_sampler_start(struct bpf_program *prog, uint64_t period, struct record_sampler **out)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period,
	};
	struct record_sampler *s = alloc_new(struct record_sampler);
	int n = libbpf_num_possible_cpus(), err;

	*out = NULL;
	s->period = period;
	for (int cpu = 0; cpu < n; cpu++) {
		struct sampler_cpu sc = {};

		sc.fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (sc.fd < 0 && errno == ENODEV)
			continue;
		if (sc.fd >= 0) {
			sc.link = bpf_program__attach_perf_event(prog, sc.fd);
			if (sc.link) {
				vec_push(s, cpus, sc);
				continue;
			}
		}
		err = -errno;
		log_error("cannot sample on CPU %d: %s (--freq=0 records without samples)", cpu,
			  log_strerror(err));
		if (sc.fd >= 0)
			close(sc.fd);
		record_sampler_destroy(s);
		return err;
	}
	*out = s;
	record_sampler_reset(s);
	return 0;
}

/* For the software CPU clock the count is the time in ns that the event was enabled. */
static uint64_t clock_of(const struct sampler_cpu *sc)
{
	uint64_t count;

	return read(sc->fd, &count, sizeof(count)) == sizeof(count) ? count : sc->clock_before;
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
