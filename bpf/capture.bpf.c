// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture.h"

#define SAMPLE_BUSY 1 /* hash of an entry that is being written */

const volatile __u32 n_captured __weak = 0; /* number of functions whose values are recorded */

/* For each function: number of calls whose values did not fit into the table. Indexed by engine_call.slot. */
__u64 captures_left[ENGINE_CAPTURED] __weak = {};

static __always_inline void row_fill(struct engine_capture *row, const struct engine_call *call)
{
	row->key = call->key;
	row->absent = call->absent;
	for (int i = 0; i < ENGINE_VALUES; i++)
		row->values[i] = call->values[i];
}

/* Find the table entry of CALL by HASH, or claim a free entry. Return NULL if there is none. */
static __always_inline struct engine_capture *row_get(const struct engine_call *call, __u64 hash)
{
	for (int i = 0; i < ENGINE_CAPTURE_PROBES; i++) {
		struct engine_capture *row = capture_row(call, hash, i);
		__u64 was;

		if (!row)
			return NULL;
		was = row->hash;
		if (!was) {
			was = __sync_val_compare_and_swap(&row->hash, 0, hash);
			if (!was)
				row_fill(row, call);
		}
		if (!was || was == hash)
			return row;
	}
	return NULL;
}

/*
 * Sample the calls that are not in the table by Vitter's algorithm R: the Nth call replaces a random call of the sample, or is
 * dropped. If two CPUs replace the same entry at once, one call is dropped.
 */
static __always_inline void sample_add(const struct engine_call *call)
{
	__u64 n = __sync_fetch_and_add(&captures_left[call->slot & (ENGINE_CAPTURED - 1)], 1);
	__u32 at = n < ENGINE_CAPTURE_SAMPLES ? n : (bpf_get_prandom_u32() * (n + 1)) >> 32;
	struct engine_capture *row;
	__u64 was;

	loss_count(ENGINE_LOSS_CAPTURES, 1);
	if (at >= ENGINE_CAPTURE_SAMPLES)
		return;
	at += n_captured * ENGINE_CAPTURE_ROWS + call->slot * ENGINE_CAPTURE_SAMPLES;
	row = bpf_map_lookup_elem(&captures, &at);
	if (!row)
		return;
	was = row->hash;
	if (was == SAMPLE_BUSY || __sync_val_compare_and_swap(&row->hash, was, SAMPLE_BUSY) != was)
		return;
	__builtin_memset(&row->calls, 0, offsetof(struct engine_capture, key) - sizeof(row->hash));
	row_fill(row, call);
	capture_count(row, call->net);
	barrier();
	row->hash = SAMPLE_BUSY + 1;
}

/* Not inlined, so that the verifier checks this function once. */
__noinline int capture_add(struct engine_call *call, __u64 hash)
{
	struct engine_capture *row;

	if (!call)
		return 0;
	row = row_get(call, hash);
	if (row)
		capture_count(row, call->net);
	else
		sample_add(call);
	return 0;
}
