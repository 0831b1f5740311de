// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collect/environment.h"

#include <dirent.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "catalogue/state.h"
#include "kernel/code/code.h"
#include "record/target/symbols.h"

#define LINE_SIZE       4096
#define CONFIG_MAX      (4u << 20)
#define MITIGATIONS_DIR "/sys/devices/system/cpu/vulnerabilities"

/* Parameters that the lab puts on its guests' kernel command line: see scripts/lab. */
#define CLOCK_PARAMETER "kprotperf.clock"
#define CLOCK_ICOUNT    "icount"

static void set_from_file(struct profile *p, const char *key, const char *path)
{
	char line[LINE_SIZE];

	if (file_read_line(path, line, sizeof(line)))
		profile_env_set(p, key, line);
}

/* Set the configuration from the file PATH, which may be compressed: gzopen() reads plain text, too. */
static bool set_config(struct profile *p, const char *path)
{
	gzFile f = gzopen(path, "rbe");
	scoped_free char *text = NULL;
	int n;

	if (!f)
		return false;
	text = alloc_array(CONFIG_MAX + 1, 1);
	n = gzread(f, text, CONFIG_MAX);
	if (n > 0)
		profile_env_set(p, PROFILE_ENV_CONFIG, text);
	gzclose(f);
	return n > 0;
}

void record_environment_config(struct profile *p, const char *root, const char *release)
{
	char *paths[] = { alloc_printf("%s/proc/config.gz", root),
			  alloc_printf("%s/boot/config-%s", root, release),
			  alloc_printf("%s/lib/modules/%s/config", root, release) };
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		found = found || set_config(p, paths[i]);
		free(paths[i]);
	}
}

static void set_cpu(struct profile *p)
{
	char line[512], *value;
	FILE *f = fopen("/proc/cpuinfo", "re");
	bool model = false, microcode = false;

	while (f && !(model && microcode) && fgets(line, sizeof(line), f)) {
		value = strchr(line, ':');
		if (!value)
			continue;
		value += 1 + (value[1] == ' ');
		value[strcspn(value, "\n")] = '\0';
		if (!model && !strncmp(line, "model name", 10)) {
			profile_env_set(p, PROFILE_ENV_CPU, value);
			model = true;
		} else if (!microcode && !strncmp(line, "microcode", 9)) {
			profile_env_set(p, PROFILE_ENV_MICROCODE, value);
			microcode = true;
		}
	}
	if (f)
		fclose(f);
}

static void set_mitigations(struct profile *p)
{
	DIR *dir = opendir(MITIGATIONS_DIR);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		scoped_free char *path = NULL, *key = NULL;

		if (entry->d_name[0] == '.')
			continue;
		path = alloc_printf(MITIGATIONS_DIR "/%s", entry->d_name);
		key = alloc_printf(PROFILE_ENV_MITIGATION "%s", entry->d_name);
		set_from_file(p, key, path);
	}
	if (dir)
		closedir(dir);
}

static void set_time(struct profile *p)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[32];

	if (gmtime_r(&now, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		profile_env_set(p, PROFILE_ENV_TIME, text);
}

static void set_kernel(struct profile *p, struct record_symbols *symbols)
{
	const struct kernel_build_id *id = &symbols->kernel.build_id;
	scoped_free char *keys = kernel_static_keys_on(record_symbols_live(symbols), symbols->ks);
	char text[2 * KERNEL_BUILD_ID_MAX + 1];

	if (id->len)
		profile_env_set(p, PROFILE_ENV_BUILD_ID,
				kernel_build_id_format(id, text, sizeof(text)));
	if (keys)
		profile_env_set(p, PROFILE_ENV_STATIC_KEYS, keys);
}

void record_environment_tasks(struct profile *p, bool all, const char *cgroup, int32_t pid)
{
	scoped_free char *comm = alloc_printf("/proc/%d/comm", pid);

	if (!all && !pid)
		return;
	profile_env_set(p, PROFILE_ENV_TASKS, pid ? "process" : cgroup ? "cgroup" : "all");
	if (pid)
		set_from_file(p, PROFILE_ENV_TARGET, comm);
	else if (cgroup)
		profile_env_set(p, PROFILE_ENV_TARGET, cgroup);
}

void record_environment_read(struct profile *p, struct record_symbols *symbols)
{
	char text[32];
	struct catalogue_text clock;
	struct utsname uts;

	if (uname(&uts) == 0) {
		profile_env_set(p, PROFILE_ENV_RELEASE, uts.release);
		profile_env_set(p, PROFILE_ENV_VERSION, uts.version);
		profile_env_set(p, PROFILE_ENV_ARCH, uts.machine);
		record_environment_config(p, "", uts.release);
	}
	if (symbols)
		set_kernel(p, symbols);
	set_from_file(p, PROFILE_ENV_CMDLINE, "/proc/cmdline");
	set_cpu(p);
	snprintf(text, sizeof(text), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	profile_env_set(p, PROFILE_ENV_CPUS, text);
	set_from_file(p, PROFILE_ENV_GOVERNOR,
		      "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	set_from_file(p, PROFILE_ENV_TURBO, "/sys/devices/system/cpu/intel_pstate/no_turbo");
	set_from_file(p, PROFILE_ENV_SMT, "/sys/devices/system/cpu/smt/control");
	set_from_file(p, PROFILE_ENV_CLOCKSOURCE,
		      "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	set_mitigations(p);
	set_from_file(p, PROFILE_ENV_BOOTS, "/proc/sys/kernel/random/boot_id");
	set_time(p);
	profile_env_set(p, PROFILE_ENV_TOOL, "kprotperf " KPROTPERF_VERSION);

	clock = catalogue_parameter_value(profile_env_get(p, PROFILE_ENV_CMDLINE), CLOCK_PARAMETER);
	p->clock = catalogue_text_is(clock, CLOCK_ICOUNT) ? PROFILE_CLOCK_INSN : PROFILE_CLOCK_NS;
}

/* ---- other load on the machine ---- */

#define NS_PER_SEC 1000000000ull
#define NS_PER_US  1000ull
#define MSR_EVENTS "/sys/bus/event_source/devices/msr"
#define CPU_DIR    "/sys/devices/system/cpu"

#define N_LOADS 5

struct record_meters {
	char *root;
	uint32_t n_cpus;
	struct load {
		vec_of(int, fds); /* perf events of the CPUs that were online at the start */
		uint64_t before; /* sum before the run; PROFILE_NOT_COUNTED: unknown */
	} loads[N_LOADS]; /* ordered like kinds[] */
};

/* Read a number into *N, by FORMAT, from the first line of the file NAME below M's root. Return false if that fails. */
static bool read_number(const struct record_meters *m, const char *name, const char *format,
			unsigned long long *n)
{
	scoped_free char *path = alloc_printf("%s%s", m->root, name);
	char line[LINE_SIZE];

	return file_read_line(path, line, sizeof(line)) && sscanf(line, format, n) == 1;
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

/* Return the sum over all CPUs. CPUs of one core or package show the same count, so the sum contains it several times. */
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

/* While a CPU is not halted, APERF counts its cycles, and MPERF counts the cycles that it would have at its nominal frequency. */
static const struct {
	enum profile_loss kind;
	uint64_t (*read)(const struct record_meters *m); /* NULL: sum up EVENT over all CPUs */
	const char *event;
} kinds[N_LOADS] = {
	{ PROFILE_INFO_WAITED, read_waited },
	{ PROFILE_INFO_STOLEN, read_stolen },
	{ PROFILE_INFO_THROTTLED, read_throttled },
	{ PROFILE_INFO_APERF, .event = MSR_EVENTS "/events/aperf" },
	{ PROFILE_INFO_MPERF, .event = MSR_EVENTS "/events/mperf" },
};

/* Open the perf event NAME on each CPU, if the processor has it. */
static void open_event(const struct record_meters *m, struct load *load, const char *name)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	unsigned long long type, config;

	if (!read_number(m, MSR_EVENTS "/type", "%llu", &type) ||
	    !read_number(m, name, "event=%llx", &config))
		return;
	attr.type = (uint32_t)type;
	attr.config = config;
	for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++) {
		int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd >= 0)
			vec_push(load, fds, fd);
	}
}

struct record_meters *record_meters_create(const char *root)
{
	struct record_meters *m = alloc_new(struct record_meters);
	long n = sysconf(_SC_NPROCESSORS_CONF);

	m->root = alloc_strdup(root);
	m->n_cpus = n > 0 ? (uint32_t)n : 1;
	for (int i = 0; i < N_LOADS; i++)
		if (kinds[i].event)
			open_event(m, &m->loads[i], kinds[i].event);
	return m;
}

void record_meters_destroy(struct record_meters *m)
{
	if (!m)
		return;
	for (int i = 0; i < N_LOADS; i++) {
		while (m->loads[i].n_fds)
			close(m->loads[i].fds[--m->loads[i].n_fds]);
		free(m->loads[i].fds);
	}
	free(m->root);
	free(m);
}

static uint64_t read_load(const struct record_meters *m, int i)
{
	uint64_t sum = PROFILE_NOT_COUNTED, count;

	if (kinds[i].read)
		return kinds[i].read(m);
	vec_each(const int, fd, &m->loads[i], fds)
		if (read(*fd, &count, sizeof(count)) == sizeof(count))
			profile_count_add(&sum, count);
	return sum;
}

void record_meters_begin(struct record_meters *m)
{
	for (int i = 0; m && i < N_LOADS; i++)
		m->loads[i].before = read_load(m, i);
}

void record_meters_store(const struct record_meters *m, struct profile *p, uint32_t run)
{
	for (int i = 0; m && i < N_LOADS; i++) {
		uint64_t from = m->loads[i].before, to = read_load(m, i);
		bool known = from != PROFILE_NOT_COUNTED && to != PROFILE_NOT_COUNTED && to >= from;

		p->runs[run].losses[kinds[i].kind] = known ? to - from : PROFILE_NOT_COUNTED;
	}
}
