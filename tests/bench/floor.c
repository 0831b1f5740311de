// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * floor MECHANISM FUNCTION CMD [ARG...]: run CMD with empty BPF programs attached.
 *
 * The programs' cost is the minimum for any tool that uses the same mechanism: the kernel's call of a program, and `return 0`. No
 * compiler makes the programs, so each has only the two instructions of `return 0`.
 *
 * CMD runs in a child process, because links and events live only while this process keeps their descriptors open.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

_Noreturn static void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void fail(const char *fmt, ...)
{
	int err = errno;
	va_list args;

	fputs("floor: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, ": %s\n", strerror(err));
	exit(1);
}

static int load(enum bpf_prog_type type, enum bpf_attach_type attach, int btf_id)
{
	static const struct bpf_insn empty[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach,
		    .attach_btf_id = btf_id);
	int fd;

	fd = bpf_prog_load(type, "empty", "GPL", empty, sizeof(empty) / sizeof(empty[0]), &opts);
	if (fd < 0)
		fail("cannot load an empty program");
	return fd;
}

static void attach_trace(const char *name, enum bpf_attach_type attach)
{
	int id = libbpf_find_vmlinux_btf_id(name, attach);

	if (id < 0) {
		errno = -id;
		fail("%s is not in the kernel's BTF", name);
	}
	if (bpf_raw_tracepoint_open(NULL, load(BPF_PROG_TYPE_TRACING, attach, id)) < 0)
		fail("cannot attach to %s", name);
}

static void attach_raw(const char *name)
{
	if (bpf_raw_tracepoint_open(name, load(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0)) < 0)
		fail("cannot attach to the raw tracepoint %s", name);
}

/* Return the number in a sysfs file. The text "config:" may precede it. */
static int sysfs_number(const char *path)
{
	char text[64] = "";
	const char *digits;
	FILE *file = fopen(path, "re");

	if (!file || !fgets(text, sizeof(text), file))
		fail("%s", path);
	fclose(file);
	digits = strpbrk(text, "0123456789");
	return digits ? atoi(digits) : 0;
}

static void attach_kprobe(const char *name, int is_return)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = sysfs_number("/sys/bus/event_source/devices/kprobe/type"),
		.kprobe_func = (uintptr_t)name,
	};
	int fd;

	if (is_return)
		attr.config = 1ULL << sysfs_number(
				      "/sys/bus/event_source/devices/kprobe/format/retprobe");
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, load(BPF_PROG_TYPE_KPROBE, 0, 0)) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		fail("cannot attach a kprobe to %s", name);
}

static void attach_multi(const char *name, int is_return)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	int program = load(BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI, 0);

	opts.kprobe_multi.cnt = 1;
	opts.kprobe_multi.syms = &name;
	opts.kprobe_multi.flags = is_return ? BPF_F_KPROBE_MULTI_RETURN : 0;
	if (bpf_link_create(program, 0, BPF_TRACE_KPROBE_MULTI, &opts) < 0)
		fail("cannot attach a kprobe.multi to %s", name);
}

static int attach(const char *how, const char *function)
{
	if (!strcmp(how, "fentry")) {
		attach_trace(function, BPF_TRACE_FENTRY);
		attach_trace(function, BPF_TRACE_FEXIT);
	} else if (!strcmp(how, "kprobe")) {
		attach_kprobe(function, 0);
		attach_kprobe(function, 1);
	} else if (!strcmp(how, "multi")) {
		attach_multi(function, 0);
		attach_multi(function, 1);
	} else if (!strcmp(how, "raw_tp")) {
		attach_raw("sys_enter");
		attach_raw("sys_exit");
	} else if (!strcmp(how, "tp_btf")) {
		attach_trace("sys_enter", BPF_TRACE_RAW_TP);
		attach_trace("sys_exit", BPF_TRACE_RAW_TP);
	} else if (strcmp(how, "none")) {
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc < 4 || attach(argv[1], argv[2])) {
		fputs("usage: floor fentry|kprobe|multi|raw_tp|tp_btf|none FUNCTION CMD [ARG...]\n",
		      stderr);
		return 2;
	}
	pid = fork();
	if (!pid) {
		execvp(argv[3], argv + 3);
		fail("%s", argv[3]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		fail("fork");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
