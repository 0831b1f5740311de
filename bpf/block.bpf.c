// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Count executions of basic blocks. A kprobe in a block adds to the block's count in the context of the innermost open call of its
 * function. Above the frame of this call may be frames of inlined functions. Frames of callees above it are left over from missed
 * returns.
 */
#include "frame.h"

SIZED_ARRAY(block_probes, struct engine_block);

/* Counts of blocks: an element for each shard (copy for a group of CPUs), probe and context. */
SHARED_ARRAY(block_counts, __u64);

const volatile __u32 n_block_probes __weak = 1;
const volatile __u32 block_shard_shift __weak = 0; /* log2(shards of cells / shards of blocks) */

/* Return the top of the frame of the innermost call of KEY's function (0: none), and the number of frames above it in *PASSED. */
static __always_inline __u32 block_find(struct engine_task *t, __u32 key, __u32 *passed)
{
	__u32 top = t->top, i;

	for (i = 0; i < ENGINE_DEPTH && top; i++) {
		if (frame_at(t, top)->key - key < ENGINE_CONTEXTS)
			break;
		top -= ENGINE_FRAME;
	}
	*passed = i;
	return top;
}

SEC("kprobe")
int block_count(struct pt_regs *ctx)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);
	__u32 probe, found, passed, at;
	struct engine_block *b;
	__u64 *count, n = 0;

	if (!t)
		return 0;
	probe = bpf_get_attach_cookie(ctx);
	b = bpf_map_lookup_elem(&block_probes, &probe);
	if (!b)
		return 0;
	found = block_find(t, b->key, &passed);
	if (found) {
		at = (cpu->shard >> block_shard_shift) * n_block_probes + probe;
		at = at * ENGINE_CONTEXTS + (frame_at(t, found)->key - b->key);
		count = bpf_map_lookup_elem(&block_counts, &at);
		if (count)
			n = __sync_fetch_and_add(count, 1);
	} else {
		loss_count(ENGINE_LOSS_BLOCKS, 1);
	}
	n = ((n + 1) * b->fraction >> ENGINE_BLOCK_FRACTION) -
	    (n * b->fraction >> ENGINE_BLOCK_FRACTION);
	exclude(t, n + b->cost + b->per_frame * passed);
	return 0;
}
