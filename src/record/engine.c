// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/engine.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "kprotperf/engine.h"
#include "record/engine_impl.h"
#include "record/function.h"
#include "record/point.h"
#include "record/sampler.h"

/* The idle tasks, which are never born, have the slots after all others. */
static void prepare_idle_tasks(struct record_engine *e)
{
	struct engine_task *tasks = e->bpf.views[RECORD_VIEW_TASKS].mem;

	for (uint32_t i = 0; i < e->bpf.n_cpus; i++)
		tasks[e->bpf.n_tasks - e->bpf.n_cpus + i] = (struct engine_task){
			.ctx = ENGINE_CTX_NONE,
			.flags = ENGINE_TASK_LIVE | ENGINE_TASK_FRESH,
		};
}

int record_engine_create(const struct record_engine_config *config,
			 const struct record_features *features, struct record_engine **out)
{
	struct record_engine *e = alloc_new(struct record_engine);
	int err;

	*out = NULL;
	e->bpf.config = *config;
	e->bpf.features = *features;
	e->bpf.n_cpus = libbpf_num_possible_cpus();
	if (e->bpf.n_cpus > ENGINE_MAX_CPUS) {
		log_error("this machine can have %u CPUs, and no more than %u are provided for",
			  e->bpf.n_cpus, ENGINE_MAX_CPUS);
		free(e);
		return -E2BIG;
	}
	err = record_bpf_load(&e->bpf);
	if (err) {
		free(e);
		return err;
	}
	if (config->system_wide)
		prepare_idle_tasks(e);
	e->n_args = alloc_array(config->n_functions + 1, sizeof(*e->n_args));
	e->n_args[ENGINE_SITE_CONTEXT] = RECORD_FAULT_ARGS;
	e->points = record_points_create(e->bpf.skel);
	e->functions = record_functions_create(e->bpf.skel, &e->bpf.features.multi_is);
	record_engine_reset(e);
	*out = e;
	return 0;
}

void record_engine_destroy(struct record_engine *e)
{
	if (!e)
		return;
	record_engine_stop(e);
	record_sampler_destroy(e->sampler);
	record_functions_destroy(e->functions);
	record_points_destroy(e->points);
	record_bpf_unload(&e->bpf);
	free(e->links);
	free(e->n_args);
	free(e->missed_before);
	free(e);
}

int record_engine_attach(struct record_engine *e, uint32_t site, enum profile_mechanism mech,
			 const struct record_target *target)
{
	e->n_args[site] = target->n_args;
	return record_functions_attach(e->functions, site, mech, target);
}

int record_engine_attach_entry(struct record_engine *e, uint32_t site,
			       const struct record_target *target)
{
	return record_functions_attach_entry(e->functions, site, target);
}

int record_engine_attach_return(struct record_engine *e, uint32_t site, enum profile_mechanism mech,
				const struct record_target *target)
{
	return record_functions_attach_return(e->functions, site, mech, target);
}

void record_engine_attach_multi(struct record_engine *e, struct record_multi_site *items,
				uint32_t n)
{
	record_functions_attach_multi(e->functions, items, n);
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

/* The probe on the return of page faults, or that on their beginning. */
static int attach_fault(struct record_engine *e, bool on_return)
{
	LIBBPF_OPTS(bpf_kprobe_opts, opts, .retprobe = on_return);
	struct kprotperf_bpf *s = e->bpf.skel;
	struct bpf_link *link;

	if (e->bpf.fault_mech == PROFILE_MECH_FENTRY)
		return attach(e, on_return ? s->progs.fault_fexit : s->progs.fault_fentry);
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

int record_engine_start(struct record_engine *e)
{
	struct kprotperf_bpf *s = e->bpf.skel;
	int err = 0;

	/* Ends before beginnings: no call is opened whose end nobody sees. */
	err = err ?: attach(e, s->progs.on_sys_exit);
	err = err ?: attach(e, s->progs.on_sys_enter);
	err = err ?: attach(e, s->progs.on_switch);
	err = err ?: attach(e, s->progs.on_newtask);
	err = err ?: attach(e, s->progs.on_exec);
	if (e->bpf.fault_mech != PROFILE_MECH_NONE)
		err = err ?: attach_fault(e, true);
	return err;
}

int record_engine_arm(struct record_engine *e)
{
	struct kprotperf_bpf *s = e->bpf.skel;
	int err = 0;

	if (e->bpf.fault_mech != PROFILE_MECH_NONE)
		err = attach_fault(e, false);
	if (!err && e->bpf.config.sample_period)
		err = record_sampler_start(s->progs.on_sample, e->bpf.config.sample_period,
					   &e->sampler);
	return err;
}

uint32_t record_engine_spare(const struct record_engine *e, uint32_t which)
{
	return e->bpf.config.n_functions + 1 + which;
}

int record_engine_prepare_spare(struct record_engine *e, uint32_t which,
				const struct record_target *target)
{
	return record_functions_prepare(e->functions, record_engine_spare(e, which), target);
}

int record_engine_attach_spare(struct record_engine *e, uint32_t which, enum profile_mechanism mech,
			       const struct record_target *target)
{
	return record_functions_attach(e->functions, record_engine_spare(e, which), mech, target);
}

void record_engine_halve_multi(struct record_engine *e)
{
	record_functions_halve_multi(e->functions);
}

int record_engine_restore_multi(struct record_engine *e)
{
	return record_functions_restore_multi(e->functions);
}

int record_engine_show_multi(struct record_engine *e, const struct record_multi_site *item,
			     bool show)
{
	return record_functions_show_multi(e->functions, item, show);
}

void record_engine_halve(struct record_engine *e, uint32_t site)
{
	record_functions_halve(e->functions, site);
}

void record_engine_detach_last(struct record_engine *e, enum profile_mechanism mech)
{
	record_functions_detach_last(e->functions, mech);
}

static int run_raw(struct bpf_program *prog)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
}

int record_engine_follow_caller(struct record_engine *e, bool follow)
{
	return run_raw(follow ? e->bpf.skel->progs.follow_caller : e->bpf.skel->progs.leave_caller);
}

struct record_points *record_engine_points(struct record_engine *e)
{
	return e->points;
}

uint32_t record_engine_spare_list(const struct record_engine *e)
{
	return e->bpf.config.n_range_lists;
}

void record_engine_set_range_costs(struct record_engine *e, const struct engine_range_cost *costs)
{
	memcpy(e->bpf.skel->bss->range_costs, costs, sizeof(e->bpf.skel->bss->range_costs));
}

int record_engine_set_block(struct record_engine *e, uint32_t probe,
			    const struct engine_block *block)
{
	return bpf_map__update_elem(e->bpf.skel->maps.block_probes, &probe, sizeof(probe), block,
				    sizeof(*block), BPF_ANY) ?
		       -errno :
		       0;
}

void record_engine_set_path_rest(struct record_engine *e, uint64_t ticks)
{
	e->bpf.skel->bss->path_rest = ticks;
}

void record_engine_set_costs(struct record_engine *e, const struct record_cost *costs)
{
	struct kprotperf_bpf__bss *b = e->bpf.skel->bss;
	const struct record_trip *trip;

	memcpy(e->costs, costs, sizeof(e->costs));
	b->syscall_inner = costs[PROFILE_MECH_TRACEPOINT].inner;
	record_functions_set_fentry_cost(e->functions, &costs[PROFILE_MECH_FENTRY]);
	b->kprobe_inner = costs[PROFILE_MECH_KPROBE].inner;
	b->kprobe_full = costs[PROFILE_MECH_KPROBE].full;
	/* Our own programs' doing, the same however a kprobe is reached. */
	b->kprobe_nested = costs[PROFILE_MECH_KPROBE].nested ?: costs[PROFILE_MECH_FENTRY].nested;
	b->optimized_inner = costs[PROFILE_MECH_KPROBE_OPTIMIZED].inner;
	b->optimized_full = costs[PROFILE_MECH_KPROBE_OPTIMIZED].full;
	b->optimized_half = costs[PROFILE_MECH_KPROBE_OPTIMIZED].half;
	b->int3_inner = costs[PROFILE_MECH_KPROBE_INT3].inner;
	b->int3_full = costs[PROFILE_MECH_KPROBE_INT3].full;
	b->int3_half = costs[PROFILE_MECH_KPROBE_INT3].half;
	b->multi_inner = costs[PROFILE_MECH_MULTI].inner;
	b->multi_full = costs[PROFILE_MECH_MULTI].full;
	b->multi_nested = costs[PROFILE_MECH_MULTI].nested;
	b->fentry_nested = costs[PROFILE_MECH_FENTRY].nested;
	trip = costs[PROFILE_MECH_KPROBE].known ? &costs[PROFILE_MECH_KPROBE].trip :
						  &costs[PROFILE_MECH_MULTI].trip;
	b->return_trip = trip->shared;
	b->return_rest = trip->rest;
	b->fault_inner = record_engine_inner_cost(e, ENGINE_SITE_CONTEXT, e->bpf.fault_mech);
	b->fentry_half = costs[PROFILE_MECH_FENTRY].half;
	b->kprobe_half = costs[PROFILE_MECH_KPROBE].half;
	b->multi_half = costs[PROFILE_MECH_MULTI].half;
}

double record_engine_watch_interrupts(struct record_engine *e, uint64_t ns)
{
	const struct kprotperf_bpf__bss *b = e->bpf.skel->bss;
	uint64_t end = clock_ns() + ns;

	while (clock_ns() < end)
		if (run_raw(e->bpf.skel->progs.watch_samples))
			return 0;
	if (b->watch_time)
		e->interrupts = (double)b->watch_interrupted / b->watch_time;
	return e->interrupts;
}

double record_engine_interrupts(const struct record_engine *e)
{
	return e->interrupts;
}

uint32_t record_engine_watch_sampler(struct record_engine *e, uint64_t max_ns, uint64_t *latency,
				     uint64_t *full)
{
	const struct kprotperf_bpf__bss *b = e->bpf.skel->bss;
	const struct kprotperf_bpf__data *d = e->bpf.skel->data;
	uint64_t end = clock_ns() + max_ns;

	while (b->watch_seen < ENGINE_WATCHED && clock_ns() < end)
		if (run_raw(e->bpf.skel->progs.watch_samples))
			return 0;
	for (uint32_t i = 0; i < b->watch_seen && i < ENGINE_WATCHED; i++)
		full[i] = b->watch_full[i] > d->watch_step ? b->watch_full[i] - d->watch_step : 0;
	*latency = d->watch_latency;
	return b->watch_seen < ENGINE_WATCHED ? b->watch_seen : ENGINE_WATCHED;
}

void record_engine_set_sample_cost(struct record_engine *e, uint64_t latency, uint64_t full)
{
	e->bpf.skel->bss->sample_latency = latency;
	e->bpf.skel->bss->sample_full = full;
}

uint64_t record_engine_inner_cost(const struct record_engine *e, uint32_t site,
				  enum profile_mechanism mech)
{
	uint32_t n_args = mech == PROFILE_MECH_FENTRY ? e->n_args[site] : 0;

	return record_cost_inner(&e->costs[mech], n_args);
}

uint64_t record_engine_full_cost(const struct record_engine *e, uint32_t site,
				 enum profile_mechanism mech)
{
	uint32_t n_args = mech == PROFILE_MECH_FENTRY ? e->n_args[site] : 0;

	return record_cost_full(&e->costs[mech], n_args);
}

int record_engine_adopt_caller(struct record_engine *e)
{
	return run_raw(e->bpf.skel->progs.adopt_caller);
}

int record_engine_adopt(struct record_engine *e)
{
	struct bpf_link *link;
	char sink[256];
	int fd, err;

	err = run_raw(e->bpf.skel->progs.note_self);
	if (err)
		goto out;
	e->bpf.skel->bss->adopt_tgid = e->bpf.config.pid;
	link = bpf_program__attach_iter(e->bpf.skel->progs.adopt_tasks, NULL);
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
		log_error("cannot walk the running tasks: %s", log_strerror(err));
	return err;
}

void record_engine_stop(struct record_engine *e)
{
	record_sampler_stop(e->sampler);
	record_functions_detach(e->functions);
	while (e->n_links)
		bpf_link__destroy(e->links[--e->n_links]);
}

enum profile_mechanism record_engine_fault_mechanism(const struct record_engine *e)
{
	return e->bpf.fault_mech;
}

int record_engine_detach_sites(struct record_engine *e, const uint32_t *sites, uint32_t n,
			       const uint32_t *moved, uint32_t n_moved)
{
	for (uint32_t i = 0; i < n; i++)
		record_engine_note_missed(e, sites[i]);
	for (uint32_t i = 0; i < n_moved; i++)
		record_engine_note_missed(e, moved[i]);
	return record_functions_detach_sites(e->functions, sites, n, record_engine_program_misses);
}
