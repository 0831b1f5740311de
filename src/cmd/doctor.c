// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "record/engine/features.h"
#include "record/engine/load.h"
#include "record/target/symbols.h"

/* Print one line: "yes" or "no", WHAT was checked and, if not OK, the REMEDY. Return OK. */
static bool check(bool ok, const char *what, const char *remedy)
{
	printf("  %-4s %-34s %s\n", ok ? "yes" : "no", what, ok ? "" : remedy);
	return ok;
}

static bool can_sample(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Return whether the kernel has an index of inlined functions and lines. Print its path, or how to get one. */
static bool check_index(const struct record_symbols *symbols, struct kernel_image *image)
{
	struct kernel_index *index = NULL;

	kernel_index_find(&symbols->kernel.build_id, image, &index);
	if (index)
		printf("  %-4s %-34s %s\n", "yes", "index of inlined bodies and lines",
		       kernel_index_path(index));
	else
		check(false, "index of inlined bodies and lines",
		      image && kernel_image_has_dwarf(image) ?
			      "created on first use (or by kprotperf index VMLINUX)" :
			      "needs a vmlinux with DWARF");
	kernel_index_destroy(index);
	return index;
}

/* Check for kallsyms, tracefs, debugfs and this kernel's vmlinux, which are sources of names and lines. */
static void check_symbols(void)
{
	scoped(record_symbols_deinit) struct record_symbols symbols;
	struct kernel_image *image = NULL;
	bool has_index;

	if (record_symbols_init(&symbols, NULL, NULL)) {
		check(false, "kernel symbols", "run as root");
	} else {
		check(true, "kernel symbols", "");
		record_symbols_load_functions(&symbols);
		check(symbols.tracing && kernel_tracing_ftrace_known(symbols.tracing),
		      "list of traceable functions",
		      "mount tracefs: mount -t tracefs nodev /sys/kernel/tracing");
		check(symbols.tracing && kernel_tracing_blacklist_known(symbols.tracing),
		      "kprobe blacklist",
		      "mount debugfs: mount -t debugfs nodev /sys/kernel/debug");
		record_symbols_image(&symbols, &image);
		has_index = check_index(&symbols, image);
		check(image && kernel_image_has_dwarf(image), "vmlinux with DWARF",
		      symbols.kernel.why_not ?:
			      "install the kernel's debug package (Debian: linux-image-$(uname -r)-dbg)");
		if (has_index && !image)
			log_note("%s", record_symbols_vmlinux_missing);
	}
}

/* Print a summary. Recommend the lab if functions cannot be timed. */
static void print_verdict(const struct record_features *f, bool syscalls, bool functions,
			  bool samples)
{
	static const char *const can[2][2] = {
		{ "syscalls, not functions and samples", "syscalls and samples, not functions" },
		{ "syscalls and functions, not samples", "syscalls, functions and samples" },
	};
	const char *why_not = f->modules ? "run with sudo" :
			      f->lockdown[0] && strcmp(f->lockdown, "none") != 0 ?
					   "kernel lockdown" :
					   "see below";

	if (syscalls && functions && samples)
		printf("can measure %s\n", can[true][true]);
	else if (syscalls)
		printf("can measure %s: %s\n", can[functions][samples], why_not);
	else
		printf("can read recordings, not make them: %s\n", why_not);
	if (!functions && !f->modules)
		printf("To time functions, use a guest: kprotperf-lab (scripts/lab) run -- CMD\n");
}

int cmd_doctor(int argc, char **argv)
{
	static const struct cmd_option none = { 0 };
	static const struct cmd_syntax syntax = {
		.options = &none,
		.doc = "Check what kprotperf can measure on this machine, and show how to enable "
		       "the rest."
	};
	struct record_features f;
	bool syscalls, functions, samples;
	scoped_free char *rows = NULL;
	size_t size;
	FILE *out = stdout;
	int err;

	cmd_parse(&syntax, argc, argv, NULL);
	record_features_probe(&f);
	/* Collect the lines in memory, to print the summary before them. */
	stdout = open_memstream(&rows, &size) ?: out;
	printf("Required to record:\n");
	syscalls = check(!f.modules, "privileges", "run with sudo; " RECORD_CAPABILITIES);
	syscalls &= check(f.btf, "kernel BTF", "needs a kernel with CONFIG_DEBUG_INFO_BTF=y");
	syscalls &= check(!f.bpf, "BPF tracing programs", record_features_why_not_bpf(&f));
	printf("To time functions, one of:\n");
	functions = check(!f.fentry, "fentry/fexit", record_features_why_not_fentry(&f));
	record_features_try_multi(&f, 0);
	functions |=
		check(!f.multi, "kprobe.multi/kretprobe.multi", record_features_why_not_multi(&f));
	functions |=
		check(!f.kprobe && !f.ftrace, "kprobe/kretprobe",
		      record_features_why_not_kprobe(&f) ?: record_features_why_not_ftrace(&f));
	printf("BPF programs, to record and to time functions:\n");
	err = f.bpf ? 0 : record_bpf_try(&f);
	check(!f.bpf && !err, "record's BPF programs load",
	      f.bpf ? "not tried" : record_bpf_advice(err));
	check(!f.interpreted, "JIT compiler for BPF programs",
	      "the kernel interprets them, which takes longer: " RECORD_COMPILE_BPF);
	printf("For samples and names:\n");
	samples = check(can_sample(), "CPU clock sampler",
			"lower kernel.perf_event_paranoid, or run as root");
	check_symbols();
	printf("To compare kernels without rebooting this machine:\n");
	check(access("/usr/bin/qemu-system-x86_64", X_OK) == 0, "QEMU for the lab",
	      "install it with scripts/setup, then run scripts/lab build");
	if (f.lockdown[0])
		printf("Kernel lockdown: %s\n", f.lockdown);
	if (stdout != out)
		fclose(stdout);
	stdout = out;
	print_verdict(&f, syscalls && !err, functions, samples);
	fputs(rows ?: "", stdout);
	return err ? CMD_FAILED : CMD_DONE;
}
