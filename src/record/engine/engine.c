// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/engine/engine.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/system/clock.h"
#include "kprotperf/engine.h"
#include "record/engine/engine_impl.h"
#include "record/engine/counters.h"

static void assign_shards(struct record_engine *e)
{
	scoped_free uint32_t *shards = alloc_array(e->n_cpus, sizeof(*shards));

	record_shards(SHARDS_CPUS, e->n_cpus, e->n_shards, shards);
	for (uint32_t i = 0; i < e->n_cpus; i++)
		e->skel->bss->cpus[i].shard = shards[i];
}

int record_engine_create(const struct record_engine_config *config,
			 const struct record_features *features, struct record_engine **out)
{
	struct record_engine *e = alloc_new(struct record_engine);
	int err = 0;

	*out = NULL;
	e->config = *config;
	e->features = *features;
	e->n_cpus = libbpf_num_possible_cpus();
	if (e->n_cpus > ENGINE_MAX_CPUS) {
		log_error("this machine can have %u CPUs; kprotperf supports up to %u", e->n_cpus,
			  ENGINE_MAX_CPUS);
		err = -E2BIG;
	}
	err = err ?: record_engine_load(e);
	if (!err && config->n_counters)
		err = record_counters_open(config->counters, config->n_counters, e->n_cpus,
					   e->skel->maps.counters, &e->counters);
	if (err) {
		record_engine_destroy(e);
		return err;
	}
	assign_shards(e);
	record_engine_run(e, false);
	record_engine_reset(e);
	*out = e;
	return 0;
}

void record_engine_destroy(struct record_engine *e)
{
	if (!e)
		return;
	record_engine_stop(e);
	record_counters_destroy(e->counters);
	record_engine_unload(e);
	free(e->links);
	free(e);
}

struct kprotperf_bpf *record_engine_programs(const struct record_engine *e)
{
	return e->skel;
}

const struct record_programs *record_engine_variants(const struct record_engine *e)
{
	return &e->progs;
}

struct record_saved_programs *record_engine_saved_programs(struct record_engine *e)
{
	return &e->saved_programs;
}

static int attach(struct record_engine *e, struct bpf_program *prog)
{
	struct bpf_link *link = bpf_program__attach(prog);

	if (!link) {
		log_error("cannot attach %s: %s", bpf_program__name(prog), log_strerror(errno));
		return -errno;
	}
	vec_push(e, links, link);
	return 0;
}

/* Attach the program at the entry or the return of handle_mm_fault(). */
static int attach_fault(struct record_engine *e, bool on_return)
{
	LIBBPF_OPTS(bpf_kprobe_opts, opts, .retprobe = on_return);
	struct kprotperf_bpf *s = e->skel;
	struct bpf_link *link;

	if (profile_mechanism(e->config.faults)->in_frame)
		return attach(e, on_return ? e->progs.fault_fexit : e->progs.fault_fentry);
	link = bpf_program__attach_kprobe_opts(on_return ? s->progs.fault_kretprobe :
							   s->progs.fault_kprobe,
					       "handle_mm_fault", &opts);
	if (!link) {
		log_error("cannot probe handle_mm_fault: %s", log_strerror(errno));
		return -errno;
	}
	vec_push(e, links, link);
	return 0;
}

static int run_raw(struct bpf_program *prog)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
}

int record_engine_start(struct record_engine *e)
{
	struct kprotperf_bpf *s = e->skel;
	/* The end of an open call must not be missed: attach programs for the ends of calls before programs for the beginnings. */
	struct bpf_program *const programs[] = {
		e->progs.on_sys_exit, e->progs.on_sys_enter, e->progs.on_switch,
		e->progs.on_newtask,  s->progs.on_exec,
	};
	int err = e->config.system_wide ? run_raw(s->progs.note_self) : 0;

	for (size_t i = 0; i < ARRAY_SIZE(programs) && !err; i++)
		err = attach(e, programs[i]);
	if (e->config.faults != PROFILE_UNTIMED)
		err = err ?: attach_fault(e, true);
	return err;
}

static int start_sampler(struct record_engine *e)
{
	for (uint32_t cpu = 0; cpu < e->n_cpus; cpu++) {
		struct bpf_link *link;
		int err = record_sampler_attach(e->skel->progs.on_sample, e->config.sample_period,
						cpu, &link);

		if (!err) {
			vec_push(e, links, link);
		} else if (err != -ENODEV) {
			log_error("cannot sample on CPU %u: %s (--freq=0 records without samples)",
				  cpu, log_strerror(err));
			return err;
		}
	}
	return 0;
}

int record_engine_arm(struct record_engine *e)
{
	int err = 0;

	if (e->config.faults != PROFILE_UNTIMED)
		err = attach_fault(e, false);
	if (!err && e->config.sample_period)
		err = start_sampler(e);
	return err;
}

uint32_t record_engine_spare(const struct record_engine *e, uint32_t which)
{
	return e->config.n_functions + 1 + which;
}

int record_engine_follow_caller(struct record_engine *e, bool follow)
{
	return run_raw(follow ? e->skel->progs.follow_caller : e->skel->progs.leave_caller);
}

uint32_t record_engine_spare_list(const struct record_engine *e)
{
	return e->config.n_range_lists;
}

void record_engine_set_range_costs(struct record_engine *e, const struct engine_range_cost *costs)
{
	memcpy(e->skel->bss->range_costs, costs, sizeof(e->skel->bss->range_costs));
}

int record_engine_set_block(struct record_engine *e, uint32_t probe,
			    const struct engine_block *block)
{
	return bpf_map__update_elem(e->skel->maps.block_probes, &probe, sizeof(probe), block,
				    sizeof(*block), BPF_ANY) ?
		       -errno :
		       0;
}

void record_engine_set_costs(struct record_engine *e, const struct engine_cost *costs)
{
	struct engine_cost *to = e->skel->bss->costs;

	memcpy(to, costs, sizeof(e->skel->bss->costs));
	to[PROFILE_COSTS_FAULT].inner = record_cost_inner(&to[e->config.faults], RECORD_FAULT_ARGS);
}

void record_engine_set_counter_costs(struct record_engine *e, enum profile_mechanism mech,
				     const struct engine_counter_costs *costs)
{
	struct engine_counter_costs *to = e->skel->bss->counter_costs;

	to[mech] = *costs;
	if (mech == e->config.faults)
		memcpy(to[PROFILE_COSTS_FAULT].inner, costs->inner, sizeof(costs->inner));
}

const struct engine_cost *record_engine_cost(const struct record_engine *e,
					     enum profile_mechanism mech)
{
	return &e->skel->bss->costs[mech];
}

/*
 * Time is watched only while this process runs, and other tasks may have the CPU most of the time. Little watched time gives a
 * wrong share of interrupts. So watch until 1 / WATCHED_LEAST of the requested time has been watched, but at most for
 * WATCH_LONGEST times the requested time.
 */
#define WATCHED_LEAST 4
#define WATCH_LONGEST 10

double record_engine_watch_interrupts(struct record_engine *e, uint64_t ns)
{
	const struct kprotperf_bpf__bss *b = e->skel->bss;
	uint64_t start = clock_ns(), least = ns / WATCHED_LEAST, took = 0;

	while (took < ns || (b->watch_time < least && took < WATCH_LONGEST * ns)) {
		if (run_raw(e->skel->progs.watch_samples))
			return 0;
		took = clock_ns() - start;
	}
	if (!b->watch_time || b->watch_time < least)
		return 0;
	return (double)b->watch_interrupted / b->watch_time;
}

uint32_t record_engine_watch_sampler(struct record_engine *e, uint64_t max_ns, uint64_t *latency,
				     uint64_t *late, uint64_t *full)
{
	const struct kprotperf_bpf__bss *b = e->skel->bss;
	const struct kprotperf_bpf__data *d = e->skel->data;
	uint64_t end = clock_ns() + max_ns;

	while (b->watch_seen < ENGINE_WATCHED && clock_ns() < end)
		if (run_raw(e->skel->progs.watch_samples))
			return 0;
	for (uint32_t i = 0; i < b->watch_seen && i < ENGINE_WATCHED; i++)
		full[i] = b->watch_full[i] > d->watch_step ? b->watch_full[i] - d->watch_step : 0;
	*latency = d->watch_latency;
	*late = b->watch_late;
	return b->watch_seen < ENGINE_WATCHED ? b->watch_seen : ENGINE_WATCHED;
}

/* Return the cost of a call with N_ARGS arguments. COST is for one argument. ENGINE_COST_ARGS further arguments cost PART. */
static uint64_t with_args(uint64_t cost, uint64_t part, uint32_t n_args)
{
	int64_t more = (int64_t)part * ((int64_t)n_args - 1) / ENGINE_COST_ARGS;

	return more < 0 && (uint64_t)-more > cost ? 0 : cost + more;
}

uint64_t record_cost_inner(const struct engine_cost *cost, uint32_t n_args)
{
	return with_args(cost->inner, cost->inner_args, n_args);
}

uint64_t record_cost_full(const struct engine_cost *cost, uint32_t n_args)
{
	return with_args(cost->full, cost->full_args, n_args);
}

int record_engine_adopt_caller(struct record_engine *e)
{
	return run_raw(e->skel->progs.adopt_caller);
}

int record_engine_adopt(struct record_engine *e)
{
	struct bpf_link *link;
	char sink[256];
	int fd, err = 0;

	e->skel->bss->adopt_tgid = e->config.pid;
	link = bpf_program__attach_iter(e->skel->progs.adopt_tasks, NULL);
	if (!link) {
		err = -errno;
		goto out;
	}
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0) {
		err = -errno;
	} else {
		while (read(fd, sink, sizeof(sink)) > 0)
			;
		close(fd);
	}
	bpf_link__destroy(link);
out:
	if (err)
		log_error("cannot iterate over the tasks: %s", log_strerror(err));
	return err;
}

void record_engine_stop(struct record_engine *e)
{
	while (e->n_links)
		bpf_link__destroy(e->links[--e->n_links]);
}

enum profile_mechanism record_engine_fault_mechanism(const struct record_engine *e)
{
	return e->config.faults;
}

void record_engine_omit_faults(struct record_engine *e)
{
	e->config.faults = PROFILE_UNTIMED;
}

uint32_t record_engine_text(const struct record_engine *e, uint64_t addr)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &addr, .ctx_size_in = sizeof(addr));

	return bpf_prog_test_run_opts(bpf_program__fd(e->skel->progs.read_text), &opts) ?
		       0 :
		       opts.retval;
}

/* Levels of CPU topology, outermost first. index3 is the level 3 cache. */
static const char *const levels[] = { "topology/physical_package_id", "cache/index3/id",
				      "topology/core_id" };

#define UNKNOWN  UINT32_MAX
#define N_LEVELS ARRAY_SIZE(levels)

struct place {
	uint32_t at[N_LEVELS], cpu;
};

static uint32_t read_level(const char *cpus, uint32_t cpu, const char *level)
{
	scoped_free char *text = NULL;
	const char *digits;
	uint64_t value;
	char path[256];
	size_t len;

	snprintf(path, sizeof(path), "%s/cpu%u/%s", cpus, cpu, level);
	if (file_read(path, 64, &text, &len))
		return UNKNOWN;
	digits = text;
	return number_scan(&digits, &value) ? (uint32_t)value : UNKNOWN;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	for (size_t i = 0; i < N_LEVELS; i++)
		if (x->at[i] != y->at[i])
			return x->at[i] < y->at[i] ? -1 : 1;
	return x->cpu < y->cpu ? -1 : 1;
}

void record_shards(const char *cpus, uint32_t n_cpus, uint32_t n_shards, uint32_t *shards)
{
	scoped_free struct place *places = alloc_array(n_cpus, sizeof(*places));
	uint32_t n = 0;

	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		struct place *p = &places[n];

		shards[cpu] = cpu % n_shards;
		if (n_shards >= n_cpus)
			continue;
		p->cpu = cpu;
		for (size_t level = 0; level < N_LEVELS; level++)
			p->at[level] = read_level(cpus, cpu, levels[level]);
		n += p->at[0] != UNKNOWN;
	}
	qsort(places, n, sizeof(*places), compare_places);
	for (uint32_t i = 0; i < n; i++)
		shards[places[i].cpu] = (uint64_t)i * n_shards / n;
}
