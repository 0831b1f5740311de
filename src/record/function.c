// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/function.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kprotperf.skel.h"

/* What function.bpf.c moves into the register of the site's number. */
#define SITE_PLACEHOLDER 0x5173c0de

#define KPROBE_PMU "/sys/bus/event_source/devices/kprobe/"

struct record_functions {
	struct kprotperf_bpf *skel;
	enum profile_mechanism last;
	/* fentry: programs and links as bare descriptors, since libbpf knows nothing of copies */
	int *progs;
	uint32_t n_progs, cap_progs;
	int *fds;
	uint32_t n_fds, cap_fds;
	/* kprobes */
	struct bpf_link **links;
	uint32_t n_links, cap_links;
	int kprobe_type; /* of the perf PMU; 0: not asked yet, or negative errno */
	int retprobe_bit;
};

struct record_functions *record_functions_create(struct kprotperf_bpf *skel)
{
	struct record_functions *f = alloc_new(struct record_functions);

	f->skel = skel;
	return f;
}

void record_functions_destroy(struct record_functions *f)
{
	if (!f)
		return;
	record_functions_detach(f);
	while (f->n_progs)
		close(f->progs[--f->n_progs]);
	free(f->progs);
	free(f->fds);
	free(f->links);
	free(f);
}

/* A copy of PROG with SITE written into it, for TARGET; the descriptor. */
static int copy_load(const struct bpf_program *prog, uint32_t site,
		     const struct record_target *target)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = bpf_program__get_expected_attach_type(prog),
		    .attach_btf_id = target->btf_id, .attach_btf_obj_fd = target->btf_fd);
	size_t n = bpf_program__insn_cnt(prog);
	struct bpf_insn *insns = alloc_array(n, sizeof(*insns));
	unsigned int places = 0;
	int fd;

	memcpy(insns, bpf_program__insns(prog), n * sizeof(*insns));
	for (size_t i = 0; i < n; i++) {
		if (BPF_CLASS(insns[i].code) != BPF_ALU && BPF_CLASS(insns[i].code) != BPF_ALU64)
			continue;
		if (BPF_OP(insns[i].code) != BPF_MOV || insns[i].imm != SITE_PLACEHOLDER)
			continue;
		insns[i].imm = site;
		places++;
	}
	if (!places) {
		free(insns);
		return -EINVAL;
	}
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, bpf_program__name(prog), "GPL", insns, n, &opts);
	if (fd < 0)
		fd = -errno;
	free(insns);
	return fd;
}

/* Loads and attaches one half of the pair: both descriptors are kept. */
static int fentry_attach_half(struct record_functions *f, const struct bpf_program *prog,
			      uint32_t site, const struct record_target *target)
{
	int fd, link;

	fd = copy_load(prog, site, target);
	if (fd < 0)
		return fd;
	link = bpf_raw_tracepoint_open(NULL, fd);
	if (link < 0) {
		link = -errno;
		close(fd);
		return link;
	}
	vec_push(f, progs, fd);
	vec_push(f, fds, link);
	return 0;
}

static void fentry_detach_half(struct record_functions *f)
{
	close(f->fds[--f->n_fds]);
	close(f->progs[--f->n_progs]);
}

static int fentry_attach(struct record_functions *f, uint32_t site,
			 const struct record_target *target)
{
	int err;

	err = fentry_attach_half(f, f->skel->progs.function_fexit, site, target);
	if (err)
		return err;
	err = fentry_attach_half(f, f->skel->progs.function_fentry, site, target);
	if (err)
		fentry_detach_half(f);
	return err;
}

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

static int kprobe_pmu(struct record_functions *f)
{
	if (!f->kprobe_type) {
		f->kprobe_type = read_number(KPROBE_PMU "type", "%d");
		f->retprobe_bit = read_number(KPROBE_PMU "format/retprobe", "config:%d");
		if (f->retprobe_bit < 0)
			f->kprobe_type = f->retprobe_bit;
	}
	return f->kprobe_type < 0 ? f->kprobe_type : 0;
}

/*
 * By address, not by name: names can be those of several functions. An unoptimized detour, such as
 * a probe in front of which sits a jump label, is the kernel's business.
 */
static struct bpf_link *kprobe_attach_half(struct record_functions *f, struct bpf_program *prog,
					   bool on_return, uint64_t addr, uint32_t site)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = site);
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = f->kprobe_type,
		.config = on_return ? 1ull << f->retprobe_bit : 0,
		.config1 = 0, /* kprobe_func */
		.config2 = addr,
	};
	struct bpf_link *link;
	int fd, err;

	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return NULL;
	link = bpf_program__attach_perf_event_opts(prog, fd, &opts);
	if (!link) {
		err = errno;
		close(fd);
		errno = err;
	}
	return link;
}

static int kprobe_attach(struct record_functions *f, uint32_t site, uint64_t addr)
{
	struct bpf_link *on_return, *on_entry;
	int err;

	err = kprobe_pmu(f);
	if (err)
		return err;
	on_return = kprobe_attach_half(f, f->skel->progs.function_kretprobe, true, addr, site);
	if (!on_return)
		return -errno;
	on_entry = kprobe_attach_half(f, f->skel->progs.function_kprobe, false, addr, site);
	if (!on_entry) {
		err = -errno;
		bpf_link__destroy(on_return);
		return err;
	}
	vec_push(f, links, on_return);
	vec_push(f, links, on_entry);
	return 0;
}

int record_functions_attach(struct record_functions *f, uint32_t site, enum profile_mechanism mech,
			    const struct record_target *target)
{
	f->last = mech;
	switch (mech) {
	case PROFILE_MECH_FENTRY:
		return fentry_attach(f, site, target);
	case PROFILE_MECH_KPROBE:
		return kprobe_attach(f, site, target->addr);
	default:
		return -EINVAL;
	}
}

void record_functions_detach_last(struct record_functions *f)
{
	for (int half = 0; half < 2; half++)
		if (f->last == PROFILE_MECH_FENTRY)
			fentry_detach_half(f);
		else
			bpf_link__destroy(f->links[--f->n_links]);
}

void record_functions_detach(struct record_functions *f)
{
	if (!f)
		return;
	while (f->n_links)
		bpf_link__destroy(f->links[--f->n_links]);
	while (f->n_fds)
		close(f->fds[--f->n_fds]);
}

uint64_t record_functions_misses(const struct record_functions *f, uint64_t (*misses)(int prog_fd))
{
	uint64_t sum = 0;

	if (f)
		for (uint32_t i = 0; i < f->n_progs; i++)
			sum += misses(f->progs[i]);
	return sum;
}
