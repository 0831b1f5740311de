// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "kprotperf/hist.h"
#include "profile/section.h"

static const char *const names[] = {
	[SECTION_STRINGS] = "strings",
	[SECTION_RECORDING] = "recording",
	[SECTION_ENVIRONMENT] = "environment",
	[SECTION_SITES] = "sites",
	[SECTION_CONTEXTS] = "contexts",
	[SECTION_RUNS] = "runs",
	[SECTION_CELLS] = "cells",
	[SECTION_LOCATIONS] = "locations",
	[SECTION_STACKS] = "stacks",
	[SECTION_SAMPLES] = "samples",
	[SECTION_BLOCKS] = "blocks",
	[SECTION_BLOCK_COUNTS] = "block counts",
	[SECTION_PATHS] = "paths",
	[SECTION_TURNS] = "turns",
};

const char *section_name(uint32_t type)
{
	if (type == SECTION_END)
		return "end";
	return type <= SECTION_LAST ? names[type] : NULL;
}

static const char no_name[] = "has an entry without a name";

/* NULL, or what is wrong with a name that must be there. */
static const char *check_name(const char *name)
{
	if (!name)
		return no_name;
	return strnlen(name, PROFILE_NAME_MAX + 1) > PROFILE_NAME_MAX ?
		       "has a name that is too long" :
		       NULL;
}

/* The same where there need not be one. */
static const char *check_optional(const char *name)
{
	return name ? check_name(name) : NULL;
}

static const char *check_recording(const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->n_args; i++)
		if (!p->args[i])
			return no_name;
	return p->clock > PROFILE_CLOCK_INSN ? "has an unknown clock" : NULL;
}

static const char *check_environment(const struct profile *p)
{
	const char *wrong = NULL;
	uint32_t i;

	if (p->n_envs > FILE_ENVS_MAX)
		return "has too many entries";
	for (i = 0; i < p->n_envs && !wrong; i++)
		wrong = p->envs[i].value ? check_name(p->envs[i].key) : no_name;
	return wrong;
}

static const char *check_contexts(const struct profile *p)
{
	const char *wrong = NULL;
	uint32_t i;

	for (i = 0; i < p->n_contexts && !wrong; i++)
		wrong = check_name(p->contexts[i].name);
	return wrong;
}

static const char *check_locations(const struct profile *p)
{
	const char *wrong = NULL;
	uint32_t i, j;

	for (i = 0; i < p->n_locations && !wrong; i++) {
		const struct profile_location *location = &p->locations[i];

		if (location->n_frames > FILE_FRAMES_MAX)
			return "has too many frames at one address";
		wrong = check_optional(location->module);
		for (j = 0; j < location->n_frames && !wrong; j++)
			wrong = check_name(location->frames[j].name) ?:
					check_optional(location->frames[j].file);
	}
	return wrong;
}

static const char *check_site_names(const struct profile_site *site)
{
	const char *const optional[] = { site->symbol, site->file, site->into, site->chain,
					 site->estimated };
	const char *wrong = check_name(site->name);
	size_t i;

	for (i = 0; i < sizeof(optional) / sizeof(optional[0]) && !wrong; i++)
		wrong = check_optional(optional[i]);
	return wrong;
}

static const char *check_sites(const struct profile *p)
{
	const char *wrong;
	uint32_t i;

	if (!p->n_sites)
		return "is empty";
	for (i = 0; i < p->n_sites; i++) {
		wrong = check_site_names(&p->sites[i]);
		if (wrong)
			return wrong;
		if (p->sites[i].kind > PROFILE_SITE_RANGE)
			return "has a site of an unknown kind";
		if (p->sites[i].mech >= PROFILE_N_MECHANISMS)
			return "has a site timed by an unknown mechanism";
		if ((p->sites[i].kind == PROFILE_SITE_RANGE) != !!p->sites[i].into ||
		    (!p->sites[i].into && (p->sites[i].chain || p->sites[i].estimated)))
			return "has a range without a function around it, or one around no range";
		if ((p->sites[i].kind == PROFILE_SITE_CONTEXT) != (i == 0))
			return "does not have the contexts' own site at its start, and there alone";
	}
	return NULL;
}

static const char *check_runs(const struct profile *p)
{
	const char *wrong = NULL;
	uint32_t i, j;

	if (p->n_runs > FILE_RUNS_MAX)
		return "has too many runs";
	for (i = 0; i < p->n_runs && !wrong; i++) {
		if (p->runs[i].kind > PROFILE_RUN_CONTROL)
			return "has a run of an unknown kind";
		/* Whoever groups by boot may keep an array of that size. */
		if (p->runs[i].boot >= p->n_runs)
			return "has more boots than runs";
		for (j = 0; j < p->runs[i].n_reports && !wrong; j++)
			wrong = check_name(p->runs[i].reports[j].name);
	}
	return wrong;
}

static const char *check_buckets(const struct profile_stats *s)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < s->n_buckets; i++) {
		if (s->buckets[i].slot >= HIST_SLOTS)
			return "has a histogram slot that does not exist";
		if (i && s->buckets[i].slot <= s->buckets[i - 1].slot)
			return "has a histogram out of order";
		if (!s->buckets[i].count)
			return "has an empty histogram slot";
		if (__builtin_add_overflow(sum, s->buckets[i].count, &sum))
			return "has a histogram of more than 2^64 calls";
	}
	return NULL;
}

static const char *check_cells(const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->n_cells; i++) {
		const struct profile_cell *cell = &p->cells[i];
		const char *wrong;

		if (cell->run >= p->n_runs)
			return "refers to a run that is not there";
		if (cell->site >= p->n_sites)
			return "refers to a site that is not there";
		if (cell->context >= p->n_contexts)
			return "refers to a context that is not there";
		if (cell->stats.min > cell->stats.max)
			return "has a minimum above its maximum";
		wrong = check_buckets(&cell->stats);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static const char *check_stacks(const struct profile *p)
{
	uint32_t i, j;

	for (i = 0; i < p->n_stacks; i++)
		for (j = 0; j < p->stacks[i].n_locations; j++)
			if (p->stacks[i].locations[j] >= p->n_locations)
				return "refers to a location that is not there";
	return NULL;
}

static const char *check_samples(const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->n_samples; i++) {
		const struct profile_sample *sample = &p->samples[i];

		if (sample->run >= p->n_runs)
			return "refers to a run that is not there";
		if (sample->context >= p->n_contexts)
			return "refers to a context that is not there";
		if (sample->stack >= p->n_stacks)
			return "refers to a stack that is not there";
		if (sample->flags & ~(uint32_t)PROFILE_SAMPLE_FLAGS)
			return "has an unknown flag";
	}
	return NULL;
}

static const char *check_one_blocks(const struct profile *p, const struct profile_blocks *blocks)
{
	uint32_t i;

	if (blocks->site >= p->n_sites || p->sites[blocks->site].kind != PROFILE_SITE_FUNCTION)
		return "refers to a function that is not there";
	if (blocks->entry >= blocks->n_items)
		return "has a function without its entry";
	for (i = 0; i < blocks->n_items; i++) {
		if (blocks->items[i].location >= p->n_locations)
			return "refers to a location that is not there";
		if (i && blocks->items[i].addr <= blocks->items[i - 1].addr)
			return "has blocks out of order";
		if (check_optional(blocks->items[i].callee))
			return check_optional(blocks->items[i].callee);
	}
	for (i = 0; i < blocks->n_arcs; i++) {
		const struct profile_arc *arc = &blocks->arcs[i];

		if (arc->from >= blocks->n_items ||
		    (arc->to >= blocks->n_items && arc->to < PROFILE_ARC_ANY))
			return "refers to a block that is not there";
		if (i && arc->from < arc[-1].from)
			return "has arcs out of order";
	}
	return NULL;
}

static const char *check_blocks(const struct profile *p)
{
	const char *wrong = NULL;
	uint32_t i;

	if (p->n_blocks > FILE_BLOCKS_MAX)
		return "has too many functions";
	for (i = 0; i < p->n_blocks && !wrong; i++)
		wrong = check_one_blocks(p, &p->blocks[i]);
	return wrong;
}

/* What counts of BLOCKS in a run and a context refer to. */
static const char *check_count(const struct profile *p, uint32_t run, uint32_t blocks,
			       uint32_t context)
{
	if (run >= p->n_runs)
		return "refers to a run that is not there";
	if (blocks >= p->n_blocks)
		return "refers to a function that is not there";
	if (context >= p->n_contexts)
		return "refers to a context that is not there";
	return NULL;
}

static const char *check_block_counts(const struct profile *p)
{
	const char *wrong = NULL;
	uint32_t i;

	for (i = 0; i < p->n_block_counts && !wrong; i++)
		wrong = check_count(p, p->block_counts[i].run, p->block_counts[i].blocks,
				    p->block_counts[i].context);
	return wrong;
}

static const char *check_paths(const struct profile *p)
{
	const char *wrong = NULL;
	uint32_t i;

	for (i = 0; i < p->n_paths && !wrong; i++)
		wrong = check_count(p, p->paths[i].run, p->paths[i].blocks, p->paths[i].context);
	return wrong;
}

static const char *check_turns(const struct profile *p)
{
	const char *wrong = NULL;
	uint32_t i;

	for (i = 0; i < p->n_turns && !wrong; i++) {
		const struct profile_turns *t = &p->turns[i];

		wrong = check_count(p, t->run, t->blocks, t->context);
		if (t->counter >= PROFILE_TURNS)
			wrong = "refers to a loop that is not there";
		if (t->slot > hist_slot(PROFILE_TURNS_MAX))
			wrong = "has a slot that does not exist";
	}
	return wrong;
}

const char *section_check(enum section_type type, const struct profile *p)
{
	switch (type) {
	case SECTION_RECORDING:
		return check_recording(p);
	case SECTION_SITES:
		return check_sites(p);
	case SECTION_RUNS:
		return check_runs(p);
	case SECTION_CELLS:
		return check_cells(p);
	case SECTION_STACKS:
		return check_stacks(p);
	case SECTION_SAMPLES:
		return check_samples(p);
	case SECTION_BLOCKS:
		return check_blocks(p);
	case SECTION_BLOCK_COUNTS:
		return check_block_counts(p);
	case SECTION_PATHS:
		return check_paths(p);
	case SECTION_TURNS:
		return check_turns(p);
	case SECTION_ENVIRONMENT:
		return check_environment(p);
	case SECTION_CONTEXTS:
		return check_contexts(p);
	case SECTION_LOCATIONS:
		return check_locations(p);
	case SECTION_STRINGS:
	case SECTION_END:
		break;
	}
	return NULL;
}
