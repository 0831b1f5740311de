// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/engine/load.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kernel/image/btf.h"
#include "kprotperf/engine.h"
#include "kprotperf_plain.skel.h"
#include "record/engine/engine_impl.h"

#define DEFAULT_TASKS  4096
#define CELLS_PER_SITE 8
#define MIN_CELLS      512
/* Maximum memory for cells (counts of calls): the greater of MAX_CELLS_MEMORY and CPU_CELLS_MEMORY times the CPUs. */
#define MAX_CELLS_MEMORY (32u << 20)
#define CPU_CELLS_MEMORY (2u << 20)
#define STACK_ENTRIES    8192

#define MAX_BLOCKS_MEMORY (32u << 20)

/* Maps may take at most 1 / MEMORY_PART of the free memory. */
#define MEMORY_PART 2

/* The last warning of libbpf. reject() shows this text to the user. */
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

void record_bpf_log(void)
{
	libbpf_set_print(libbpf_print);
}

/* Return the number in the first line of the file PATH that matches FORMAT; 0: no line matches. */
static size_t number_in(const char *path, const char *format)
{
	FILE *f = fopen(path, "re");
	char line[128];
	size_t n = 0;

	while (f && !n && fgets(line, sizeof(line), f))
		sscanf(line, format, &n);
	if (f)
		fclose(f);
	return n;
}

static size_t pid_max(void)
{
	size_t n = number_in("/proc/sys/kernel/pid_max", "%zu");

	return n && n < 4u << 20 ? n : 4u << 20;
}

/* Return roughly the number of tasks on the machine: the number after the slash in /proc/loadavg. */
static uint32_t tasks_now(void)
{
	return (uint32_t)number_in("/proc/loadavg", "%*f %*f %*f %*u/%zu");
}

/* Return the number of struct engine_capture that the captured values need; at least 1, since a map needs an entry. */
static size_t capture_entries(const struct record_engine *e)
{
	size_t n = (size_t)e->config.n_captured * (ENGINE_CAPTURE_ROWS + ENGINE_CAPTURE_SAMPLES);

	return n ?: 1;
}

/* Return the number of counts of block executions in a shard. If no blocks are counted, return 1: a map needs an entry. */
static size_t block_counts(const struct record_engine *e)
{
	return e->config.n_blocks ? (size_t)(e->config.n_blocks + 1) * ENGINE_CONTEXTS : 1;
}

static size_t block_memory(const struct record_engine *e)
{
	return block_counts(e) * sizeof(uint64_t);
}

static void choose_sizes(struct record_engine *e)
{
	const struct record_engine_config *c = &e->config;
	size_t most = MAX_CELLS_MEMORY;

	if (most < (size_t)e->n_cpus * CPU_CELLS_MEMORY)
		most = (size_t)e->n_cpus * CPU_CELLS_MEMORY;
	e->n_tasks = c->max_tasks;
	if (!e->n_tasks)
		e->n_tasks = DEFAULT_TASKS + (c->system_wide ? 2 * tasks_now() : 0);
	e->n_tasks += e->n_cpus + 1;
	if (e->n_tasks > ENGINE_MAX_TASKS)
		e->n_tasks = ENGINE_MAX_TASKS;

	/* Use as many shards as memory allows: even with thousands of functions, only few CPUs should then use the same cells. */
	e->n_cells = MIN_CELLS + CELLS_PER_SITE * c->n_functions;
	if (e->n_cells > MAX_CELLS_MEMORY / sizeof(struct engine_cell))
		e->n_cells = MAX_CELLS_MEMORY / sizeof(struct engine_cell);
	for (e->n_shards = 1; e->n_shards < e->n_cpus;)
		e->n_shards *= 2;
	while (e->n_shards > 1 &&
	       (size_t)e->n_shards * e->n_cells * sizeof(struct engine_cell) > most)
		e->n_shards /= 2;
	e->n_stacks = c->sample_period ? STACK_ENTRIES : 1;

	e->n_block_shards = c->n_blocks ? e->n_shards : 1;
	while (e->n_block_shards > 1 && e->n_block_shards * block_memory(e) > MAX_BLOCKS_MEMORY)
		e->n_block_shards /= 2;
}

/* Return the size of kprobe.multi's hash table: so many entries that two functions rarely get the same entry. */
static uint32_t multi_slots(const struct record_engine *e)
{
	uint32_t n = 16;

	while (e->features.multi == 0 && n < 16 * (e->config.n_functions + RECORD_ENGINE_SPARES))
		n *= 2;
	return n;
}

static int set_map_sizes(struct record_engine *e)
{
	const struct kprotperf_bpf *s = e->skel;
	bool counted = e->config.n_counters > 0;
	/* Number 0 is for contexts. The next numbers are for timed functions, the last ones for calibration's functions. */
	uint32_t n_sites = e->config.n_functions + 1 + RECORD_ENGINE_SPARES;
	const struct {
		struct bpf_map *map;
		size_t entries;
	} sizes[] = {
		{ s->maps.slots, pid_max() / ENGINE_PIDS_PER_ENTRY + 1 },
		{ s->maps.tasks, e->n_tasks },
		{ s->maps.free_slots, e->n_tasks },
		{ s->maps.cell_of, n_sites * ENGINE_CONTEXTS },
		{ s->maps.cells, (e->n_cells + 1) * e->n_shards },
		{ s->maps.stacks, e->n_stacks },
		{ s->maps.missed, n_sites },
		{ s->maps.multi_sites, multi_slots(e) },
		{ s->maps.range_lists, e->config.n_range_lists + RECORD_RANGE_SPARE_LISTS },
		{ s->maps.block_probes, e->config.n_blocks + 1 },
		{ s->maps.block_counts, block_counts(e) * e->n_block_shards },
		{ s->maps.captures, capture_entries(e) },
		{ s->maps.saved, e->config.saves ? e->n_tasks * ENGINE_DEPTH : 1 },
		{ s->maps.counters, counted ? e->config.n_counters * e->n_cpus : 1 },
		{ s->maps.counted_tasks, counted ? e->n_tasks : 1 },
		{ s->maps.counted_calls, counted ? e->n_tasks * ENGINE_DEPTH : 1 },
		{ s->maps.counted_cells, counted ? (e->n_cells + 1) * e->n_shards : 1 },
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		err = err ?: bpf_map__set_max_entries(sizes[i].map, sizes[i].entries);
	return err;
}

static void set_constants(struct record_engine *e)
{
	const struct kprotperf_bpf *s = e->skel;

	s->rodata->n_counters = e->config.n_counters;
	s->rodata->counter_cpus = e->n_cpus;
	s->rodata->n_captured = e->config.n_captured;
	s->rodata->saves = e->config.saves;
	s->rodata->n_block_probes = e->config.n_blocks + 1;
	s->rodata->block_shard_shift = __builtin_ctz(e->n_shards / e->n_block_shards);
	s->rodata->multi_mask = multi_slots(e) - 1;
	s->rodata->multi_sp = e->features.multi_is.sp;
	s->rodata->is_clock_real = e->config.closings;
	s->rodata->leaves_out = e->config.left_out != NULL;
	s->rodata->unwalkable = e->features.multi_is.unwalkable;
	s->rodata->unwalkable_len = e->features.multi_is.unwalkable_len;

	for (uint32_t i = 0; i < ENGINE_SMALL; i++)
		((uint8_t *)s->rodata->small_slots)[i] = hist_slot(i);
	s->rodata->max_tasks = e->n_tasks;
	s->rodata->max_cells = e->n_cells;
	s->rodata->n_shards = e->n_shards;
	s->rodata->stack_mask = e->n_stacks - 1;
	s->rodata->sample_period = e->config.sample_period;
	if (e->config.system_wide) {
		s->rodata->follow_all = true;
		s->rodata->cgroup_id = e->config.cgroup;
		/* The last slots belong to the idle tasks. */
		s->rodata->idle_base = e->n_tasks - e->n_cpus;
		s->rodata->max_tasks = e->n_tasks - e->n_cpus;
	}
}

/*
 * Choose the variant of each program. The suffix of a variant's name tells its purpose. A recording with several purposes uses the
 * last of their variants, which serves all of them.
 */
static void choose_variants(struct record_engine *e, bool fentry)
{
	const struct kprotperf_bpf *s = e->skel;
	struct record_programs *progs = &e->progs;
	const struct {
		const char *suffix;
		bool asked;
	} variants[] = {
		{ "", true },
		{ "_real", e->config.closings }, /* for a real clock */
		{ "_some", e->config.left_out != NULL }, /* for recordings of only some syscalls */
		{ "_counted", e->config.n_counters > 0 },
	};
	const struct {
		struct bpf_program *first;
		struct bpf_program **chosen;
		bool needed;
	} programs[] = {
		{ s->progs.on_sys_enter, &progs->on_sys_enter, true },
		{ s->progs.on_sys_exit, &progs->on_sys_exit, true },
		{ s->progs.on_switch, &progs->on_switch, true },
		{ s->progs.on_newtask, &progs->on_newtask, true },
		{ s->progs.fault_fentry, &progs->fault_fentry, fentry },
		{ s->progs.fault_fexit, &progs->fault_fexit, fentry },
		/* If page faults are timed, their calibration needs these programs even if no function is timed. */
		{ s->progs.function_fentry, &progs->fentry, fentry },
		{ s->progs.function_fexit, &progs->fexit, fentry },
		{ s->progs.function_fexit_capture, &progs->fexit_capture,
		  fentry && e->config.n_captured },
	};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		for (size_t v = 0; v < ARRAY_SIZE(variants); v++) {
			scoped_free char *name = alloc_printf(
				"%s%s", bpf_program__name(programs[i].first), variants[v].suffix);
			struct bpf_program *prog =
				bpf_object__find_program_by_name(e->skel->obj, name);

			if (prog && variants[v].asked)
				*programs[i].chosen = prog;
			if (prog)
				bpf_program__set_autoload(prog, false);
		}
		bpf_program__set_autoload(*programs[i].chosen, programs[i].needed);
	}
}

/* Load only programs that this recording needs: the kernel may refuse others. Programs of saved_programs.c are loaded later. */
static void choose_programs(struct record_engine *e)
{
	struct kprotperf_bpf *s = e->skel;
	bool functions = e->config.n_functions > 0;
	bool fentry = !e->features.fentry, kprobe = !e->features.kprobe;
	bool multi = !e->features.multi && functions, ranges = kprobe && e->config.ranges;

	const struct {
		struct bpf_program *prog;
		bool needed;
	} programs[] = {
		{ s->progs.fault_kprobe, !fentry && kprobe },
		{ s->progs.fault_kretprobe, !fentry && kprobe },
		{ s->progs.pause_counters, e->config.n_counters > 0 },
		{ s->progs.enclose_in_syscall, !e->config.closings },
		{ s->progs.function_kprobe, kprobe && (functions || !fentry) },
		{ s->progs.function_kretprobe, kprobe && (functions || !fentry) },
		{ s->progs.function_kretprobe_optimized, kprobe && functions },
		{ s->progs.function_kretprobe_int3, kprobe && functions },
		{ s->progs.function_kprobe_capture, kprobe && e->config.saves },
		{ s->progs.function_kretprobe_capture, kprobe && e->config.saves },
		{ s->progs.function_kretprobe_capture_optimized, kprobe && e->config.saves },
		{ s->progs.function_kretprobe_capture_int3, kprobe && e->config.saves },
		{ s->progs.function_multi, multi },
		{ s->progs.function_ret_multi, multi },
		{ s->progs.function_count, e->config.counts && kprobe },
		{ s->progs.call_empty, fentry || kprobe },
		{ s->progs.read_text, true },
		{ s->progs.range_enter, ranges },
		{ s->progs.range_leave, ranges },
		{ s->progs.range_count, ranges },
		{ s->progs.range_list, ranges },
		{ s->progs.block_count, kprobe && e->config.n_blocks },
		{ s->progs.on_sample, e->config.sample_period != 0 },
		{ s->progs.adopt_tasks, e->config.pid != 0 },
		{ s->progs.note_self, e->config.system_wide },
		{ s->progs.adopt_caller, !e->config.system_wide && !e->config.pid },
	};

	choose_variants(e, fentry);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		bpf_program__set_autoload(programs[i].prog, programs[i].needed);
}

static int map_views(struct record_engine *e)
{
	struct kprotperf_bpf *s = e->skel;
	struct bpf_map *maps[RECORD_N_VIEWS] = {
		[RECORD_VIEW_SLOTS] = s->maps.slots,
		[RECORD_VIEW_TASKS] = s->maps.tasks,
		[RECORD_VIEW_CELL_OF] = s->maps.cell_of,
		[RECORD_VIEW_CELLS] = s->maps.cells,
		[RECORD_VIEW_STACKS] = s->maps.stacks,
		[RECORD_VIEW_MISSED] = s->maps.missed,
		[RECORD_VIEW_BLOCKS] = s->maps.block_counts,
		[RECORD_VIEW_CAPTURES] = s->maps.captures,
		[RECORD_VIEW_COUNTED] = s->maps.counted_cells,
	};
	long page = sysconf(_SC_PAGESIZE);

	for (int i = 0; i < RECORD_N_VIEWS; i++) {
		struct record_map_view *v = &e->views[i];
		size_t value = (bpf_map__value_size(maps[i]) + 7) & ~7ul;

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
 * Open the BPF programs or, if PLAIN, the programs that use no kernel variables. Both objects have the same skeleton and layout of
 * shared memory. TYPES is the path of a file that gets the kernel's BTF before loading; NULL: libbpf finds the BTF itself.
 */
static struct kprotperf_bpf *open_skeleton(bool plain, const char *types)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = types);
	struct kprotperf_bpf *skel;
	const void *object;
	size_t size;

	if (!plain)
		return kprotperf_bpf__open_opts(&opts);
	skel = calloc(1, sizeof(*skel)); /* freed by kprotperf_bpf__destroy() */
	if (!skel || kprotperf_bpf__create_skeleton(skel)) {
		free(skel);
		return NULL;
	}
	object = kprotperf_plain_bpf__elf_bytes(&size);
	skel->skeleton->data = (void *)object;
	skel->skeleton->data_sz = size;
	if (bpf_object__open_skeleton(skel->skeleton, &opts)) {
		kprotperf_bpf__destroy(skel);
		return NULL;
	}
	return skel;
}

size_t record_engine_memory(const struct record_engine *e)
{
	size_t sum = e->config.probe_memory;
	const struct bpf_map *map;

	bpf_object__for_each_map(map, e->skel->obj)
	{
		size_t value = (bpf_map__value_size(map) + 7) & ~7ul;
		bool per_cpu = bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY;

		sum += value * bpf_map__max_entries(map) * (per_cpu ? e->n_cpus : 1);
	}
	return sum;
}

/* Return the bytes that the kernel can allocate without swapping; 0: unknown. */
static size_t memory_available(void)
{
	return number_in("/proc/meminfo", "MemAvailable: %zu kB") << 10;
}

/* Refuse to take too much memory: before the kernel fails to allocate it, it would kill other processes. */
static int check_memory(const struct record_engine *e)
{
	size_t needed = record_engine_memory(e), available = memory_available();

	if (!available || needed <= available / MEMORY_PART)
		return 0;
	log_error(
		"probes and maps for %u functions and %u CPUs would take about %zu MiB of the "
		"kernel's memory, more than 1/%u of the %zu MiB that are free: time fewer functions",
		e->config.n_functions, e->n_cpus, needed >> 20, MEMORY_PART, available >> 20);
	return -EDQUOT;
}

/* Write the BTF of the types that BPF programs use to FD. If BTF cannot be reduced to these types, write all BTF. */
static int write_types(const struct record_engine *e, int fd)
{
	uint32_t size;
	const void *raw = btf__raw_data(e->config.btf, &size);

	if (!kernel_btf_reduce(e->config.btf, bpf_object__btf(e->skel->obj), fd))
		return 0;
	return raw && pwrite(fd, raw, size, 0) == size ? 0 : -EIO;
}

/* Create a file for write_types(). Return -1 without BTF or with a limit of file size (ulimit -f): libbpf then reads BTF. */
static int types_file(const struct record_engine *e)
{
	struct rlimit limit;

	if (!e->config.btf || getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur != RLIM_INFINITY)
		return -1;
	return memfd_create("types", MFD_CLOEXEC);
}

/* Open and load the programs. Return 0 or -errno; -ENOENT if this kernel lacks a variable or function that the programs use. */
static int open_and_load(struct record_engine *e, bool plain)
{
	int err = record_saved_programs_begin(&e->saved_programs);
	int fd = types_file(e);
	scoped_free char *types = fd < 0 ? NULL : alloc_printf("/proc/self/fd/%d", fd);

	if (!err) {
		e->skel = open_skeleton(plain, types);
		err = e->skel ? 0 : errno ? -errno : -ENOMEM;
	}
	if (!err) {
		choose_programs(e);
		set_constants(e);
		err = set_map_sizes(e) ?: check_memory(e) ?: fd < 0 ? 0 : write_types(e, fd);
		err = err ?: kprotperf_bpf__load(e->skel);
		e->saved_programs.btf_fd = bpf_object__btf_fd(e->skel->obj);
	}
	if (fd >= 0)
		close(fd);
	return err;
}

const char *record_bpf_advice(int err)
{
	switch (err) {
	case -ENOMEM:
		return "Cannot allocate memory; see the memory.max of this process's cgroup";
	case -EPERM:
		return "lockdown or a missing capability forbids them";
	case -EMFILE:
	case -ENFILE:
		return log_strerror(err);
	default:
		return "they need Linux " RECORD_OLDEST_KERNEL " or later";
	}
}

/* Unload the programs, and return ERR. First report ERR, unless ERR is -EDQUOT, which was reported before. */
static int reject(struct record_engine *e, int err)
{
	if (err == -EDQUOT)
		goto out;
	libbpf_message[strcspn(libbpf_message, "\n")] = '\0';
	if (err == -ENOMEM || err == -EMFILE || err == -ENFILE)
		log_error("cannot load the BPF programs: %s", record_bpf_advice(err));
	else
		log_error("this kernel rejects the BPF programs: %s%s%s (-vv shows the verifier's "
			  "log); %s",
			  log_strerror(err), *libbpf_message ? ": " : "", libbpf_message,
			  record_bpf_advice(err));
out:
	record_engine_unload(e);
	return err;
}

int record_engine_load(struct record_engine *e)
{
	int err;

	record_bpf_log();
	libbpf_message[0] = '\0';

	choose_sizes(e);
	err = open_and_load(e, false);
	if (err == -ENOENT) {
		record_engine_unload(e);
		err = open_and_load(e, true);
	}
	err = err ?: map_views(e);
	/* libbpf goes on if the kernel rejects the programs' BTF. The verifier then verifies global functions at each call. */
	if (!err && bpf_object__btf_fd(e->skel->obj) < 0)
		log_warn("the kernel rejects the BTF of the BPF programs: loading them takes "
			 "seconds (-vvv shows why)");
	return err ? reject(e, err) : 0;
}

/* Load each saved program once, to see whether the kernel accepts it. */
static int try_saved_programs(struct record_engine *e)
{
	int fault = libbpf_find_vmlinux_btf_id("handle_mm_fault", BPF_TRACE_FENTRY);

	vec_each(const struct record_saved_program, saved, &e->saved_programs, items) {
		const char *name = bpf_program__name(saved->prog);
		bool entry = strstr(name, "_fentry"), ret = strstr(name, "_fexit");
		int fd = record_saved_load(&e->saved_programs, saved,
					   entry ? BPF_TRACE_FENTRY :
					   ret   ? BPF_TRACE_FEXIT :
						   0,
					   entry || ret ? fault : 0, 0);

		if (fd < 0)
			return reject(e, fd);
		close(fd);
	}
	return 0;
}

int record_bpf_try(const struct record_features *features)
{
	int err = 0;

	static const bool left_out[ENGINE_CONTEXTS];

	/* Try three kinds of recording: of a command, of all tasks, and with counted events. Each kind needs other programs. */
	for (int kind = 0; kind < 3 && !err; kind++) {
		struct record_engine e = {
			.config = {
				.system_wide = kind == 1,
				.left_out = kind == 1 ? left_out : NULL,
				.sample_period = 1000000,
				.n_counters = kind == 2,
				.n_functions = 1,
				.ranges = true,
				.n_blocks = 1,
				.n_range_lists = 1,
			},
			.features = *features,
			.n_cpus = 1,
		};

		err = record_engine_load(&e) ?: try_saved_programs(&e);
		record_engine_unload(&e);
	}
	return err;
}

void record_engine_unload(struct record_engine *e)
{
	for (int i = 0; i < RECORD_N_VIEWS; i++)
		if (e->views[i].mem)
			munmap(e->views[i].mem, e->views[i].len);
	memset(e->views, 0, sizeof(e->views));
	record_saved_programs_deinit(&e->saved_programs);
	kprotperf_bpf__destroy(e->skel);
	e->skel = NULL;
}
