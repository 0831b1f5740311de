// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks: a probe on an instruction of a block counts executions of the block, in the context of the call
 * that executes it. That call is the innermost one of its function: while the function itself runs, only its
 * inlined bodies can be open above its frame; frames of callees there have missed their returns.
 */
#include "frame.h"

SIZED_ARRAY(block_probes, struct engine_block);

/* By shard, probe and context. */
SHARED_ARRAY(block_counts, __u64);

const volatile __u32 n_block_probes __weak = 1;
const volatile __u32 block_shard_shift __weak = 0; /* so many shards of cells are one of blocks */

/* The frame of the innermost call of KEY's function, at top 0 if none is open; *HOPS: frames above it. */
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

SHARED_ARRAY(paths, struct engine_path);

/* Never 0. Collisions between two paths of one recording are negligible. */
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

SHARED_ARRAY(trips, struct engine_trips);

const volatile __u32 trips_mask __weak = 0;

/* Adds a call of KEY with N iterations of its loop LOOP to the loop's histogram; calls with none are not in it. */
__noinline int trips_add(__u32 key, __u32 loop, __u32 n)
{
	__u64 id = ENGINE_TRIPS_ID(key, loop, hist_slot(n)), was;
	__u32 at = path_hash(key, id) >> 20;

	if (!trips_mask)
		return 0;
	for (int i = 0; i < ENGINE_PATH_PROBES; i++, at++) {
		__u32 slot = at & trips_mask;
		struct engine_trips *row = bpf_map_lookup_elem(&trips, &slot);

		if (!row)
			return 0;
		was = __sync_val_compare_and_swap(&row->id, 0, id);
		if (was && was != id)
			continue;
		__sync_fetch_and_add(&row->calls, 1);
		return 0;
	}
	loss_count(ENGINE_LOSS_TRIPS, 1);
	return 0;
}

/* Counts the call of frame F among the uninterrupted ones. */
static __always_inline void uninterrupted_count(const struct engine_task *t,
						const struct engine_frame *f, __u64 raw,
						__u64 excluded)
{
	__u32 key = f->key; /* the verifier does not know that F lies in a map */
	struct engine_cell *c;

	if ((f->calls ^ interrupts_seen() << 1) != 1 || t->offcpu != f->offcpu)
		return;
	c = cell_get(this_cpu(), &key);
	if (!c)
		return;
	__sync_fetch_and_add(&c->uninterrupted, 1);
	__sync_fetch_and_add(&c->uninterrupted_self, raw - f->child);
	__sync_fetch_and_add(&c->uninterrupted_excluded, excluded);
}

/*
 * Counts the innermost call of T, which has returned, under its path. TIME is all of its time, EXCLUDED the
 * part that is not its own, without the inner cost of its own probes. This takes a varying time, so it times
 * itself, including its clock readings.
 */
__noinline int path_close(struct engine_task *t, __u64 time, __u64 excluded)
{
	struct engine_clock start;
	struct engine_frame *f;
	struct engine_path *p;
	__u64 end;

	if (!t)
		return 0;
	start = clock_read(t);
	/* Not called then, but the verifier, up to 6.7, checks it. */
	if (!path_mask)
		return 0;
	f = frame_at(t, t->top);
	p = path_get(f->key, f->signature);
	if (p) {
		__sync_fetch_and_add(&p->calls, 1);
		__sync_fetch_and_add(&p->time, time - excluded);
		for (int i = 0; i < ENGINE_TRIPS; i++)
			__sync_fetch_and_add(&p->trips[i], f->trips >> 16 * i & 0xffff);
	} else {
		loss_count(ENGINE_LOSS_PATHS, 1);
	}
	uninterrupted_count(t, f, time - excluded, excluded);
	for (int i = 0; i < ENGINE_TRIPS; i++)
		if (f->trips >> 16 * i & 0xffff)
			trips_add(f->key, i, f->trips >> 16 * i & 0xffff);
	end = bpf_ktime_get_ns();
	exclude_since(t, &start, bpf_ktime_get_ns() - end + costs[PROFILE_MECH_BLOCK].rest);
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
		at = (cpu->shard >> block_shard_shift) * n_block_probes + probe;
		f = frame_at(t, found);
		f->calls |= 1;
		f->signature |= b->bit;
		if ((f->trips & b->full) != b->full)
			f->trips += b->trip;
		at = at * ENGINE_CONTEXTS + (f->key - b->key);
		count = bpf_map_lookup_elem(&block_counts, &at);
		if (count)
			n = __sync_fetch_and_add(count, 1);
	} else {
		loss_count(ENGINE_LOSS_BLOCKS, 1);
	}
	n = ((n + 1) * b->fraction >> ENGINE_BLOCK_FRACTION) -
	    (n * b->fraction >> ENGINE_BLOCK_FRACTION);
	exclude(t, n + b->cost + b->hop * hops);
	return 0;
}
