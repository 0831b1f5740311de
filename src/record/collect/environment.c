// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collect/environment.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "catalogue/setting.h"
#include "kernel/code/static_keys.h"
#include "record/target/symbols.h"

#define LINE_SIZE       4096
#define CONFIG_MAX      (4u << 20)
#define MITIGATIONS_DIR "/sys/devices/system/cpu/vulnerabilities"

/* Parameters that the lab puts on its guests' kernel command line: see scripts/lab. */
#define CLOCK_PARAMETER "kprotperf.clock"
#define CLOCK_ICOUNT    "icount"

/* The first line of PATH as the value of KEY. */
static void set_from_file(struct profile *p, const char *key, const char *path)
{
	char line[LINE_SIZE];

	if (file_read_line(path, line, sizeof(line)))
		profile_env_set(p, key, line);
}

/* gzopen() reads plain text too. */
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
