// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/engine/later.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf_common.h>
#include <stdlib.h>
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

/* Those of the object that is being loaded. */
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

void record_laters_deinit(struct record_laters *laters)
{
	for (uint32_t i = 0; i < laters->n_items; i++) {
		if (laters->items[i].fd >= 0)
			close(laters->items[i].fd);
		free(laters->items[i].insns);
		free(laters->items[i].funcs);
	}
	free(laters->items);
	*laters = (struct record_laters){};
}

int record_later_load(const struct record_laters *laters, const struct record_later *later,
		      const struct bpf_insn *insns, enum bpf_attach_type attach, int btf_id,
		      int btf_fd)
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
			   bpf_program__name(later->prog), "GPL", insns, later->n, &opts);
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
		later->fd = record_later_load(laters, later, later->insns, 0, 0, 0);
	return later->fd;
}
