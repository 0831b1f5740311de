// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/engine.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "kprotperf/engine.h"
#include "kprotperf.skel.h"
#include "kprotperf_plain.skel.h"
#include "record/calibrate.h"
#include "record/function.h"
#include "record/sampler.h"

#define DEFAULT_TASKS    4096
#define FAULT_ARGS       4 /* of handle_mm_fault() */
#define CELLS_PER_SITE   8
#define MIN_CELLS        512
#define MAX_SHARDS       16
#define MAX_CELLS_MEMORY (32u << 20)
#define STACK_ENTRIES    8192

struct map_view {
	struct bpf_map *map;
	void *mem;
	size_t len;
};

enum view {
	VIEW_SLOTS,
	VIEW_TASKS,
	VIEW_CELL_OF,
	VIEW_CELLS,
	VIEW_STACKS,
	VIEW_MISSED,
	N_VIEWS
};

struct record_engine {
	struct kprotperf_bpf *skel;
	struct record_engine_config config;
	struct record_features features;
	struct map_view views[N_VIEWS];
	uint32_t n_cpus, n_tasks, n_cells, n_shards, n_stacks;
	enum profile_mechanism fault_mech;
	struct bpf_link **links;
	uint32_t n_links, cap_links;
	struct record_functions *functions;
	struct record_sampler *sampler;
	uint64_t misses_before, probe_misses_before;
	struct record_cost costs[PROFILE_N_MECHANISMS]; /* of sites attached from now on */
	uint8_t *n_args; /* of each site's function */
	uint64_t *missed_before; /* by site: see struct record_engine_maps */
};

/* libbpf's last complaint, for the one line that we print. */
static char libbpf_message[256];

static int libbpf_print(enum libbpf_print_level level, const char *fmt, va_list args)
{
	va_list copy;

	va_copy(copy, args);
	if (level == LIBBPF_WARN)
		vsnprintf(libbpf_message, sizeof(libbpf_message), fmt, copy);
	va_end(copy);
	if (log_verbosity() >= (level == LIBBPF_DEBUG ? 3 : 2))
		return vfprintf(stderr, fmt, args);
	return 0;
}

static uint32_t pid_max(void)
{
	FILE *f = fopen("/proc/sys/kernel/pid_max", "re");
	unsigned int n = 0;

	if (!f || fscanf(f, "%u", &n) != 1 || n == 0 || n > 4u << 20)
		n = 4u << 20;
	if (f)
		fclose(f);
	return n;
}

/* Tasks on the machine, roughly: what /proc/loadavg gives after the slash. */
static uint32_t tasks_now(void)
{
	FILE *f = fopen("/proc/loadavg", "re");
	unsigned int n = 0;

	if (!f || fscanf(f, "%*f %*f %*f %*u/%u", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

static void choose_sizes(struct record_engine *e)
{
	const struct record_engine_config *c = &e->config;

	e->n_tasks = c->max_tasks;
	if (!e->n_tasks)
		e->n_tasks = DEFAULT_TASKS + (c->system_wide ? 2 * tasks_now() : 0);
	e->n_tasks += e->n_cpus + 1;
	if (e->n_tasks > ENGINE_MAX_TASKS)
		e->n_tasks = ENGINE_MAX_TASKS;

	/* Cells are shared by as few CPUs as the memory allows, and few enough for thousands of functions. */
	e->n_cells = MIN_CELLS + CELLS_PER_SITE * c->n_functions;
	if (e->n_cells > MAX_CELLS_MEMORY / sizeof(struct engine_cell))
		e->n_cells = MAX_CELLS_MEMORY / sizeof(struct engine_cell);
	for (e->n_shards = 1; e->n_shards < e->n_cpus && e->n_shards < MAX_SHARDS;)
		e->n_shards *= 2;
	while (e->n_shards > 1 &&
	       (size_t)e->n_shards * e->n_cells * sizeof(struct engine_cell) > MAX_CELLS_MEMORY)
		e->n_shards /= 2;
	e->n_stacks = c->sample_period ? STACK_ENTRIES : 1;
}

/* So few are in use that hardly any of them meet, the spare site included. */
static uint32_t multi_slots(const struct record_engine *e)
{
	uint32_t n = 16;

	while (e->features.multi == 0 && n < 16 * (e->config.n_functions + RECORD_ENGINE_SPARES))
		n *= 2;
	return n;
}

static int set_sizes(struct record_engine *e)
{
	struct kprotperf_bpf *s = e->skel;
	uint32_t n_pids = pid_max() / ENGINE_PIDS_PER_ENTRY + 1;
	int err = 0;

	err = err ?: bpf_map__set_max_entries(s->maps.slots, n_pids);
	err = err ?: bpf_map__set_max_entries(s->maps.tasks, e->n_tasks);
	err = err ?: bpf_map__set_max_entries(s->maps.free_slots, e->n_tasks);
	/* The context, the functions, and the spare ones. */
	err = err   ?:
		      bpf_map__set_max_entries(s->maps.cell_of,
					       (e->config.n_functions + 1 + RECORD_ENGINE_SPARES) *
						       ENGINE_CONTEXTS);
	err = err ?: bpf_map__set_max_entries(s->maps.cells, (e->n_cells + 1) * e->n_shards);
	err = err ?: bpf_map__set_max_entries(s->maps.stacks, e->n_stacks);
	err = err   ?:
		      bpf_map__set_max_entries(s->maps.missed,
					       e->config.n_functions + 1 + RECORD_ENGINE_SPARES);
	err = err ?: bpf_map__set_max_entries(s->maps.multi_sites, multi_slots(e));
	s->rodata->multi_mask = multi_slots(e) - 1;
	s->rodata->multi_sp = e->features.multi_is.sp;

	for (uint32_t i = 0; i < ENGINE_SMALL; i++)
		((uint8_t *)s->rodata->small_slots)[i] = hist_slot(i);
	s->rodata->max_tasks = e->n_tasks;
	s->rodata->max_cells = e->n_cells;
	s->rodata->n_shards = e->n_shards;
	s->rodata->stack_mask = e->n_stacks - 1;
	s->rodata->sample_period = e->config.sample_period;
	if (e->config.system_wide) {
		s->rodata->follow_all = true;
		/* The last slots are those of the idle tasks. */
		s->rodata->idle_base = e->n_tasks - e->n_cpus;
		s->rodata->max_tasks = e->n_tasks - e->n_cpus;
	}
	return err;
}

/* Only what is needed is loaded: a kernel may refuse what it would not be asked for. */
static void choose_programs(struct record_engine *e)
{
	struct kprotperf_bpf *s = e->skel;
	bool functions = e->config.n_functions > 0;
	bool fentry = !e->features.fentry, kprobe = !e->features.kprobe;
	bool iterate = e->config.system_wide || e->config.pid;

	e->fault_mech = fentry ? PROFILE_MECH_FENTRY :
			kprobe ? PROFILE_MECH_KPROBE :
				 PROFILE_MECH_NONE;
	bpf_program__set_autoload(s->progs.fault_fentry, fentry);
	bpf_program__set_autoload(s->progs.fault_fexit, fentry);
	bpf_program__set_autoload(s->progs.fault_kprobe, !fentry && kprobe);
	bpf_program__set_autoload(s->progs.fault_kretprobe, !fentry && kprobe);
	/* Without functions too: page faults are timed the same way, and calibrated by these. */
	bpf_program__set_autoload(s->progs.function_fentry, fentry);
	bpf_program__set_autoload(s->progs.function_fexit, fentry);
	bpf_program__set_autoload(s->progs.function_kprobe, kprobe && (functions || !fentry));
	bpf_program__set_autoload(s->progs.function_kretprobe, kprobe && (functions || !fentry));
	bpf_program__set_autoload(s->progs.function_kretprobe_optimized, kprobe && functions);
	bpf_program__set_autoload(s->progs.function_kretprobe_int3, kprobe && functions);
	bpf_program__set_autoload(s->progs.function_multi, e->features.multi == 0 && functions);
	bpf_program__set_autoload(s->progs.function_ret_multi, e->features.multi == 0 && functions);
	bpf_program__set_autoload(s->progs.on_sample, e->config.sample_period != 0);
	bpf_program__set_autoload(s->progs.adopt_tasks, iterate);
	bpf_program__set_autoload(s->progs.note_self, iterate);
	bpf_program__set_autoload(s->progs.adopt_caller, !iterate);

	/* The originals of the copies are never attached; they only need a target that exists. */
	bpf_program__set_attach_target(s->progs.function_fentry, 0, "handle_mm_fault");
	bpf_program__set_attach_target(s->progs.function_fexit, 0, "handle_mm_fault");
}

static int map_views(struct record_engine *e)
{
	struct kprotperf_bpf *s = e->skel;
	struct bpf_map *maps[N_VIEWS] = {
		[VIEW_SLOTS] = s->maps.slots,     [VIEW_TASKS] = s->maps.tasks,
		[VIEW_CELL_OF] = s->maps.cell_of, [VIEW_CELLS] = s->maps.cells,
		[VIEW_STACKS] = s->maps.stacks,   [VIEW_MISSED] = s->maps.missed,
	};
	long page = sysconf(_SC_PAGESIZE);

	for (int i = 0; i < N_VIEWS; i++) {
		struct map_view *v = &e->views[i];
		size_t value = (bpf_map__value_size(maps[i]) + 7) & ~7ul;

		v->map = maps[i];
		v->len = (value * bpf_map__max_entries(maps[i]) + page - 1) / page * page;
		v->mem = mmap(NULL, v->len, PROT_READ | PROT_WRITE, MAP_SHARED,
			      bpf_map__fd(maps[i]), 0);
		if (v->mem == MAP_FAILED) {
			v->mem = NULL;
			return -errno;
		}
	}
	return 0;
}

/*
 * Opens the programs, or those that do without kernel variables: the skeleton, and with it the layout
 * of everything shared, is the same, only the object behind it is another.
 */
static struct kprotperf_bpf *open_skeleton(bool plain)
{
	struct kprotperf_bpf *skel;
	const void *object;
	size_t size;

	if (!plain)
		return kprotperf_bpf__open();
	skel = calloc(1, sizeof(*skel)); /* freed by kprotperf_bpf__destroy() */
	if (!skel || kprotperf_bpf__create_skeleton(skel)) {
		free(skel);
		return NULL;
	}
	object = kprotperf_plain_bpf__elf_bytes(&size);
	skel->skeleton->data = (void *)object;
	skel->skeleton->data_sz = size;
	if (bpf_object__open_skeleton(skel->skeleton, NULL)) {
		kprotperf_bpf__destroy(skel);
		return NULL;
	}
	return skel;
}

/* -ENOENT where this kernel cannot find a variable that programs name (or a target of theirs). */
static int load(struct record_engine *e, bool plain)
{
	int err;

	e->skel = open_skeleton(plain);
	if (!e->skel)
		return errno ? -errno : -ENOMEM;
	choose_programs(e);
	err = set_sizes(e);
	return err ?: kprotperf_bpf__load(e->skel);
}

/* The idle tasks, which are never born, have the slots after all others. */
static void prepare_idle_tasks(struct record_engine *e)
{
	struct engine_task *tasks = e->views[VIEW_TASKS].mem;

	for (uint32_t i = 0; i < e->n_cpus; i++)
		tasks[e->n_tasks - e->n_cpus + i] = (struct engine_task){
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
	e->config = *config;
	e->features = *features;
	e->n_cpus = libbpf_num_possible_cpus();
	if (e->n_cpus > ENGINE_MAX_CPUS) {
		log_error("this machine can have %u CPUs, and no more than %u are provided for",
			  e->n_cpus, ENGINE_MAX_CPUS);
		free(e);
		return -E2BIG;
	}
	libbpf_set_print(libbpf_print);
	libbpf_message[0] = '\0';

	choose_sizes(e);
	err = load(e, false);
	if (err == -ENOENT) {
		kprotperf_bpf__destroy(e->skel);
		e->skel = NULL;
		err = load(e, true);
	}
	err = err ?: map_views(e);
	if (err)
		goto fail;
	if (config->system_wide)
		prepare_idle_tasks(e);
	e->n_args = alloc_array(config->n_functions + 1, sizeof(*e->n_args));
	e->n_args[ENGINE_SITE_CONTEXT] = FAULT_ARGS;
	e->functions = record_functions_create(e->skel, &e->features.multi_is);
	record_engine_reset(e);
	*out = e;
	return 0;
fail:
	libbpf_message[strcspn(libbpf_message, "\n")] = '\0';
	log_error("cannot load the BPF programs: %s%s%s (-vv shows the verifier's log)",
		  log_strerror(err), *libbpf_message ? ": " : "", libbpf_message);
	record_engine_destroy(e);
	return err;
}

void record_engine_destroy(struct record_engine *e)
{
	if (!e)
		return;
	record_engine_stop(e);
	for (int i = 0; i < N_VIEWS; i++)
		if (e->views[i].mem)
			munmap(e->views[i].mem, e->views[i].len);
	record_sampler_destroy(e->sampler);
	record_functions_destroy(e->functions);
	kprotperf_bpf__destroy(e->skel);
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

static int attach_fault(struct record_engine *e, struct bpf_program *prog, bool on_return)
{
	LIBBPF_OPTS(bpf_kprobe_opts, opts, .retprobe = on_return);
	struct bpf_link *link;

	if (e->fault_mech == PROFILE_MECH_FENTRY)
		return attach(e, prog);
	link = bpf_program__attach_kprobe_opts(prog, "handle_mm_fault", &opts);
	if (!link) {
		log_error("cannot probe handle_mm_fault: %s", log_strerror(errno));
		return -errno;
	}
	vec_push(e, links, link);
	return 0;
}

int record_engine_start(struct record_engine *e)
{
	struct kprotperf_bpf *s = e->skel;
	int err = 0;

	/* Ends before beginnings: no call is opened whose end nobody sees. */
	err = err ?: attach(e, s->progs.on_sys_exit);
	err = err ?: attach(e, s->progs.on_sys_enter);
	err = err ?: attach(e, s->progs.on_switch);
	err = err ?: attach(e, s->progs.on_newtask);
	err = err ?: attach(e, s->progs.on_exec);
	if (e->fault_mech != PROFILE_MECH_NONE)
		err = err   ?:
			      attach_fault(e,
					   e->fault_mech == PROFILE_MECH_FENTRY ?
						   s->progs.fault_fexit :
						   s->progs.fault_kretprobe,
					   true);
	return err;
}

int record_engine_arm(struct record_engine *e)
{
	struct kprotperf_bpf *s = e->skel;
	int err = 0;

	if (e->fault_mech != PROFILE_MECH_NONE)
		err = attach_fault(e,
				   e->fault_mech == PROFILE_MECH_FENTRY ? s->progs.fault_fentry :
									  s->progs.fault_kprobe,
				   false);
	if (!err && e->config.sample_period)
		err = record_sampler_start(s->progs.on_sample, e->config.sample_period,
					   &e->sampler);
	return err;
}

uint32_t record_engine_spare(const struct record_engine *e, uint32_t which)
{
	return e->config.n_functions + 1 + which;
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
	return run_raw(follow ? e->skel->progs.follow_caller : e->skel->progs.leave_caller);
}

uint64_t record_engine_oncpu(const struct record_engine *e, uint32_t site, uint32_t ctx)
{
	const uint64_t *cell_of = e->views[VIEW_CELL_OF].mem;
	const struct engine_cell *cells = e->views[VIEW_CELLS].mem;
	uint64_t first = cell_of[ENGINE_KEY((size_t)site, ctx)], sum = 0;

	for (uint32_t i = 0; first && i < e->n_shards; i++) {
		const struct engine_cell *c = &cells[first + i];

		sum += __atomic_load_n(&c->wall, __ATOMIC_RELAXED) -
		       __atomic_load_n(&c->offcpu, __ATOMIC_RELAXED);
	}
	return sum;
}

void record_engine_set_costs(struct record_engine *e, const struct record_cost *costs)
{
	struct kprotperf_bpf__bss *b = e->skel->bss;
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
	b->fault_inner = record_engine_inner_cost(e, ENGINE_SITE_CONTEXT, e->fault_mech);
	b->fentry_half = costs[PROFILE_MECH_FENTRY].half;
	b->kprobe_half = costs[PROFILE_MECH_KPROBE].half;
	b->multi_half = costs[PROFILE_MECH_MULTI].half;
}

double record_engine_watch_interrupts(struct record_engine *e, uint64_t ns)
{
	const struct kprotperf_bpf__bss *b = e->skel->bss;
	uint64_t end = clock_ns() + ns;

	while (clock_ns() < end)
		if (run_raw(e->skel->progs.watch_samples))
			return 0;
	return b->watch_time ? (double)b->watch_interrupted / b->watch_time : 0;
}

uint32_t record_engine_watch_sampler(struct record_engine *e, uint64_t max_ns, uint64_t *latency,
				     uint64_t *full)
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
	return b->watch_seen < ENGINE_WATCHED ? b->watch_seen : ENGINE_WATCHED;
}

void record_engine_set_sample_cost(struct record_engine *e, uint64_t latency, uint64_t full)
{
	e->skel->bss->sample_latency = latency;
	e->skel->bss->sample_full = full;
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
	return run_raw(e->skel->progs.adopt_caller);
}

int record_engine_adopt(struct record_engine *e)
{
	struct bpf_link *link;
	char sink[256];
	int fd, err;

	err = run_raw(e->skel->progs.note_self);
	if (err)
		goto out;
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

uint32_t record_engine_live_tasks(const struct record_engine *e)
{
	return __atomic_load_n(&e->skel->bss->live_tasks, __ATOMIC_ACQUIRE);
}

enum profile_mechanism record_engine_fault_mechanism(const struct record_engine *e)
{
	return e->fault_mech;
}

size_t record_engine_memory(const struct record_engine *e)
{
	const struct bpf_map *map;
	size_t sum = 0;

	bpf_object__for_each_map(map, e->skel->obj)
	{
		size_t value = (bpf_map__value_size(map) + 7) & ~7ul;
		bool per_cpu = bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY;

		sum += value * bpf_map__max_entries(map) * (per_cpu ? e->n_cpus : 1);
	}
	return sum;
}

void record_engine_maps(const struct record_engine *e, struct record_engine_maps *maps)
{
	*maps = (struct record_engine_maps){
		.cpus = e->skel->bss->cpus,
		.tasks = e->views[VIEW_TASKS].mem,
		.cell_of = e->views[VIEW_CELL_OF].mem,
		.cells = e->views[VIEW_CELLS].mem,
		.missed = e->views[VIEW_MISSED].mem,
		.missed_before = e->missed_before,
		.stacks = e->config.sample_period ? e->views[VIEW_STACKS].mem : NULL,
		.losses = (const uint64_t *)e->skel->bss->losses,
		.n_cpus = e->n_cpus,
		.n_tasks = e->n_tasks,
		.n_sites = e->config.n_functions + 1,
		.n_cells = e->n_cells,
		.n_cells_used =
			e->skel->bss->n_cells < e->n_cells ? e->skel->bss->n_cells : e->n_cells,
		.n_shards = e->n_shards,
		.n_stacks = e->n_stacks,
	};
}

uint64_t record_engine_followed_oncpu(const struct record_engine *e)
{
	const struct engine_task *tasks = e->views[VIEW_TASKS].mem;
	const struct engine_cpu *cpus = e->skel->bss->cpus;
	uint64_t sum = __atomic_load_n(&e->skel->bss->oncpu_gone, __ATOMIC_RELAXED);
	uint32_t used = e->skel->data->next_slot, last = e->skel->rodata->max_tasks;

	for (uint32_t i = 1; i < used && i < last; i++) {
		const struct engine_task *t = &tasks[i];

		if (t->flags & ENGINE_TASK_LIVE)
			sum += t->switched_out - t->born - t->offcpu;
	}
	/* Of those that run, what has come since they were switched in is still missing. */
	for (uint32_t i = 0; i < e->n_cpus; i++) {
		uint32_t slot = __atomic_load_n(&cpus[i].slot, __ATOMIC_RELAXED);

		if (slot && slot < last)
			sum += clock_ns() - tasks[slot].switched_out;
	}
	return sum;
}

static uint64_t program_misses(int fd)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return 0;
	return info.recursion_misses;
}

/* Calls of SITE whose return is missed from now on are not the kernel's loss. */
static void note_missed(struct record_engine *e, uint32_t site)
{
	const uint64_t *missed = e->views[VIEW_MISSED].mem;
	uint32_t n = e->config.n_functions + 1;

	if (!e->missed_before) {
		e->missed_before = alloc_array(n, sizeof(*e->missed_before));
		for (uint32_t i = 0; i < n; i++)
			e->missed_before[i] = UINT64_MAX;
	}
	if (e->missed_before[site] == UINT64_MAX)
		e->missed_before[site] = missed[site];
}

int record_engine_detach_sites(struct record_engine *e, const uint32_t *sites, uint32_t n,
			       const uint32_t *moved, uint32_t n_moved)
{
	for (uint32_t i = 0; i < n; i++)
		note_missed(e, sites[i]);
	for (uint32_t i = 0; i < n_moved; i++)
		note_missed(e, moved[i]);
	return record_functions_detach_sites(e->functions, sites, n, program_misses);
}

static uint64_t misses_ever(const struct record_engine *e)
{
	struct bpf_program *prog;
	uint64_t sum = record_functions_misses(e->functions, program_misses);

	bpf_object__for_each_program(prog, e->skel->obj) sum +=
		program_misses(bpf_program__fd(prog));
	return sum;
}

uint64_t record_engine_recursion_misses(const struct record_engine *e)
{
	return misses_ever(e) - e->misses_before;
}

uint64_t record_engine_probe_misses(const struct record_engine *e)
{
	uint64_t now = record_functions_probe_misses(e->functions);

	if (now == PROFILE_NOT_COUNTED || e->probe_misses_before == PROFILE_NOT_COUNTED)
		return PROFILE_NOT_COUNTED;
	return now - e->probe_misses_before;
}

uint64_t record_engine_samples_expected(const struct record_engine *e)
{
	return record_sampler_expected(e->sampler);
}

void record_engine_reset(struct record_engine *e)
{
	uint32_t used = e->skel->bss->n_cells < e->n_cells ? e->skel->bss->n_cells : e->n_cells;
	struct engine_task *tasks = e->views[VIEW_TASKS].mem;
	struct engine_cpu *cpus = e->skel->bss->cpus;

	/* Cells keep their numbers, so only those in use need be cleared. */
	memset(e->views[VIEW_CELLS].mem, 0,
	       (size_t)(used + 1) * e->n_shards * sizeof(struct engine_cell));
	memset(e->views[VIEW_STACKS].mem, 0, e->n_stacks * sizeof(struct engine_stack));
	memset(e->skel->bss->losses, 0, sizeof(e->skel->bss->losses));
	/* No task that is to be followed is in a call. */
	free(e->missed_before);
	e->missed_before = NULL;
	for (uint32_t i = 0; i < e->n_cpus; i++) {
		cpus[i].shard = i % e->n_shards;
		cpus[i].samples = 0;
		cpus[i].due = ENGINE_NEVER;
		cpus[i].overdue = ENGINE_NEVER;
		cpus[i].taken = 0;
		cpus[i].skipped = 0;
	}
	memset(e->views[VIEW_MISSED].mem, 0, e->views[VIEW_MISSED].len);
	/* Of tasks that go on from one run to the next, what is open still has been entered. */
	for (uint32_t i = 0; i < e->n_tasks; i++)
		if (tasks[i].flags & ENGINE_TASK_LIVE)
			tasks[i].entered =
				tasks[i].top / ENGINE_FRAME + (tasks[i].ctx != ENGINE_CTX_NONE);
	e->misses_before = misses_ever(e);
	e->probe_misses_before = record_functions_probe_misses(e->functions);
	record_sampler_reset(e->sampler);
}
