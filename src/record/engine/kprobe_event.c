// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/engine/kprobe_event.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KPROBE_PMU "/sys/bus/event_source/devices/kprobe/"

static int read_number(const char *path, const char *fmt)
{
	FILE *file = fopen(path, "re");
	int n;

	if (!file)
		return -errno;
	if (fscanf(file, fmt, &n) != 1)
		n = -EINVAL;
	fclose(file);
	return n;
}

int record_kprobe_open(uint64_t addr, bool on_return)
{
	static int type, retprobe_bit; /* numbers that sysfs gives for kprobes; 0: not read yet */
	struct perf_event_attr attr = { .size = sizeof(attr), .config2 = addr };
	int fd;

	if (type <= 0) {
		type = read_number(KPROBE_PMU "type", "%d");
		retprobe_bit = read_number(KPROBE_PMU "format/retprobe", "config:%d");
	}
	if (type < 0)
		return type;
	if (retprobe_bit < 0)
		return retprobe_bit;
	attr.type = type;
	attr.config = on_return ? 1ull << retprobe_bit : 0;
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int record_kprobe_link(int prog, int event, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);
	int link = bpf_link_create(prog, event, BPF_PERF_EVENT, &opts), err;

	if (link >= 0 && !ioctl(event, PERF_EVENT_IOC_ENABLE, 0))
		return link;
	err = -errno;
	if (link >= 0)
		close(link);
	return err;
}

int record_kprobe_attach(int prog, uint64_t addr, bool on_return, uint64_t cookie)
{
	int event = prog < 0 ? prog : record_kprobe_open(addr, on_return), link;

	if (event < 0)
		return event;
	link = record_kprobe_link(prog, event, cookie);
	close(event);
	return link;
}

int record_kprobe_try(uint64_t addr)
{
	int fd = record_kprobe_open(addr, false);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}
