// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/engine/later.h"

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

/* The programs of the object that is being loaded. */
static struct record_laters *loading;

/* Called by libbpf with what it is about to load, all of it relocated: it gets to load next to nothing instead. */
static int put_off(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct record_later later = {
		.prog = prog,
		.n = bpf_program__insn_cnt(prog),
		.insns = copy_of(bpf_program__insns(prog), bpf_program__insn_cnt(prog),
				 sizeof(*later.insns)),
		.fd = -1,
	};

	if (opts->func_info_rec_size == sizeof(*later.funcs)) {
		later.n_funcs = opts->func_info_cnt;
		later.funcs = copy_of(opts->func_info, later.n_funcs, sizeof(*later.funcs));
	}
	(void)cookie;
	vec_push(loading, items, later);
	opts->func_info_cnt = opts->line_info_cnt = 0;
	opts->prog_btf_fd = 0;
	return bpf_program__set_insns(prog, nothing, 2);
}

int record_laters_begin(struct record_laters *laters)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = put_off);
	static int
		handler; /* of this process: libbpf 1.1 does not survive it when its last one is taken back */

	loading = laters;
	if (handler <= 0)
		handler = libbpf_register_prog_handler("later", BPF_PROG_TYPE_SOCKET_FILTER, 0,
						       &opts);
	return handler < 0 ? handler : 0;
}

struct record_later record_later_copy(const struct record_later *later)
{
	struct record_later copy = *later;

	copy.insns = copy_of(later->insns, later->n, sizeof(*later->insns));
	copy.funcs = copy_of(later->funcs, later->n_funcs, sizeof(*later->funcs));
	return copy;
}

void record_later_free(struct record_later *copy)
{
	free(copy->insns);
	free(copy->funcs);
}

/* Return the new place of PLACE when MORE instructions are inserted after AT. */
static int64_t moved(int64_t place, size_t at, size_t more)
{
	return place > (int64_t)at ? place + (int64_t)more : place;
}

void record_later_replace(struct record_later *copy, size_t at, const struct bpf_insn *by, size_t n)
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

void record_laters_deinit(struct record_laters *laters)
{
	for (uint32_t i = 0; i < laters->n_items; i++) {
		if (laters->items[i].fd >= 0)
			close(laters->items[i].fd);
		record_later_free(&laters->items[i]);
	}
	free(laters->items);
	*laters = (struct record_laters){};
}

int record_later_load(const struct record_laters *laters, const struct record_later *later,
		      enum bpf_attach_type attach, int btf_id, int btf_fd)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach,
		    .attach_btf_id = btf_id, .attach_btf_obj_fd = btf_fd);
	int fd;

	if (laters->btf_fd >= 0 && later->n_funcs) {
		opts.prog_btf_fd = laters->btf_fd;
		opts.func_info = later->funcs;
		opts.func_info_cnt = later->n_funcs;
		opts.func_info_rec_size = sizeof(*later->funcs);
	}
	fd = bpf_prog_load(btf_id ? BPF_PROG_TYPE_TRACING : BPF_PROG_TYPE_KPROBE,
			   bpf_program__name(later->prog), "GPL", later->insns, later->n, &opts);
	return fd < 0 ? -errno : fd;
}

const struct record_later *record_later_find(const struct record_laters *laters,
					     const struct bpf_program *prog)
{
	for (uint32_t i = 0; i < laters->n_items; i++)
		if (laters->items[i].prog == prog)
			return &laters->items[i];
	return NULL;
}

int record_later_fd(struct record_laters *laters, const struct bpf_program *prog)
{
	struct record_later *later = (struct record_later *)record_later_find(laters, prog);

	if (!later)
		return -ENOENT;
	if (later->fd < 0)
		later->fd = record_later_load(laters, later, 0, 0, 0);
	return later->fd;
}
