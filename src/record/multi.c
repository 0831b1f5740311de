// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/multi.h"

#include <asm/ptrace.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "record/features.h"

/* The kernel's own test function, which running an unattached fentry program calls once. */
#define EMPTY_FUNCTION "bpf_fentry_test1"

/* Further away no stack pointer of the same call is: the registers, and a frame. */
#define MAX_DISTANCE 1024

/* The kernel's hash_long(), and the sizes of an ftrace_hash while it is filled and at most. */
#define GOLDEN    0x61c8864680b583ebull
#define FILL_BITS 10
#define MAX_BITS  12

#define N_INSNS(insns) (sizeof(insns) / sizeof((insns)[0]))

#if defined(__x86_64__)
#define SP_OFFSET offsetof(struct pt_regs, rsp)
#elif defined(__aarch64__)
#define SP_OFFSET offsetof(struct user_pt_regs, sp)
#endif

/* What the programs write: one value of a map for each half. */
struct seen {
	uint64_t sp;
	uint64_t hits;
};

enum half {
	ON_ENTRY,
	ON_RETURN,
	N_HALVES
};

struct trial {
	unsigned long addr; /* of the function; 0: not known */
	int map;
	int run; /* the program whose run calls the function */
	int progs[N_HALVES], links[N_HALVES];
};

#ifdef SP_OFFSET
/* seen[half].sp = ctx->sp; seen[half].hits++ */
static int load_half(int map, enum half half)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_DW,
		  .dst_reg = BPF_REG_0,
		  .src_reg = BPF_REG_1,
		  .off = SP_OFFSET },
		{ .code = BPF_LD | BPF_IMM | BPF_DW,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE,
		  .imm = map },
		{ .imm = half * sizeof(struct seen) },
		{ .code = BPF_STX | BPF_MEM | BPF_DW,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_0,
		  .off = offsetof(struct seen, sp) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_0,
		  .off = offsetof(struct seen, hits),
		  .imm = BPF_ADD },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_KPROBE_MULTI);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "kprotperf_try", "GPL", insns, N_INSNS(insns),
			       &opts);

	return fd < 0 ? -errno : fd;
}
#else
static int load_half(int map, enum half half)
{
	(void)map;
	(void)half;
	return -EOPNOTSUPP;
}
#endif

static int attach_half(const struct trial *t, enum half half, uint32_t repeat)
{
	const char *syms[] = { EMPTY_FUNCTION };
	const unsigned long addrs[] = { t->addr, t->addr };
	LIBBPF_OPTS(bpf_link_create_opts, opts, .kprobe_multi.syms = t->addr ? NULL : syms,
		    .kprobe_multi.addrs = t->addr ? addrs : NULL, .kprobe_multi.cnt = repeat,
		    .kprobe_multi.flags = half == ON_RETURN ? BPF_F_KPROBE_MULTI_RETURN : 0);
	int fd = bpf_link_create(t->progs[half], 0, BPF_TRACE_KPROBE_MULTI, &opts);

	return fd < 0 ? -errno : fd;
}

/* Calls the function once, its address being given REPEAT times: what both halves SAW. */
static int try_once(struct trial *t, uint32_t repeat, struct seen saw[N_HALVES])
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct seen zero[N_HALVES] = {};
	uint32_t key = 0;
	int err;

	if (bpf_map_update_elem(t->map, &key, zero, BPF_ANY))
		return -errno;
	for (int half = N_HALVES; half-- > 0;) {
		t->links[half] = attach_half(t, half, repeat);
		if (t->links[half] < 0) {
			err = t->links[half];
			goto out;
		}
	}
	err = bpf_prog_test_run_opts(t->run, &run) ? -errno : 0;
out:
	for (int half = 0; half < N_HALVES; half++) {
		if (t->links[half] >= 0)
			close(t->links[half]);
		t->links[half] = -1;
	}
	if (!err && bpf_map_lookup_elem(t->map, &key, saw))
		err = -errno;
	return err;
}

static int try_all(struct trial *t, struct record_multi *m)
{
	struct seen saw[N_HALVES];
	uint32_t repeat = t->addr ? 2 : 1;
	int err = try_once(t, repeat, saw);

	if (err && repeat > 1)
		err = try_once(t, repeat = 1, saw);
	if (err)
		return err;
	m->sp = saw[ON_RETURN].sp - saw[ON_ENTRY].sp;
	m->repeats = repeat > 1 && saw[ON_ENTRY].hits == 1 && saw[ON_RETURN].hits == 1;
	return saw[ON_ENTRY].hits && saw[ON_RETURN].hits && m->sp <= MAX_DISTANCE &&
			       m->sp >= -MAX_DISTANCE ?
		       0 :
		       -ENODATA;
}

int record_multi_try(uint64_t addr, struct record_multi *m)
{
	struct trial t = {
		.addr = addr, .map = -1, .run = -1, .progs = { -1, -1 }, .links = { -1, -1 }
	};
	int err;

	*m = (struct record_multi){};
	t.map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "kprotperf_try", sizeof(uint32_t),
			       N_HALVES * sizeof(struct seen), 1, NULL);
	err = t.map < 0 ? -errno : 0;
	for (int half = 0; !err && half < N_HALVES; half++) {
		t.progs[half] = load_half(t.map, half);
		err = t.progs[half] < 0 ? t.progs[half] : 0;
	}
	if (!err) {
		t.run = record_features_load_empty(EMPTY_FUNCTION, BPF_TRACE_FENTRY);
		err = t.run < 0 ? t.run : try_all(&t, m);
	}
	for (int half = 0; half < N_HALVES; half++)
		if (t.progs[half] >= 0)
			close(t.progs[half]);
	if (t.run >= 0)
		close(t.run);
	if (t.map >= 0)
		close(t.map);
	return err;
}

/* Lists of items by a hash of their addresses, the latest first; 0 ends a list, item I is I + 1. */
struct lists {
	uint32_t bits;
	uint32_t *first, *next;
};

static struct lists lists_new(uint32_t bits, uint32_t n)
{
	return (struct lists){
		.bits = bits,
		.first = alloc_array((size_t)1 << bits, sizeof(uint32_t)),
		.next = alloc_array((size_t)n + 1, sizeof(uint32_t)),
	};
}

static void lists_free(struct lists *l)
{
	free(l->first);
	free(l->next);
}

static void lists_add(struct lists *l, uint64_t addr, uint32_t item)
{
	uint32_t *first = &l->first[l->bits ? addr * GOLDEN >> (64 - l->bits) : 0];

	l->next[item] = *first;
	*first = item;
}

/* The kernel's choice for a table of N. */
static uint32_t hash_bits(uint32_t n)
{
	uint32_t bits = 0;

	while (n /= 2)
		bits++;
	return bits < MAX_BITS ? bits : MAX_BITS;
}

/* A link's functions are put into one table, and from there, list by list, into one that fits. */
void record_multi_hops(const uint64_t *addrs, uint32_t n, uint32_t *hops)
{
	struct lists fill = lists_new(FILL_BITS, n), kept = lists_new(hash_bits(n), n);

	for (uint32_t i = 0; i < n; i++)
		lists_add(&fill, addrs[i], i + 1);
	for (uint32_t list = 0; list < 1u << fill.bits; list++)
		for (uint32_t item = fill.first[list]; item; item = fill.next[item])
			lists_add(&kept, addrs[item - 1], item);
	for (uint32_t list = 0; list < 1u << kept.bits; list++) {
		uint32_t passed = 0;

		for (uint32_t item = kept.first[list]; item; item = kept.next[item])
			hops[item - 1] = passed++;
	}
	lists_free(&fill);
	lists_free(&kept);
}
