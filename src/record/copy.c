// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/copy.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/bpf_common.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "kprotperf/engine.h"
#include "record/calibrate.h"
#include "record/function.h"

/* What stands in function.bpf.c and engine.h for a site's key and for the costs of the pair. */
#define SITE_PLACEHOLDER 0x5173c0de
#define COST_INNER       0x5173c0d1
#define COST_FULL        0x5173c0d2

/* The functions of a program, in the order of their first instructions. */
struct funcs {
	struct bpf_func_info *infos; /* for free() */
	uint32_t n;
	int btf_fd; /* what the infos' types are of */
};

/* Writes what is known for this copy into its instruction; is it SITE's key? */
static bool insn_fill(struct bpf_insn *insn, uint32_t site, const struct record_cost *cost,
		      uint32_t n_args)
{
	if (BPF_CLASS(insn->code) != BPF_ALU && BPF_CLASS(insn->code) != BPF_ALU64)
		return false;
	if (BPF_SRC(insn->code) != BPF_K)
		return false;
	switch (insn->imm) {
	case SITE_PLACEHOLDER:
		insn->imm = ENGINE_KEY(site, 0);
		return true;
	case COST_INNER:
		insn->imm = record_cost_inner(cost, n_args);
		break;
	case COST_FULL:
		insn->imm = record_cost_full(cost, n_args);
		break;
	}
	return false;
}

/*
 * Where the N instructions INSNS call functions of theirs, INFOS learns where these begin: it has them
 * in that order, with the places they have come to in the kernel. False: they are others.
 */
static bool place_funcs(const struct bpf_insn *insns, size_t n, struct bpf_func_info *infos,
			uint32_t n_infos)
{
	bool *begins = alloc_array(n, sizeof(*begins));
	uint32_t found = 0;

	begins[0] = true;
	for (size_t i = 0; i < n; i++) {
		size_t to = i + 1 + insns[i].imm;

		if (insns[i].code == (BPF_JMP | BPF_CALL) && insns[i].src_reg == BPF_PSEUDO_CALL &&
		    to < n)
			begins[to] = true;
	}
	for (size_t i = 0; i < n; i++) {
		if (!begins[i])
			continue;
		if (found < n_infos)
			infos[found].insn_off = i;
		found++;
	}
	free(begins);
	return found == n_infos;
}

/* What the kernel knows of PROG's functions; N 0: nothing. */
static struct funcs funcs_read(const struct bpf_program *prog)
{
	struct bpf_prog_info info = {};
	struct funcs funcs = { .btf_fd = -1 };
	__u32 len = sizeof(info), n;
	uint32_t btf_id;

	if (bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len) || !info.nr_func_info ||
	    info.func_info_rec_size != sizeof(*funcs.infos))
		return funcs;
	n = info.nr_func_info;
	btf_id = info.btf_id;
	funcs.infos = alloc_array(n, sizeof(*funcs.infos));
	info = (struct bpf_prog_info){
		.nr_func_info = n,
		.func_info_rec_size = sizeof(*funcs.infos),
		.func_info = (uintptr_t)funcs.infos,
	};
	if (bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len) || info.nr_func_info != n ||
	    !place_funcs(bpf_program__insns(prog), bpf_program__insn_cnt(prog), funcs.infos, n))
		return funcs;
	funcs.btf_fd = bpf_btf_get_fd_by_id(btf_id);
	if (funcs.btf_fd >= 0)
		funcs.n = n;
	return funcs;
}

/*
 * The kernel is told which functions the copy consists of. It would take it without, but for functions
 * that are global go through each again wherever it is called.
 */
int record_copy_load(const struct bpf_program *prog, uint32_t site,
		     const struct record_target *target, const struct record_cost *cost)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = bpf_program__get_expected_attach_type(prog),
		    .attach_btf_id = target->btf_id, .attach_btf_obj_fd = target->btf_fd);
	size_t n = bpf_program__insn_cnt(prog);
	struct bpf_insn *insns = alloc_array(n, sizeof(*insns));
	struct funcs funcs = funcs_read(prog);
	unsigned int places = 0;
	int fd = -EINVAL;

	memcpy(insns, bpf_program__insns(prog), n * sizeof(*insns));
	for (size_t i = 0; i < n; i++)
		places += insn_fill(&insns[i], site, cost, target->n_args);
	if (funcs.n) {
		opts.prog_btf_fd = funcs.btf_fd;
		opts.func_info = funcs.infos;
		opts.func_info_cnt = funcs.n;
		opts.func_info_rec_size = sizeof(*funcs.infos);
	}
	if (places)
		fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, bpf_program__name(prog), "GPL", insns, n,
				   &opts);
	if (places && fd < 0)
		fd = -errno;
	if (funcs.btf_fd >= 0)
		close(funcs.btf_fd);
	free(funcs.infos);
	free(insns);
	return fd;
}
