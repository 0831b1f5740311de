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
#include "kprotperf.skel.h"
#include "kprotperf_plain.skel.h"

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

/* Return the number of counts of block executions in a shard. If no blocks are counted, return 1: a map needs an entry. */
static size_t block_counts(const struct record_bpf *b)
{
	return b->config.n_blocks ? (size_t)(b->config.n_blocks + 1) * ENGINE_CONTEXTS : 1;
}

static size_t block_memory(const struct record_bpf *b)
{
	return block_counts(b) * sizeof(uint64_t);
}

static void choose_sizes(struct record_bpf *b)
{
	const struct record_engine_config *c = &b->config;
	size_t most = MAX_CELLS_MEMORY;

	if (most < (size_t)b->n_cpus * CPU_CELLS_MEMORY)
		most = (size_t)b->n_cpus * CPU_CELLS_MEMORY;
	b->n_tasks = c->max_tasks;
	if (!b->n_tasks)
		b->n_tasks = DEFAULT_TASKS + (c->system_wide ? 2 * tasks_now() : 0);
	b->n_tasks += b->n_cpus + 1;
	if (b->n_tasks > ENGINE_MAX_TASKS)
		b->n_tasks = ENGINE_MAX_TASKS;

	/* Use as many shards as memory allows: even with thousands of functions, only few CPUs should then use the same cells. */
	b->n_cells = MIN_CELLS + CELLS_PER_SITE * c->n_functions;
	if (b->n_cells > MAX_CELLS_MEMORY / sizeof(struct engine_cell))
		b->n_cells = MAX_CELLS_MEMORY / sizeof(struct engine_cell);
	for (b->n_shards = 1; b->n_shards < b->n_cpus;)
		b->n_shards *= 2;
	while (b->n_shards > 1 &&
	       (size_t)b->n_shards * b->n_cells * sizeof(struct engine_cell) > most)
		b->n_shards /= 2;
	b->n_stacks = c->sample_period ? STACK_ENTRIES : 1;

	b->n_block_shards = c->n_blocks ? b->n_shards : 1;
	while (b->n_block_shards > 1 && b->n_block_shards * block_memory(b) > MAX_BLOCKS_MEMORY)
		b->n_block_shards /= 2;
}

/* Return the size of kprobe.multi's hash table: so many entries that two functions rarely get the same entry. */
static uint32_t multi_slots(const struct record_bpf *b)
{
	uint32_t n = 16;

	while (b->features.multi == 0 && n < 16 * (b->config.n_functions + RECORD_ENGINE_SPARES))
		n *= 2;
	return n;
}

static int set_map_sizes(struct record_bpf *b)
{
	const struct kprotperf_bpf *s = b->skel;
	bool counted = b->config.n_counters > 0;
	/* Number 0 is for contexts. The next numbers are for timed functions, the last ones for calibration's functions. */
	uint32_t n_sites = b->config.n_functions + 1 + RECORD_ENGINE_SPARES;
	const struct {
		struct bpf_map *map;
		size_t entries;
	} sizes[] = {
		{ s->maps.slots, pid_max() / ENGINE_PIDS_PER_ENTRY + 1 },
		{ s->maps.tasks, b->n_tasks },
		{ s->maps.free_slots, b->n_tasks },
		{ s->maps.cell_of, n_sites * ENGINE_CONTEXTS },
		{ s->maps.cells, (b->n_cells + 1) * b->n_shards },
		{ s->maps.stacks, b->n_stacks },
		{ s->maps.missed, n_sites },
		{ s->maps.multi_sites, multi_slots(b) },
		{ s->maps.range_lists, b->config.n_range_lists + RECORD_RANGE_SPARE_LISTS },
		{ s->maps.block_probes, b->config.n_blocks + 1 },
		{ s->maps.block_counts, block_counts(b) * b->n_block_shards },
		{ s->maps.captures, record_engine_captures(&b->config) ?: 1 },
		{ s->maps.saved, b->config.saves ? b->n_tasks * ENGINE_DEPTH : 1 },
		{ s->maps.counters, counted ? b->config.n_counters * b->n_cpus : 1 },
		{ s->maps.counted_tasks, counted ? b->n_tasks : 1 },
		{ s->maps.counted_calls, counted ? b->n_tasks * ENGINE_DEPTH : 1 },
		{ s->maps.counted_cells, counted ? (b->n_cells + 1) * b->n_shards : 1 },
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		err = err ?: bpf_map__set_max_entries(sizes[i].map, sizes[i].entries);
	return err;
}

static void set_constants(struct record_bpf *b)
{
	const struct kprotperf_bpf *s = b->skel;

	s->rodata->n_counters = b->config.n_counters;
	s->rodata->counter_cpus = b->n_cpus;
	s->rodata->n_captured = b->config.n_captured;
	s->rodata->saves = b->config.saves;
	s->rodata->n_block_probes = b->config.n_blocks + 1;
	s->rodata->block_shard_shift = __builtin_ctz(b->n_shards / b->n_block_shards);
	s->rodata->multi_mask = multi_slots(b) - 1;
	s->rodata->multi_sp = b->features.multi_is.sp;
	s->rodata->is_clock_real = b->config.closings;
	s->rodata->leaves_out = b->config.left_out != NULL;
	s->rodata->unwalkable = b->features.multi_is.unwalkable;
	s->rodata->unwalkable_len = b->features.multi_is.unwalkable_len;

	for (uint32_t i = 0; i < ENGINE_SMALL; i++)
		((uint8_t *)s->rodata->small_slots)[i] = hist_slot(i);
	s->rodata->max_tasks = b->n_tasks;
	s->rodata->max_cells = b->n_cells;
	s->rodata->n_shards = b->n_shards;
	s->rodata->stack_mask = b->n_stacks - 1;
	s->rodata->sample_period = b->config.sample_period;
	if (b->config.system_wide) {
		s->rodata->follow_all = true;
		s->rodata->cgroup_id = b->config.cgroup;
		/* The last slots belong to the idle tasks. */
		s->rodata->idle_base = b->n_tasks - b->n_cpus;
		s->rodata->max_tasks = b->n_tasks - b->n_cpus;
	}
}

/*
 * Choose the variant of each program. The suffix of a variant's name tells its purpose. A recording with several purposes uses the
 * last of their variants, which serves all of them.
 */
static void choose_variants(struct record_bpf *b, bool fentry)
{
	const struct kprotperf_bpf *s = b->skel;
	struct record_programs *progs = &b->progs;
	const struct {
		const char *suffix;
		bool asked;
	} variants[] = {
		{ "", true },
		{ "_real", b->config.closings }, /* for a real clock */
		{ "_some", b->config.left_out != NULL }, /* for recordings of only some syscalls */
		{ "_counted", b->config.n_counters > 0 },
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
		  fentry && b->config.n_captured },
	};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		for (size_t v = 0; v < ARRAY_SIZE(variants); v++) {
			scoped_free char *name = alloc_printf(
				"%s%s", bpf_program__name(programs[i].first), variants[v].suffix);
			struct bpf_program *prog =
				bpf_object__find_program_by_name(b->skel->obj, name);

			if (prog && variants[v].asked)
				*programs[i].chosen = prog;
			if (prog)
				bpf_program__set_autoload(prog, false);
		}
		bpf_program__set_autoload(*programs[i].chosen, programs[i].needed);
	}
}

/* Load only programs that this recording needs: the kernel may refuse others. Programs of saved_programs.c are loaded later. */
static void choose_programs(struct record_bpf *b)
{
	struct kprotperf_bpf *s = b->skel;
	bool functions = b->config.n_functions > 0;
	bool fentry = !b->features.fentry, kprobe = !b->features.kprobe;
	bool multi = !b->features.multi && functions, ranges = kprobe && b->config.ranges;

	const struct {
		struct bpf_program *prog;
		bool needed;
	} programs[] = {
		{ s->progs.fault_kprobe, !fentry && kprobe },
		{ s->progs.fault_kretprobe, !fentry && kprobe },
		{ s->progs.pause_counters, b->config.n_counters > 0 },
		{ s->progs.enclose_in_syscall, !b->config.closings },
		{ s->progs.function_kprobe, kprobe && (functions || !fentry) },
		{ s->progs.function_kretprobe, kprobe && (functions || !fentry) },
		{ s->progs.function_kretprobe_optimized, kprobe && functions },
		{ s->progs.function_kretprobe_int3, kprobe && functions },
		{ s->progs.function_kprobe_capture, kprobe && b->config.saves },
		{ s->progs.function_kretprobe_capture, kprobe && b->config.saves },
		{ s->progs.function_kretprobe_capture_optimized, kprobe && b->config.saves },
		{ s->progs.function_kretprobe_capture_int3, kprobe && b->config.saves },
		{ s->progs.function_multi, multi },
		{ s->progs.function_ret_multi, multi },
		{ s->progs.function_count, b->config.counts && kprobe },
		{ s->progs.call_empty, fentry || kprobe },
		{ s->progs.read_text, true },
		{ s->progs.range_enter, ranges },
		{ s->progs.range_leave, ranges },
		{ s->progs.range_count, ranges },
		{ s->progs.range_list, ranges },
		{ s->progs.block_count, kprobe && b->config.n_blocks },
		{ s->progs.on_sample, b->config.sample_period != 0 },
		{ s->progs.adopt_tasks, b->config.pid != 0 },
		{ s->progs.note_self, b->config.system_wide },
		{ s->progs.adopt_caller, !b->config.system_wide && !b->config.pid },
	};

	choose_variants(b, fentry);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		bpf_program__set_autoload(programs[i].prog, programs[i].needed);
}

static int map_views(struct record_bpf *b)
{
	struct kprotperf_bpf *s = b->skel;
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
		struct record_map_view *v = &b->views[i];
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

size_t record_bpf_memory(const struct record_bpf *b)
{
	size_t sum = b->config.probe_memory;
	const struct bpf_map *map;

	bpf_object__for_each_map(map, b->skel->obj)
	{
		size_t value = (bpf_map__value_size(map) + 7) & ~7ul;
		bool per_cpu = bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY;

		sum += value * bpf_map__max_entries(map) * (per_cpu ? b->n_cpus : 1);
	}
	return sum;
}

/* Return the bytes that the kernel can allocate without swapping; 0: unknown. */
static size_t memory_available(void)
{
	return number_in("/proc/meminfo", "MemAvailable: %zu kB") << 10;
}

/* Refuse to take too much memory: before the kernel fails to allocate it, it would kill other processes. */
static int check_memory(const struct record_bpf *b)
{
	size_t needed = record_bpf_memory(b), available = memory_available();

	if (!available || needed <= available / MEMORY_PART)
		return 0;
	log_error(
		"probes and maps for %u functions and %u CPUs would take about %zu MiB of the "
		"kernel's memory, more than 1/%u of the %zu MiB that are free: time fewer functions",
		b->config.n_functions, b->n_cpus, needed >> 20, MEMORY_PART, available >> 20);
	return -EDQUOT;
}

/* Write the BTF of the types that BPF programs use to FD. If BTF cannot be reduced to these types, write all BTF. */
static int write_types(const struct record_bpf *b, int fd)
{
	uint32_t size;
	const void *raw = btf__raw_data(b->config.btf, &size);

	if (!kernel_btf_reduce(b->config.btf, bpf_object__btf(b->skel->obj), fd))
		return 0;
	return raw && pwrite(fd, raw, size, 0) == size ? 0 : -EIO;
}

/* Create a file for write_types(). Return -1 without BTF or with a limit of file size (ulimit -f): libbpf then reads BTF. */
static int types_file(const struct record_bpf *b)
{
	struct rlimit limit;

	if (!b->config.btf || getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur != RLIM_INFINITY)
		return -1;
	return memfd_create("types", MFD_CLOEXEC);
}

/* Open and load the programs. Return 0 or -errno; -ENOENT if this kernel lacks a variable or function that the programs use. */
static int open_and_load(struct record_bpf *b, bool plain)
{
	int err = record_saved_programs_begin(&b->saved_programs);
	int fd = types_file(b);
	scoped_free char *types = fd < 0 ? NULL : alloc_printf("/proc/self/fd/%d", fd);

	if (!err) {
		b->skel = open_skeleton(plain, types);
		err = b->skel ? 0 : errno ? -errno : -ENOMEM;
	}
	if (!err) {
		choose_programs(b);
		set_constants(b);
		err = set_map_sizes(b) ?: check_memory(b) ?: fd < 0 ? 0 : write_types(b, fd);
		err = err ?: kprotperf_bpf__load(b->skel);
		b->saved_programs.btf_fd = bpf_object__btf_fd(b->skel->obj);
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
static int reject(struct record_bpf *b, int err)
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
	record_bpf_unload(b);
	return err;
}

int record_bpf_load(struct record_bpf *b)
{
	int err;

	record_bpf_log();
	libbpf_message[0] = '\0';

	choose_sizes(b);
	err = open_and_load(b, false);
	if (err == -ENOENT) {
		record_bpf_unload(b);
		err = open_and_load(b, true);
	}
	err = err ?: map_views(b);
	/* libbpf goes on if the kernel rejects the programs' BTF. The verifier then verifies global functions at each call. */
	if (!err && bpf_object__btf_fd(b->skel->obj) < 0)
		log_warn("the kernel rejects the BTF of the BPF programs: loading them takes "
			 "seconds (-vvv shows why)");
	return err ? reject(b, err) : 0;
}

/* Load each saved program once, to see whether the kernel accepts it. */
static int try_saved_programs(struct record_bpf *b)
{
	int fault = libbpf_find_vmlinux_btf_id("handle_mm_fault", BPF_TRACE_FENTRY);

	vec_each(const struct record_saved_program, saved, &b->saved_programs, items) {
		const char *name = bpf_program__name(saved->prog);
		bool entry = strstr(name, "_fentry"), ret = strstr(name, "_fexit");
		int fd = record_saved_load(&b->saved_programs, saved,
					   entry ? BPF_TRACE_FENTRY :
					   ret   ? BPF_TRACE_FEXIT :
						   0,
					   entry || ret ? fault : 0, 0);

		if (fd < 0)
			return reject(b, fd);
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
		struct record_bpf b = {
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

		err = record_bpf_load(&b) ?: try_saved_programs(&b);
		record_bpf_unload(&b);
	}
	return err;
}

void record_bpf_unload(struct record_bpf *b)
{
	for (int i = 0; i < RECORD_N_VIEWS; i++)
		if (b->views[i].mem)
			munmap(b->views[i].mem, b->views[i].len);
	memset(b->views, 0, sizeof(b->views));
	record_saved_programs_deinit(&b->saved_programs);
	kprotperf_bpf__destroy(b->skel);
	b->skel = NULL;
}
