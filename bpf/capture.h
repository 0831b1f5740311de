/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded values of calls: a table entry for each combination of values, and a uniform sample of calls that did not fit. */
#pragma once

#include "frame.h"

SHARED_ARRAY(captures, struct engine_capture);

static __always_inline void capture_count(struct engine_capture *row, __u64 net)
{
	__sync_fetch_and_add(&row->calls, 1);
	__sync_fetch_and_add(&row->time, net);
	net = (__s64)net < 0 ? 0 : net;
	moments_add(&row->sq_lo, net);
	if (net > row->max)
		raise(&row->max, net);
}

/* Return the Ith possible table entry for CALL with HASH. */
static __always_inline struct engine_capture *capture_row(const struct engine_call *call,
							  __u64 hash, __u32 i)
{
	__u32 slot = ((hash >> 20) + i) & (ENGINE_CAPTURE_ROWS - 1);

	slot += call->slot * ENGINE_CAPTURE_ROWS;
	return bpf_map_lookup_elem(&captures, &slot);
}

/* Hash the function, the context and HASH, the hash of CALL's values. Return never 0. Collisions are very rare. */
static __always_inline __u64 capture_hash(const struct engine_call *call, __u64 hash)
{
	hash = (hash ^ call->key) * 0xd6e8feb86659fd93ull;
	return (hash ^ hash >> 32) | 1;
}

int capture_add(struct engine_call *call, __u64 hash); /* in capture.bpf.c */

/* Add CALL, whose frame is T's innermost, to the table. Most calls find their entry at the first try. */
static __always_inline void capture(struct engine_task *t, struct engine_call *call, __u64 hash)
{
	struct engine_capture *row;

	hash = capture_hash(call, hash);
	row = capture_row(call, hash, 0);
	if (row && row->hash == hash)
		capture_count(row, call->net);
	else
		capture_add(call, hash);
}
