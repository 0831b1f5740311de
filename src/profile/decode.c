// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decoding looks at the form of what it reads; whether it makes sense (indices, kinds, order) is
 * section_check()'s to say, once the section is decoded.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "kprotperf/hist.h"
#include "profile/section.h"

static const char duplicate[] = "has the same entry twice";

static const char *get_string(struct wire_in *in, const struct section_decoder *d)
{
	uint64_t number = wire_get_varint(in);

	if (number > d->n_strings) {
		wire_fail(in, "refers to a string that is not there");
		return NULL;
	}
	return number ? d->strings[number - 1] : NULL;
}

static void decode_strings(struct wire_in *in, struct section_decoder *d)
{
	uint32_t i, n = wire_get_n(in, 1);

	for (i = 0; i < n; i++) {
		uint64_t len = wire_get_varint(in);
		const char *bytes = (const char *)wire_get(in, len);

		if (!bytes)
			return;
		if (memchr(bytes, '\0', len))
			return wire_fail(in, "has a string with a NUL inside");
		vec_push(d, strings,
			 profile_strings_get(d->p->strings,
					     profile_strings_add(d->p->strings, bytes, len)));
	}
}

static void decode_recording(struct wire_in *in, struct section_decoder *d)
{
	struct profile *p = d->p;
	uint32_t i, n;

	p->clock = wire_get_u32(in);
	p->freq = wire_get_u32(in);
	p->sample_period = wire_get_varint(in);
	n = wire_get_n(in, 1);
	for (i = 0; i < n && !in->error; i++)
		profile_arg_add(p, get_string(in, d));
}

static void decode_environment(struct wire_in *in, struct section_decoder *d)
{
	uint32_t i, n = wire_get_n(in, 2);

	/* Keys are searched for from end to end: that is meant for dozens. */
	if (n > FILE_ENVS_MAX)
		return wire_fail(in, "has too many entries");
	for (i = 0; i < n && !in->error; i++) {
		const char *key = get_string(in, d), *value = get_string(in, d);

		if (in->error)
			return;
		profile_env_set(d->p, key, value);
		if (d->p->n_envs != i + 1)
			return wire_fail(in, duplicate);
	}
}

static void decode_sites(struct wire_in *in, struct section_decoder *d)
{
	uint32_t i, n = wire_get_n(in, 12);

	d->p->n_sites = 0; /* the file has its own site 0 */
	for (i = 0; i < n && !in->error; i++) {
		struct profile_site site = { .name = get_string(in, d) };

		site.symbol = get_string(in, d);
		site.kind = wire_get_u32(in);
		site.mech = wire_get_u32(in);
		site.addr = wire_get_varint(in);
		site.file = get_string(in, d);
		site.line = wire_get_u32(in);
		site.missed = wire_get_varint(in);
		site.detached = wire_get_u32(in) != 0;
		site.into = get_string(in, d);
		site.chain = get_string(in, d);
		site.estimated = get_string(in, d);
		if (!in->error)
			profile_site_add(d->p, &site);
	}
}

static void decode_contexts(struct wire_in *in, struct section_decoder *d)
{
	uint32_t i, n = wire_get_n(in, 1);

	for (i = 0; i < n && !in->error; i++) {
		if (profile_context_add(d->p, get_string(in, d)) != i)
			return wire_fail(in, duplicate);
	}
}

static enum profile_loss loss_by_key(const char *key)
{
	enum profile_loss loss;

	for (loss = 0; loss < PROFILE_N_LOSSES; loss++)
		if (!strcmp(profile_loss_key(loss), key))
			break;
	return loss;
}

static void decode_report(struct wire_in *in, struct section_decoder *d, uint32_t run)
{
	struct profile_report report = { .name = get_string(in, d) };

	report.iterations = wire_get_varint(in);
	report.mean = wire_get_double(in);
	report.p50 = wire_get_double(in);
	report.min = wire_get_double(in);
	if (!in->error)
		profile_report_add(d->p, run, &report);
}

static void decode_run(struct wire_in *in, struct section_decoder *d,
		       const enum profile_loss *losses, uint32_t n_losses)
{
	uint32_t i, n, number = profile_run_add(d->p, wire_get_u32(in));
	struct profile_run *run = &d->p->runs[number];

	run->boot = wire_get_u32(in);
	run->wall = wire_get_varint(in);
	run->cpu = wire_get_count(in);
	run->status = (int32_t)wire_get_u32(in);
	for (i = 0; i < n_losses; i++) {
		uint64_t count = wire_get_count(in);

		if (losses[i] < PROFILE_N_LOSSES)
			run->losses[losses[i]] = count;
	}
	run->samples_expected = wire_get_count(in);
	run->samples_received = wire_get_count(in);
	n = wire_get_n(in, 26);
	for (i = 0; i < n && !in->error; i++)
		decode_report(in, d, number);
}

static void decode_runs(struct wire_in *in, struct section_decoder *d)
{
	enum profile_loss losses[FILE_LOSSES_MAX];
	uint32_t i, n, n_losses = wire_get_n(in, 1);

	if (n_losses > FILE_LOSSES_MAX)
		return wire_fail(in, "has too many kinds of losses");
	for (i = 0; i < n_losses; i++) {
		const char *key = get_string(in, d);

		if (!key)
			return wire_fail(in, "has a kind of loss without a name");
		losses[i] = loss_by_key(key);
		if (losses[i] == PROFILE_N_LOSSES)
			d->unknown_loss = key;
	}
	n = wire_get_n(in, (size_t)8 + n_losses);
	if (n > FILE_RUNS_MAX)
		return wire_fail(in, "has too many runs");
	for (i = 0; i < n && !in->error; i++)
		decode_run(in, d, losses, n_losses);
}

static void decode_buckets(struct wire_in *in, struct profile_stats *s)
{
	uint32_t i, slot = 0, n = wire_get_n(in, 2);

	if (n > HIST_SLOTS)
		return wire_fail(in, "has a histogram of too many slots");
	/* Just enough: merged files have 10^5 cells. */
	if (n)
		s->buckets = alloc_array(n, sizeof(*s->buckets));
	s->cap_buckets = n;
	for (i = 0; i < n && !in->error; i++) {
		/* A sum that wraps is not in ascending order, so it does not pass the check. */
		slot += wire_get_u32(in);
		s->buckets[s->n_buckets++] = (struct profile_bucket){
			.slot = slot,
			.count = wire_get_varint(in),
		};
	}
}

static void decode_cells(struct wire_in *in, struct section_decoder *d)
{
	uint32_t i, n = wire_get_n(in, 21);

	for (i = 0; i < n && !in->error; i++) {
		uint32_t run = wire_get_u32(in), site = wire_get_u32(in);
		uint32_t context = wire_get_u32(in);
		struct profile_stats *s = profile_cell(d->p, run, site, context);

		if (d->p->n_cells != i + 1)
			return wire_fail(in, duplicate);
		s->calls = wire_get_varint(in);
		s->entries = wire_get_count(in);
		s->errors = wire_get_count(in);
		s->wall = wire_get_varint(in);
		s->oncpu = wire_get_varint(in);
		s->self = wire_get_signed(in);
		s->cost = wire_get_varint(in);
		s->sumsq = wire_get_double(in);
		s->min = wire_get_varint(in);
		s->max = wire_get_varint(in);
		decode_buckets(in, s);
	}
}

static void decode_locations(struct wire_in *in, struct section_decoder *d)
{
	uint32_t i, j, n = wire_get_n(in, 3);

	for (i = 0; i < n && !in->error; i++) {
		uint64_t addr = wire_get_varint(in);
		const char *module = get_string(in, d);
		uint32_t n_frames = wire_get_n(in, 4);

		if (n_frames > FILE_FRAMES_MAX)
			wire_fail(in, "has too many frames at one address");
		if (in->error)
			return;
		if (profile_location_add(d->p, addr, module) != i)
			return wire_fail(in, duplicate);
		for (j = 0; j < n_frames; j++) {
			struct profile_frame frame = { .name = get_string(in, d) };

			frame.file = get_string(in, d);
			frame.line = wire_get_u32(in);
			frame.inlined = wire_get_u32(in) != 0;
			if (in->error)
				return;
			profile_location_frame_add(d->p, i, &frame);
		}
	}
}

struct numbers {
	uint32_t *items;
	uint32_t n_items, cap_items;
};

static void decode_stack(struct wire_in *in, struct section_decoder *d, struct numbers *numbers)
{
	uint32_t i, n = wire_get_n(in, 1);

	numbers->n_items = 0;
	for (i = 0; i < n && !in->error; i++)
		vec_push(numbers, items, wire_get_u32(in));
	i = d->p->n_stacks;
	if (!in->error && profile_stack_add(d->p, numbers->items, n) != i)
		wire_fail(in, duplicate);
}

static void decode_stacks(struct wire_in *in, struct section_decoder *d)
{
	uint32_t i, n = wire_get_n(in, 1);
	struct numbers numbers = { 0 };

	for (i = 0; i < n && !in->error; i++)
		decode_stack(in, d, &numbers);
	free(numbers.items);
}

static void decode_samples(struct wire_in *in, struct section_decoder *d)
{
	uint32_t i, n = wire_get_n(in, 5);

	for (i = 0; i < n && !in->error; i++) {
		struct profile_sample sample = { .run = wire_get_u32(in) };

		sample.context = wire_get_u32(in);
		sample.stack = wire_get_u32(in);
		sample.flags = wire_get_u32(in);
		sample.count = wire_get_varint(in);
		if (in->error)
			return;
		profile_sample_add(d->p, &sample);
		if (d->p->n_samples != i + 1)
			return wire_fail(in, duplicate);
	}
}

static void decode_block_list(struct wire_in *in, struct section_decoder *d,
			      struct profile_blocks *blocks)
{
	uint32_t i, bit, counter, n = wire_get_n(in, 8);

	for (i = 0; i < n && !in->error; i++) {
		struct profile_block block = { .addr = wire_get_varint(in) };

		block.bytes = wire_get_u32(in);
		block.insns = wire_get_u32(in);
		block.location = wire_get_u32(in);
		block.reached = wire_get_u32(in) != 0;
		bit = wire_get_u32(in);
		counter = wire_get_u32(in);
		block.bit = bit < PROFILE_BITS ? bit : PROFILE_NO_BIT;
		block.counter = counter < PROFILE_TURNS ? counter : PROFILE_NO_BIT;
		block.callee = get_string(in, d);
		vec_push(blocks, items, block);
	}
	n = wire_get_n(in, 2);
	for (i = 0; i < n && !in->error; i++) {
		struct profile_arc arc = { .from = wire_get_u32(in) };

		arc.to = wire_get_u32(in);
		vec_push(blocks, arcs, arc);
	}
}

static void decode_blocks(struct wire_in *in, struct section_decoder *d)
{
	uint32_t i, n = wire_get_n(in, 4);

	if (n > FILE_BLOCKS_MAX)
		return wire_fail(in, "has too many functions");
	for (i = 0; i < n && !in->error; i++) {
		struct profile_blocks blocks = { .site = wire_get_u32(in) };

		blocks.entry = wire_get_u32(in);
		decode_block_list(in, d, &blocks);
		profile_blocks_add(d->p, &blocks);
	}
}

static void decode_block_counts(struct wire_in *in, struct section_decoder *d)
{
	uint32_t i, j, n = wire_get_n(in, 5);

	for (i = 0; i < n && !in->error; i++) {
		uint32_t run = wire_get_u32(in), blocks = wire_get_u32(in);
		uint32_t context = wire_get_u32(in);
		struct profile_block_counts *counts;

		if (blocks >= d->p->n_blocks)
			return wire_fail(in, "refers to a function that is not there");
		/* Each count takes a byte: memory for no more than the file has. */
		if ((size_t)(in->end - in->at) < d->p->blocks[blocks].n_items)
			return wire_fail(in, "ends in the middle of an entry");
		counts = profile_block_counts(d->p, run, blocks, context);
		if (d->p->n_block_counts != i + 1)
			return wire_fail(in, duplicate);
		counts->calls = wire_get_varint(in);
		counts->residual = wire_get_varint(in);
		for (j = 0; j < d->p->blocks[blocks].n_items; j++)
			counts->counts[j] = wire_get_count(in);
	}
}

static void decode_paths(struct wire_in *in, struct section_decoder *d)
{
	uint32_t i, j, n = wire_get_n(in, 6 + PROFILE_TURNS);

	for (i = 0; i < n && !in->error; i++) {
		struct profile_path path = { .run = wire_get_u32(in) };

		path.blocks = wire_get_u32(in);
		path.context = wire_get_u32(in);
		path.signature = wire_get_varint(in);
		path.calls = wire_get_varint(in);
		path.time = wire_get_signed(in);
		for (j = 0; j < PROFILE_TURNS; j++)
			path.turns[j] = wire_get_varint(in);
		vec_push(d->p, paths, path);
	}
}

static void decode_turns(struct wire_in *in, struct section_decoder *d)
{
	uint32_t i, n = wire_get_n(in, 6);

	for (i = 0; i < n && !in->error; i++) {
		struct profile_turns turns = { .run = wire_get_u32(in) };

		turns.blocks = wire_get_u32(in);
		turns.context = wire_get_u32(in);
		turns.counter = wire_get_u32(in);
		turns.slot = wire_get_u32(in);
		turns.calls = wire_get_varint(in);
		vec_push(d->p, turns, turns);
	}
}

void section_decode(struct wire_in *in, enum section_type type, struct section_decoder *d)
{
	static void (*const decoders[SECTION_LAST + 1])(struct wire_in *,
							struct section_decoder *) = {
		[SECTION_STRINGS] = decode_strings,
		[SECTION_RECORDING] = decode_recording,
		[SECTION_ENVIRONMENT] = decode_environment,
		[SECTION_SITES] = decode_sites,
		[SECTION_CONTEXTS] = decode_contexts,
		[SECTION_RUNS] = decode_runs,
		[SECTION_CELLS] = decode_cells,
		[SECTION_LOCATIONS] = decode_locations,
		[SECTION_STACKS] = decode_stacks,
		[SECTION_SAMPLES] = decode_samples,
		[SECTION_BLOCKS] = decode_blocks,
		[SECTION_BLOCK_COUNTS] = decode_block_counts,
		[SECTION_PATHS] = decode_paths,
		[SECTION_TURNS] = decode_turns,
	};

	decoders[type](in, d);
	if (!in->error && in->at != in->end)
		wire_fail(in, "has more bytes than entries");
}
