// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks: a probe on an instruction of a block counts how often the block is executed, in the context of
 * the call that it is executed in. That call is the innermost one of its function: while the function
 * itself runs, nothing can be open above its frame but inlined bodies of it, and what lies there of a
 * callee has missed its return.
 */
#include "engine.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct engine_block);
} block_probes SEC(".maps");

/* By shard, probe and context. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} block_counts SEC(".maps");

const volatile __u32 n_block_probes __weak = 1;
const volatile __u32 n_block_shards __weak = 1; /* a power of two */

/* The frame of the innermost call of KEY's function, at top 0 where none is open; *HOPS: those above it. */
static __always_inline __u32 block_find(struct engine_task *t, __u32 key, __u32 *hops)
{
	__u32 top = t->top, i;

	for (i = 0; i < ENGINE_DEPTH && top; i++) {
		if (frame_at(t, top)->key - key < ENGINE_CONTEXTS)
			break;
		top -= ENGINE_FRAME;
	}
	*hops = i;
	return top;
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct engine_path);
} paths SEC(".maps");

/* Never 0. That two paths of one recording have the same is as good as impossible. */
static __always_inline __u64 path_hash(__u32 key, __u64 signature)
{
	__u64 h = signature ^ (key * 0x9e3779b97f4a7c15ull);

	h = (h ^ h >> 32) * 0xd6e8feb86659fd93ull;
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93ull;
	return (h ^ h >> 32) | 1;
}

static __always_inline struct engine_path *path_get(__u32 key, __u64 signature)
{
	__u64 hash = path_hash(key, signature), was;
	__u32 at = hash >> 20;

	for (int i = 0; i < ENGINE_PATH_PROBES; i++, at++) {
		__u32 slot = at & path_mask;
		struct engine_path *p = bpf_map_lookup_elem(&paths, &slot);

		if (!p)
			return NULL;
		was = p->hash;
		if (!was)
			was = __sync_val_compare_and_swap(&p->hash, 0, hash);
		if (was && was != hash)
			continue;
		p->key = key;
		p->signature = signature;
		return p;
	}
	return NULL;
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct engine_turns);
} turns SEC(".maps");

const volatile __u32 turns_mask __weak = 0;

/* Adds a call of KEY with N turns of its loop LOOP to the loop's histogram; with none it is not in there. */
__noinline int turns_add(__u32 key, __u32 loop, __u32 n)
{
	__u64 id = ENGINE_TURNS_ID(key, loop, hist_slot(n)), was;
	__u32 at = path_hash(key, id) >> 20;

	for (int i = 0; i < ENGINE_PATH_PROBES; i++, at++) {
		__u32 slot = at & turns_mask;
		struct engine_turns *row = bpf_map_lookup_elem(&turns, &slot);

		if (!row)
			return 0;
		was = row->id;
		if (!was)
			was = __sync_val_compare_and_swap(&row->id, 0, id);
		if (was && was != id)
			continue;
		__sync_fetch_and_add(&row->calls, 1);
		return 0;
	}
	loss_count(ENGINE_LOSS_TURNS, 1);
	return 0;
}

/* What it takes besides what lies between its first two readings of the clock and one more reading. */
__u64 path_rest __weak = 0;

/* Counts the call of frame F among those that nothing came in between. */
static __always_inline void quiet_count(const struct engine_task *t, const struct engine_frame *f,
					__u64 raw, __u64 aside)
{
	__u32 key = f->key; /* the verifier does not know that F lies in a map */
	struct engine_cell *c;

	if ((f->calls ^ interrupts_seen() << 1) != 1 || t->offcpu != f->offcpu)
		return;
	c = cell_get(this_cpu(), &key);
	if (!c)
		return;
	__sync_fetch_and_add(&c->quiet, 1);
	__sync_fetch_and_add(&c->quiet_self, raw - f->child);
	__sync_fetch_and_add(&c->quiet_aside, aside);
}

/*
 * Counts the innermost call of T, which has returned, under its path. TIME is all it took, and ASIDE what of
 * that is not its own, but for its own probes' inner cost. What this takes differs, so it times itself, and
 * its clock too.
 */
__noinline int path_close(struct engine_task *t, __u64 time, __u64 aside)
{
	__u64 start = bpf_ktime_get_ns(), end, last;
	struct engine_frame *f;
	struct engine_path *p;

	if (!t)
		return 0;
	f = frame_at(t, t->top);
	p = path_get(f->key, f->signature);
	if (p) {
		__sync_fetch_and_add(&p->calls, 1);
		__sync_fetch_and_add(&p->time, time - aside);
		for (int i = 0; i < ENGINE_TURNS; i++)
			__sync_fetch_and_add(&p->turns[i], f->turns >> 16 * i & 0xffff);
	} else {
		loss_count(ENGINE_LOSS_PATHS, 1);
	}
	quiet_count(t, f, time - aside, aside);
	for (int i = 0; i < ENGINE_TURNS; i++)
		if (f->turns >> 16 * i & 0xffff)
			turns_add(f->key, i, f->turns >> 16 * i & 0xffff);
	end = bpf_ktime_get_ns();
	last = bpf_ktime_get_ns();
	set_aside(t, end - start + (last - end) + (last - end) + path_rest);
	return 0;
}

SEC("kprobe")
int block_count(struct pt_regs *ctx)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);
	__u32 probe, found, hops, at;
	struct engine_block *b;
	struct engine_frame *f;
	__u64 *count, n = 0;

	if (!t)
		return 0;
	probe = bpf_get_attach_cookie(ctx);
	b = bpf_map_lookup_elem(&block_probes, &probe);
	if (!b)
		return 0;
	found = block_find(t, b->key, &hops);
	if (found) {
		at = (cpu->shard & (n_block_shards - 1)) * n_block_probes + probe;
		f = frame_at(t, found);
		f->calls |= 1;
		f->signature |= b->bit;
		if ((f->turns & b->full) != b->full)
			f->turns += b->turn;
		at = at * ENGINE_CONTEXTS + (f->key - b->key);
		count = bpf_map_lookup_elem(&block_counts, &at);
		if (count)
			n = __sync_fetch_and_add(count, 1);
	} else {
		loss_count(ENGINE_LOSS_BLOCKS, 1);
	}
	n = ((n + 1) * b->fraction >> ENGINE_BLOCK_FRACTION) -
	    (n * b->fraction >> ENGINE_BLOCK_FRACTION);
	set_aside(t, n + b->cost + b->hop * hops);
	return 0;
}
