// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "profile/section.h"

/* Strings are numbers: 0 for NULL, else 1 + the place in the section of strings. */
static void put_string(struct wire_out *out, struct profile_strings *pool, const char *s)
{
	wire_put_varint(out, s ? (uint64_t)profile_strings_add(pool, s, strlen(s)) + 1 : 0);
}

void section_encode_strings(struct wire_out *out, const struct profile_strings *pool)
{
	uint32_t i, n = profile_strings_count(pool);

	wire_put_varint(out, n);
	for (i = 0; i < n; i++) {
		wire_put_varint(out, profile_strings_length(pool, i));
		wire_put(out, profile_strings_get(pool, i), profile_strings_length(pool, i));
	}
}

static void encode_recording(struct wire_out *out, const struct profile *p,
			     struct profile_strings *pool)
{
	uint32_t i;

	wire_put_varint(out, p->clock);
	wire_put_varint(out, p->freq);
	wire_put_varint(out, p->sample_period);
	wire_put_varint(out, p->n_args);
	for (i = 0; i < p->n_args; i++)
		put_string(out, pool, p->args[i]);
}

static void encode_environment(struct wire_out *out, const struct profile *p,
			       struct profile_strings *pool)
{
	uint32_t i;

	wire_put_varint(out, p->n_envs);
	for (i = 0; i < p->n_envs; i++) {
		put_string(out, pool, p->envs[i].key);
		put_string(out, pool, p->envs[i].value);
	}
}

static void encode_sites(struct wire_out *out, const struct profile *p,
			 struct profile_strings *pool)
{
	uint32_t i;

	wire_put_varint(out, p->n_sites);
	for (i = 0; i < p->n_sites; i++) {
		const struct profile_site *site = &p->sites[i];

		put_string(out, pool, site->name);
		put_string(out, pool, site->symbol);
		wire_put_varint(out, site->kind);
		wire_put_varint(out, site->mech);
		wire_put_varint(out, site->addr);
		put_string(out, pool, site->file);
		wire_put_varint(out, site->line);
		wire_put_varint(out, site->missed);
		wire_put_varint(out, site->detached);
		put_string(out, pool, site->into);
		put_string(out, pool, site->chain);
		put_string(out, pool, site->estimated);
	}
}

static void encode_contexts(struct wire_out *out, const struct profile *p,
			    struct profile_strings *pool)
{
	uint32_t i;

	wire_put_varint(out, p->n_contexts);
	for (i = 0; i < p->n_contexts; i++)
		put_string(out, pool, p->contexts[i].name);
}

/* Losses go by name, so that kinds can be added and moved without a new version of the format. */
static void encode_runs(struct wire_out *out, const struct profile *p, struct profile_strings *pool)
{
	uint32_t i, j;

	wire_put_varint(out, PROFILE_N_LOSSES);
	for (i = 0; i < PROFILE_N_LOSSES; i++)
		put_string(out, pool, profile_loss_key(i));
	wire_put_varint(out, p->n_runs);
	for (i = 0; i < p->n_runs; i++) {
		const struct profile_run *run = &p->runs[i];

		wire_put_varint(out, run->kind);
		wire_put_varint(out, run->boot);
		wire_put_varint(out, run->wall);
		wire_put_count(out, run->cpu);
		wire_put_varint(out, (uint32_t)run->status);
		for (j = 0; j < PROFILE_N_LOSSES; j++)
			wire_put_count(out, run->losses[j]);
		wire_put_count(out, run->samples_expected);
		wire_put_count(out, run->samples_received);
		wire_put_varint(out, run->n_reports);
		for (j = 0; j < run->n_reports; j++) {
			put_string(out, pool, run->reports[j].name);
			wire_put_varint(out, run->reports[j].iterations);
			wire_put_double(out, run->reports[j].mean);
			wire_put_double(out, run->reports[j].p50);
			wire_put_double(out, run->reports[j].min);
		}
	}
}

static void encode_cells(struct wire_out *out, const struct profile *p)
{
	uint32_t i, j, slot;

	wire_put_varint(out, p->n_cells);
	for (i = 0; i < p->n_cells; i++) {
		const struct profile_cell *cell = &p->cells[i];
		const struct profile_stats *s = &cell->stats;

		wire_put_varint(out, cell->run);
		wire_put_varint(out, cell->site);
		wire_put_varint(out, cell->context);
		wire_put_varint(out, s->calls);
		wire_put_count(out, s->entries);
		wire_put_count(out, s->errors);
		wire_put_varint(out, s->wall);
		wire_put_varint(out, s->oncpu);
		wire_put_signed(out, s->self);
		wire_put_varint(out, s->cost);
		wire_put_double(out, s->sumsq);
		wire_put_varint(out, s->min);
		wire_put_varint(out, s->max);
		wire_put_varint(out, s->n_buckets);
		for (j = 0, slot = 0; j < s->n_buckets; slot = s->buckets[j].slot, j++) {
			wire_put_varint(out, s->buckets[j].slot - slot);
			wire_put_varint(out, s->buckets[j].count);
		}
	}
}

static void encode_locations(struct wire_out *out, const struct profile *p,
			     struct profile_strings *pool)
{
	uint32_t i, j;

	wire_put_varint(out, p->n_locations);
	for (i = 0; i < p->n_locations; i++) {
		const struct profile_location *location = &p->locations[i];

		wire_put_varint(out, location->addr);
		put_string(out, pool, location->module);
		wire_put_varint(out, location->n_frames);
		for (j = 0; j < location->n_frames; j++) {
			put_string(out, pool, location->frames[j].name);
			put_string(out, pool, location->frames[j].file);
			wire_put_varint(out, location->frames[j].line);
			wire_put_varint(out, location->frames[j].inlined);
		}
	}
}

static void encode_stacks(struct wire_out *out, const struct profile *p)
{
	uint32_t i, j;

	wire_put_varint(out, p->n_stacks);
	for (i = 0; i < p->n_stacks; i++) {
		wire_put_varint(out, p->stacks[i].n_locations);
		for (j = 0; j < p->stacks[i].n_locations; j++)
			wire_put_varint(out, p->stacks[i].locations[j]);
	}
}

static void encode_samples(struct wire_out *out, const struct profile *p)
{
	uint32_t i;

	wire_put_varint(out, p->n_samples);
	for (i = 0; i < p->n_samples; i++) {
		wire_put_varint(out, p->samples[i].run);
		wire_put_varint(out, p->samples[i].context);
		wire_put_varint(out, p->samples[i].stack);
		wire_put_varint(out, p->samples[i].flags);
		wire_put_varint(out, p->samples[i].count);
	}
}

static void encode_blocks(struct wire_out *out, const struct profile *p,
			  struct profile_strings *pool)
{
	uint32_t i, j;

	wire_put_varint(out, p->n_blocks);
	for (i = 0; i < p->n_blocks; i++) {
		const struct profile_blocks *blocks = &p->blocks[i];

		wire_put_varint(out, blocks->site);
		wire_put_varint(out, blocks->entry);
		wire_put_varint(out, blocks->n_items);
		for (j = 0; j < blocks->n_items; j++) {
			wire_put_varint(out, blocks->items[j].addr);
			wire_put_varint(out, blocks->items[j].bytes);
			wire_put_varint(out, blocks->items[j].insns);
			wire_put_varint(out, blocks->items[j].location);
			wire_put_varint(out, blocks->items[j].reached);
			wire_put_varint(out, blocks->items[j].bit);
			wire_put_varint(out, blocks->items[j].counter);
			put_string(out, pool, blocks->items[j].callee);
		}
		wire_put_varint(out, blocks->n_arcs);
		for (j = 0; j < blocks->n_arcs; j++) {
			wire_put_varint(out, blocks->arcs[j].from);
			wire_put_varint(out, blocks->arcs[j].to);
		}
	}
}

static void encode_block_counts(struct wire_out *out, const struct profile *p)
{
	uint32_t i, j;

	wire_put_varint(out, p->n_block_counts);
	for (i = 0; i < p->n_block_counts; i++) {
		const struct profile_block_counts *counts = &p->block_counts[i];

		wire_put_varint(out, counts->run);
		wire_put_varint(out, counts->blocks);
		wire_put_varint(out, counts->context);
		wire_put_varint(out, counts->calls);
		wire_put_varint(out, counts->residual);
		for (j = 0; j < p->blocks[counts->blocks].n_items; j++)
			wire_put_count(out, counts->counts[j]);
	}
}

static void encode_paths(struct wire_out *out, const struct profile *p)
{
	uint32_t i, j;

	wire_put_varint(out, p->n_paths);
	for (i = 0; i < p->n_paths; i++) {
		const struct profile_path *path = &p->paths[i];

		wire_put_varint(out, path->run);
		wire_put_varint(out, path->blocks);
		wire_put_varint(out, path->context);
		wire_put_varint(out, path->signature);
		wire_put_varint(out, path->calls);
		wire_put_signed(out, path->time);
		for (j = 0; j < PROFILE_TURNS; j++)
			wire_put_varint(out, path->turns[j]);
	}
}

static void encode_turns(struct wire_out *out, const struct profile *p)
{
	uint32_t i;

	wire_put_varint(out, p->n_turns);
	for (i = 0; i < p->n_turns; i++) {
		wire_put_varint(out, p->turns[i].run);
		wire_put_varint(out, p->turns[i].blocks);
		wire_put_varint(out, p->turns[i].context);
		wire_put_varint(out, p->turns[i].counter);
		wire_put_varint(out, p->turns[i].slot);
		wire_put_varint(out, p->turns[i].calls);
	}
}

void section_encode(struct wire_out *out, enum section_type type, const struct profile *p,
		    struct profile_strings *pool)
{
	switch (type) {
	case SECTION_RECORDING:
		return encode_recording(out, p, pool);
	case SECTION_ENVIRONMENT:
		return encode_environment(out, p, pool);
	case SECTION_SITES:
		return encode_sites(out, p, pool);
	case SECTION_CONTEXTS:
		return encode_contexts(out, p, pool);
	case SECTION_RUNS:
		return encode_runs(out, p, pool);
	case SECTION_CELLS:
		return encode_cells(out, p);
	case SECTION_LOCATIONS:
		return encode_locations(out, p, pool);
	case SECTION_STACKS:
		return encode_stacks(out, p);
	case SECTION_SAMPLES:
		return encode_samples(out, p);
	case SECTION_BLOCKS:
		return encode_blocks(out, p, pool);
	case SECTION_BLOCK_COUNTS:
		return encode_block_counts(out, p);
	case SECTION_PATHS:
		return encode_paths(out, p);
	case SECTION_TURNS:
		return encode_turns(out, p);
	case SECTION_STRINGS:
	case SECTION_END:
		break;
	}
}
