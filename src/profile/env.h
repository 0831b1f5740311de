/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of a profile's environment: a list of texts about the kernel, the machine and the recording. */
#pragma once

/* "kernel.config" is the text of /proc/config.gz. `diff` compares "record.static_keys" and all keys outside of "record.". */
#define PROFILE_ENV_RELEASE     "kernel.release"
#define PROFILE_ENV_VERSION     "kernel.version"
#define PROFILE_ENV_BUILD_ID    "kernel.build_id"
#define PROFILE_ENV_CMDLINE     "kernel.cmdline"
#define PROFILE_ENV_CONFIG      "kernel.config"
#define PROFILE_ENV_ARCH        "machine.arch"
#define PROFILE_ENV_CPU         "machine.cpu"
#define PROFILE_ENV_CPUS        "machine.cpus"
#define PROFILE_ENV_GOVERNOR    "machine.governor"
#define PROFILE_ENV_TURBO       "machine.turbo"
#define PROFILE_ENV_SMT         "machine.smt"
#define PROFILE_ENV_MICROCODE   "machine.microcode"
#define PROFILE_ENV_CLOCKSOURCE "machine.clocksource"
#define PROFILE_ENV_PINNED      "machine.pinned" /* the only CPU that the command could use */
#define PROFILE_ENV_TRACERS     "machine.tracers" /* traced by others, such as "1 function (a)" */
#define PROFILE_ENV_MITIGATION  "mitigation." /* + file name in /sys/.../vulnerabilities */
#define PROFILE_ENV_SYSCALLS \
	"workload.syscalls" /* measured system calls, with commas; absent: all */
#define PROFILE_ENV_TIME        "record.time" /* date of the recording, ISO 8601, UTC */
#define PROFILE_ENV_TOOL        "record.tool" /* version: "kprotperf 0.1.0" */
#define PROFILE_ENV_TRACE       "record.trace" /* "FUNC:N": call N of FUNC was traced */
#define PROFILE_ENV_MODEL       "model.name" /* model of the CPU's caches; absent: none */
#define PROFILE_ENV_CYCLES      "model.cycles" /* cycles per miss, such as "l1i=10 l1d=10" */
#define PROFILE_ENV_ENGINE      "record.engine" /* PROFILE_ENGINE_EXACT; absent for probes */
#define PROFILE_ENGINE_EXACT    "exact" /* the lab's emulator counted all instructions */
#define PROFILE_ENV_PROTECTION  "record.protection." /* + protection's name; value: its state */
#define PROFILE_ENV_PAGE_FAULTS "record.page_faults" /* mechanism that timed page faults */
#define PROFILE_ENV_CLOCK_STEP  "record.clock_step" /* clock's resolution in ns, if above 10 us */
/* Probes whose cost changed during the recording, such as "tracepoint 115 ns, then 160". */
#define PROFILE_ENV_DRIFT    "record.drift"
#define PROFILE_ENV_MODULE   "record.module." /* + module's name; value: its build-id */
#define PROFILE_ENV_PROGRAMS "record.programs" /* BPF programs that others loaded in a run */
/* The followed tasks: "all", "cgroup" or "process". Absent: the tasks of the command. */
#define PROFILE_ENV_TASKS   "record.tasks"
#define PROFILE_ENV_TARGET  "record.target" /* name of the process given by -p, or of the cgroup */
#define PROFILE_ENV_VMLINUX "record.vmlinux" /* path of the kernel's image */
#define PROFILE_ENV_SYMBOLS "record.symbols" /* source of names: "dwarf", "symtab", "kallsyms" */
/* Timed functions that were also inlined into other functions and not timed there, such as "a, b, c and 9 others". */
#define PROFILE_ENV_INLINED     "record.also_inlined"
#define PROFILE_ENV_STATIC_KEYS "record.static_keys" /* static keys enabled at the start */
/* Number of runs of each merged recording, separated by commas. Absent in a single recording. */
#define PROFILE_ENV_RECORDINGS "record.recordings"
#define PROFILE_ENV_TIMES      "record.times" /* dates of merged recordings; "": unknown */
#define PROFILE_ENV_UNFINISHED \
	"record.unfinished" /* recorder was killed; counts are of its last checkpoint */
#define PROFILE_ENV_BOOTS "record.boots" /* ids of the boots, with commas; "": unknown */

/* The subject of a key: the kernel, the recording, or the machine and anything else. */
enum profile_env_group {
	PROFILE_ENV_OF_KERNEL,
	PROFILE_ENV_OF_RECORDING,
	PROFILE_ENV_OF_MACHINE
};
enum profile_env_group profile_env_group(const char *key);
