/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of a profile's environment. */
#pragma once

/*
 * "kernel.config" holds the whole text of /proc/config.gz. diff compares PROFILE_ENV_STATIC_KEYS and all keys that do not begin
 * with "record.".
 */
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
#define PROFILE_ENV_TRACERS     "machine.tracers" /* tracing by others: "2 functions (a, b)" */
#define PROFILE_ENV_MITIGATION  "mitigation." /* + file name under vulnerabilities/ */
#define PROFILE_ENV_SYSCALLS \
	"workload.syscalls" /* the syscalls measured, with commas; none: all, and page faults */
#define PROFILE_ENV_TIME        "record.time" /* date of the recording, ISO 8601, UTC */
#define PROFILE_ENV_TOOL        "record.tool" /* "kprotperf 0.1.0" */
#define PROFILE_ENV_TRACE       "record.trace" /* "FUNC:N", the call that was kept whole */
#define PROFILE_ENV_MODEL       "model.name" /* model of the CPU's caches; none: not modelled */
#define PROFILE_ENV_CYCLES      "model.cycles" /* "l1i=10 l1d=10 ...": cycles that each event adds */
#define PROFILE_ENV_ENGINE      "record.engine" /* PROFILE_ENGINE_EXACT; absent: probes */
#define PROFILE_ENGINE_EXACT    "exact" /* the lab's emulator counted all instructions */
#define PROFILE_ENV_PROTECTION  "record.protection." /* + protection's name: its state */
#define PROFILE_ENV_PAGE_FAULTS "record.page_faults" /* the mechanism that timed [page_fault] */
#define PROFILE_ENV_CLOCK_STEP  "record.clock_step" /* clock's resolution in ns, if above 10 us */
/* Probes whose cost differed before and after the runs: "tracepoint 115 ns, then 160". */
#define PROFILE_ENV_DRIFT    "record.drift"
#define PROFILE_ENV_MODULE   "record.module." /* + name: build-id of a module in stacks */
#define PROFILE_ENV_PROGRAMS "record.programs" /* others' BPF programs, loaded during a run */
#define PROFILE_ENV_TASKS    "record.tasks" /* "all", "cgroup", "process"; none: the command's */
#define PROFILE_ENV_TARGET   "record.target" /* name of the process of -p, or of the cgroup */
#define PROFILE_ENV_VMLINUX  "record.vmlinux" /* path of the kernel's image */
#define PROFILE_ENV_SYMBOLS  "record.symbols" /* source of names: "dwarf", "symtab", "kallsyms" */
/* Timed functions that are also inlined into others, where they were not timed: "a", "a, b, c and 9 others". */
#define PROFILE_ENV_INLINED     "record.also_inlined"
#define PROFILE_ENV_STATIC_KEYS "record.static_keys" /* kernel_static_keys_on() at the start */
/* The number of runs of each merged recording, in their order, separated by commas; absent in a single recording. */
#define PROFILE_ENV_RECORDINGS "record.recordings"
#define PROFILE_ENV_TIMES      "record.times" /* dates of the recordings; "" where unknown */
#define PROFILE_ENV_UNFINISHED \
	"record.unfinished" /* the recorder was killed: counts are those of its last checkpoint */
/* The id of each boot, in the order of their numbers; "" if unknown. */
#define PROFILE_ENV_BOOTS "record.boots" /* separated by commas */

/* The subject of a key: the kernel, the recording, or anything else (mostly the machine). */
enum profile_env_group {
	PROFILE_ENV_OF_KERNEL,
	PROFILE_ENV_OF_RECORDING,
	PROFILE_ENV_OF_MACHINE
};
enum profile_env_group profile_env_group(const char *key);
