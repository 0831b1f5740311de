/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values that calls of a function had: one row for each combination, for as many as there is room, and a uniform sample of the
 * calls with others.
 */
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

/* The row number I that a call with that HASH may have. */
static __always_inline struct engine_capture *capture_row(const struct engine_call *call,
							  __u64 hash, __u32 i)
{
	__u32 slot = ((hash >> 20) + i) & (ENGINE_CAPTURE_ROWS - 1);

	slot += call->slot * ENGINE_CAPTURE_ROWS;
	return bpf_map_lookup_elem(&captures, &slot);
}

/* Never 0. Two calls that differ hardly ever have one. */
static __always_inline __u64 capture_hash(const struct engine_call *call, __u64 hash)
{
	hash = (hash ^ call->key) * 0xd6e8feb86659fd93ull;
	return (hash ^ hash >> 32) | 1;
}

int capture_add(struct engine_call *call, __u64 hash); /* capture.bpf.c */

/* Counts CALL, that of T's innermost frame. Most calls find their row at once. */
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
