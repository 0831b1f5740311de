// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/engine/saved_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf_common.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

static void *copy_of(const void *items, size_t n, size_t size)
{
	void *copy = alloc_array(n, size);

	if (n)
		memcpy(copy, items, n * size);
	return copy;
}

static struct record_saved_programs *loading;

/* libbpf calls this when instructions are relocated. Save the instructions, and let libbpf load a stub in place of them. */
static int put_off(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct record_saved_program saved = {
		.prog = prog,
		.n = bpf_program__insn_cnt(prog),
		.insns = copy_of(bpf_program__insns(prog), bpf_program__insn_cnt(prog),
				 sizeof(*saved.insns)),
		.fd = -1,
	};

	if (opts->func_info_rec_size == sizeof(*saved.funcs)) {
		saved.n_funcs = opts->func_info_cnt;
		saved.funcs = copy_of(opts->func_info, saved.n_funcs, sizeof(*saved.funcs));
	}
	(void)cookie;
	vec_push(loading, items, saved);
	opts->func_info_cnt = opts->line_info_cnt = 0;
	opts->prog_btf_fd = 0;
	return bpf_program__set_insns(prog, nothing, 2);
}

int record_saved_programs_begin(struct record_saved_programs *saved_programs)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = put_off);
	/* Registered once per process, and never unregistered: libbpf 1.1 crashes when the last handler is unregistered. */
	static int handler;

	loading = saved_programs;
	if (handler <= 0)
		handler =
			libbpf_register_prog_handler("save", BPF_PROG_TYPE_SOCKET_FILTER, 0, &opts);
	return handler < 0 ? handler : 0;
}

struct record_saved_program record_saved_copy(const struct record_saved_program *saved)
{
	struct record_saved_program copy = *saved;

	copy.insns = copy_of(saved->insns, saved->n, sizeof(*saved->insns));
	copy.funcs = copy_of(saved->funcs, saved->n_funcs, sizeof(*saved->funcs));
	return copy;
}

void record_saved_free(struct record_saved_program *copy)
{
	free(copy->insns);
	free(copy->funcs);
}

/* Return the index that instruction PLACE gets if MORE instructions are inserted behind instruction AT. */
static int64_t moved(int64_t place, size_t at, size_t more)
{
	return place > (int64_t)at ? place + (int64_t)more : place;
}

void record_saved_replace(struct record_saved_program *copy, size_t at, const struct bpf_insn *by,
			  size_t n)
{
	size_t more = n - 1;

	for (size_t i = 0; i < copy->n; i++) {
		struct bpf_insn *insn = &copy->insns[i];
		uint8_t op = BPF_OP(insn->code), class = BPF_CLASS(insn->code);
		int64_t next = (int64_t)i + 1, now = moved((int64_t)i, at, more) + 1;

		if (insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL)
			insn->imm = (int32_t)(moved(next + insn->imm, at, more) - now);
		else if ((class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL &&
			 op != BPF_EXIT)
			insn->off = (int16_t)(moved(next + insn->off, at, more) - now);
	}
	for (uint32_t i = 0; i < copy->n_funcs; i++)
		copy->funcs[i].insn_off = (uint32_t)moved(copy->funcs[i].insn_off, at, more);
	copy->insns = alloc_resize(copy->insns, copy->n + more, sizeof(*copy->insns));
	memmove(&copy->insns[at + n], &copy->insns[at + 1],
		(copy->n - at - 1) * sizeof(*copy->insns));
	memcpy(&copy->insns[at], by, n * sizeof(*by));
	copy->n += more;
}

void record_saved_programs_deinit(struct record_saved_programs *saved_programs)
{
	for (uint32_t i = 0; i < saved_programs->n_items; i++) {
		if (saved_programs->items[i].fd >= 0)
			close(saved_programs->items[i].fd);
		record_saved_free(&saved_programs->items[i]);
	}
	free(saved_programs->items);
	*saved_programs = (struct record_saved_programs){};
}

int record_saved_load(const struct record_saved_programs *saved_programs,
		      const struct record_saved_program *saved, enum bpf_attach_type attach,
		      int btf_id, int btf_fd)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach,
		    .attach_btf_id = btf_id, .attach_btf_obj_fd = btf_fd);
	int fd;

	if (saved_programs->btf_fd >= 0 && saved->n_funcs) {
		opts.prog_btf_fd = saved_programs->btf_fd;
		opts.func_info = saved->funcs;
		opts.func_info_cnt = saved->n_funcs;
		opts.func_info_rec_size = sizeof(*saved->funcs);
	}
	fd = bpf_prog_load(btf_id ? BPF_PROG_TYPE_TRACING : BPF_PROG_TYPE_KPROBE,
			   bpf_program__name(saved->prog), "GPL", saved->insns, saved->n, &opts);
	return fd < 0 ? -errno : fd;
}

const struct record_saved_program *
record_saved_find(const struct record_saved_programs *saved_programs,
		  const struct bpf_program *prog)
{
	for (uint32_t i = 0; i < saved_programs->n_items; i++)
		if (saved_programs->items[i].prog == prog)
			return &saved_programs->items[i];
	return NULL;
}

int record_saved_fd(struct record_saved_programs *saved_programs, const struct bpf_program *prog)
{
	struct record_saved_program *saved =
		(struct record_saved_program *)record_saved_find(saved_programs, prog);

	if (!saved)
		return -ENOENT;
	if (saved->fd < 0)
		saved->fd = record_saved_load(saved_programs, saved, 0, 0, 0);
	return saved->fd;
}
