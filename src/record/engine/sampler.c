// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/engine/sampler.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "record/engine/counters.h"

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
		return record_event_refuse(event, cpu, err);
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
	sc->fd = record_event_open(event ?: &clock, cpu, period);
	if (sc->fd < 0)
		return sc->fd;
	if (!record_event_read(sc->fd, &sc->clock_before))
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

	return record_event_read(sc->fd, &count) ? count : sc->clock_before;
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
